/** Files of a watched folder that change, are replaced or come again while a run is at work, and runs that are killed. */
import { open, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { eachOnce, ordersCsv } from '../support/orders-bed.ts';
import { type Failpoint, unanswered, writing } from './failpoints.ts';
import { age, type FolderBed, openFolderBed, WATCH } from './folder-bed.ts';

const CREATE = '/orders/create';

let bed: FolderBed;
beforeAll(async () => {
  bed = await openFolderBed(
    'budget: { requests: 5000, per: 1s, burst: 500, timeout: 500ms, settle: 225ms, concurrency: 4 }',
  );
});
beforeEach(async () => {
  await bed.reset();
  await bed.addNumberedCustomers(3);
});
afterAll(() => bed.close());

/** Does `act` while the load's first order is on its way. */
async function whileLoading(act: () => Promise<void>) {
  const { reached, release } = await unanswered(CREATE, 1).arm(bed);
  const run = bed.here(...WATCH);
  await reached;
  await act();
  await release();
  return run;
}

test('a file that is replaced while it is being loaded is loaded, and so is the one that replaced it', async () => {
  await bed.drop('may.csv', ordersCsv(30));
  const first = await whileLoading(async () => {
    await writeFile(path.join(bed.folder, '.new'), ordersCsv(120, { from: 31 }));
    await rename(path.join(bed.folder, '.new'), bed.at('may.csv'));
    await age(bed.at('may.csv'));
  });
  expect([first.code, await bed.orderCommits()]).toEqual([0, eachOnce(30)]);
  expect(await bed.names()).toEqual(['done', 'may.csv']);
  const second = await bed.here(...WATCH);
  expect([second.code, await bed.orderCommits()]).toEqual([0, eachOnce(150)]);
  expect(await bed.names()).toEqual(['done']);
  const done = await bed.names('done');
  expect(done.filter((name) => name.endsWith('may.csv'))).toHaveLength(2);
  expect(done.filter((name) => name.endsWith('may.created.csv'))).toHaveLength(2);
});

test('a file that its writer goes on with while it is being loaded is for a person, and not filed as done', async () => {
  const writer = await open(await bed.drop('may.csv', ordersCsv(100)), 'a');
  const rest = ordersCsv(100, { from: 101 });
  const { code, json } = await whileLoading(async () => {
    await writer.write(rest.slice(rest.indexOf('\n') + 1));
    await writer.close();
  });
  expect([code, json.counts.review, await bed.orderCommits()]).toEqual([1, 1, eachOnce(100)]);
  expect((await bed.verdicts(json.run)).get('may.csv')).toMatchObject({ verdict: 'review', reason: 'FILE_CHANGED' });
  expect(await bed.names()).toEqual(['failed']);
  expect(await bed.names('failed')).toEqual(['may.created.csv', 'may.csv', 'may.csv.problem.txt']);
});

test('one file as it is and packed is loaded once, and neither overwrites the results of the other', async () => {
  await bed.drop('may.csv', ordersCsv(30));
  await bed.drop('may.csv.gz', gzipSync(ordersCsv(30)));
  const { code, json } = await bed.here(...WATCH);
  expect([code, json.counts.created, json.counts.existing, await bed.orderCommits()]).toEqual([0, 1, 1, eachOnce(30)]);
  const done = ['may.created.csv', 'may.csv', 'may.csv.gz', 'may.csv.gz.created.csv'];
  expect(await bed.names('done')).toEqual(done);
});

test('files that arrive all the time are for later runs: the run ends, and its checkpoint holds nothing', async () => {
  await bed.drop('first.csv', ordersCsv(20));
  let arrived = 0;
  bed.front.set(async (_request, pass) => {
    await bed.drop(`more-${++arrived}.csv`, ordersCsv(1, { from: 100 + arrived }));
    return pass();
  });
  const { code, json } = await bed.here(...WATCH);
  bed.front.set();
  expect([code, json.counts.in, await bed.orderCommits()]).toEqual([0, 1, eachOnce(20)]);
  expect(arrived).toBeGreaterThan(20);
  const { rows } = await bed.database.pool.query('select checkpoint from ledger.runs where id = $1', [json.run]);
  expect(rows[0].checkpoint).toEqual({ job: 'watch-orders', isListed: true, files: {} });
});

test('a load that waits for a person stops no other file, and its own file is filed once it has ended', async () => {
  const { pool } = bed.database;
  await bed.drop('a.csv', ordersCsv(5));
  const first = await whileLoading(async () => {
    await pool.query(`update ledger.runs set status = 'paused', error = 'see to it' where title = 'a.csv'`);
  });
  expect([first.code, await bed.names()]).toEqual([1, ['.lockstep-files']]);
  expect((await bed.verdicts(first.json.run)).get('a.csv')).toMatchObject({ reason: 'LOAD_PAUSED' });
  await bed.drop('b.csv', ordersCsv(5, { from: 6 }));
  const second = await bed.here(...WATCH);
  expect((await bed.verdicts(second.json.run)).get('b.csv')).toMatchObject({ verdict: 'created' });
  const { rows } = await pool.query(`select id from ledger.runs where title = 'a.csv'`);
  expect((await bed.here('runs', 'resume', rows[0].id)).code).toBe(0);
  const third = await bed.here(...WATCH);
  expect((await bed.verdicts(third.json.run)).get('a.csv')).toMatchObject({ verdict: 'created', reason: 'LOADED' });
  expect([await bed.names(), await bed.orderCommits()]).toEqual([['done'], eachOnce(10)]);
});

test('a file that becomes a link once it has been listed is not read', async () => {
  const secret = await bed.file('secret', 'client_id,SECRET-WORD\n');
  await bed.drop('may.csv', ordersCsv(3));
  const { reached, release } = await writing('ledger.runs', 'update', `new.checkpoint ? 'isListed'`).arm(bed);
  const run = bed.here(...WATCH);
  await reached;
  await rm(bed.at('may.csv'));
  await symlink(secret, bed.at('may.csv'));
  await release();
  const { code, json, stderr } = await run;
  expect([code, (await bed.verdicts(json.run)).get('may.csv')?.reason]).toEqual([1, 'NOT_A_PLAIN_FILE']);
  expect([await bed.names(), stderr]).toEqual([['may.csv'], expect.not.stringContaining('SECRET')]);
});

/** Of the checkpoint of a watching run, the moment in which it first holds such a word. */
const keeping = (word: string) =>
  writing(
    'ledger.runs',
    'update',
    `new.job = 'orders' and new.sync = 'files' and new.checkpoint::text like '%"${word}"%' and old.checkpoint::text not like '%"${word}"%'`,
  );

const failpoints: readonly (readonly [string, Failpoint])[] = [
  ['the folder has been listed', keeping('isListed')],
  ['the file has been taken aside, and its load begins', writing('ledger.loads', 'insert', 'true')],
  ['its load has begun, and the folder’s run does not know', keeping('load')],
  ['its orders are being sent', unanswered(CREATE, 5, { isPassedOn: true })],
  ['its load has ended, and where it goes is being kept', keeping('end')],
  ['it has been moved, and its row is being written', writing('ledger.inputs', 'insert', `new.label = 'may.csv'`)],
];

test.each(failpoints)('killed when %s: nothing is lost, and nothing is loaded twice', async (_when, failpoint) => {
  await bed.drop('may.csv', ordersCsv(40));
  const { reached, release } = await failpoint.arm(bed);
  const victim = bed.start(...WATCH);
  await reached;
  victim.signal('SIGKILL');
  await victim.ended;
  await release();
  const { code, json } = await bed.here(...WATCH);
  expect([code, json.counts]).toMatchObject([0, { in: 1, created: 1 }]);
  expect(await bed.orderCommits()).toEqual(eachOnce(40));
  expect([await bed.names(), await bed.names('done')]).toEqual([['done'], ['may.created.csv', 'may.csv']]);
});

test('killed and cancelled while it loads: the next run takes over what it had taken aside', async () => {
  await bed.drop('may.csv', ordersCsv(40));
  const { reached, release } = await unanswered(CREATE, 5, { isPassedOn: true }).arm(bed);
  const victim = bed.start(...WATCH);
  await reached;
  victim.signal('SIGKILL');
  await victim.ended;
  await release();
  const { rows } = await bed.database.pool.query(`select id from ledger.runs where sync = 'files'`);
  await bed.here('runs', 'cancel', rows[0].id);
  expect(await bed.names()).toEqual(['.lockstep-files']);
  const { code, json } = await bed.here(...WATCH);
  expect([code, (await bed.verdicts(json.run)).get('may.csv')?.reason]).toEqual([0, 'LOADED']);
  expect(await bed.orderCommits()).toEqual(eachOnce(40));
  expect(await bed.names()).toEqual(['done']);
});
