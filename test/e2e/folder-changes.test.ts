/** Files of a watched folder that change, are replaced or come again during a run, and runs that are killed. */
import { open, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { eachOnce, ordersCsv } from '../support/harness/orders.ts';
import { byLength } from '../support/property-runs.ts';
import { type Failpoint, unanswered, writing } from './failpoints.ts';
import { age, openFolderHarness, WATCH } from './folder.ts';

const CREATE = '/orders/create';

const harness = await openFolderHarness(
  'budget: { requests: 5000, per: 1s, burst: 500, timeout: 500ms, settle: 225ms, concurrency: 4 }',
);
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

/** Does `act` while the load's first order is being sent. */
async function whileLoading(act: () => Promise<void>) {
  const { reached, release } = await unanswered(CREATE, 1).arm(harness);
  const run = harness.here(...WATCH);
  await reached;
  await act();
  await release();
  return run;
}

test('a file that is replaced during its load is loaded, and so is its replacement', async () => {
  await harness.drop('may.csv', ordersCsv(30));
  const first = await whileLoading(async () => {
    await writeFile(path.join(harness.folder, '.new'), ordersCsv(120, { from: 31 }));
    await rename(path.join(harness.folder, '.new'), harness.at('may.csv'));
    await age(harness.at('may.csv'));
  });
  expect([first.code, await harness.orderCommits()]).toEqual([0, eachOnce(30)]);
  expect(await harness.names()).toEqual(['done', 'may.csv']);
  const second = await harness.here(...WATCH);
  expect([second.code, await harness.orderCommits()]).toEqual([0, eachOnce(150)]);
  expect(await harness.names()).toEqual(['done']);
  const done = await harness.names('done');
  expect(done.filter((name) => name.endsWith('may.csv'))).toHaveLength(2);
  expect(done.filter((name) => name.endsWith('may.created.csv'))).toHaveLength(2);
});

test('a file that its writer continues during its load is left to a person, and not filed as done', async () => {
  const writer = await open(await harness.drop('may.csv', ordersCsv(100)), 'a');
  const rest = ordersCsv(100, { from: 101 });
  const { code, json } = await whileLoading(async () => {
    await writer.write(rest.slice(rest.indexOf('\n') + 1));
    await writer.close();
  });
  expect([code, json.counts.review, await harness.orderCommits()]).toEqual([1, 1, eachOnce(100)]);
  expect((await harness.verdicts(json.run)).get('may.csv')).toMatchObject({
    verdict: 'review',
    reason: 'FILE_CHANGED',
  });
  expect(await harness.names()).toEqual(['failed']);
  expect(await harness.names('failed')).toEqual([
    'may.created.csv',
    'may.csv',
    'may.csv.problem.txt',
    'may.results.csv',
  ]);
});

test('one file, plain and packed, is loaded once, and neither overwrites the results of the other', async () => {
  await harness.drop('may.csv', ordersCsv(30));
  await harness.drop('may.csv.gz', gzipSync(ordersCsv(30)));
  const { code, json } = await harness.here(...WATCH);
  expect([code, json.counts.created, json.counts.existing, await harness.orderCommits()]).toEqual([
    0,
    1,
    1,
    eachOnce(30),
  ]);
  const plain = ['may.created.csv', 'may.csv', 'may.csv.gz'];
  const done = [...plain, 'may.csv.gz.created.csv', 'may.csv.gz.results.csv', 'may.results.csv'];
  expect(await harness.names('done')).toEqual(done);
});

test('leaves files that keep arriving to later runs: the run ends, and its checkpoint is empty', async () => {
  await harness.drop('first.csv', ordersCsv(20));
  let arrived = 0;
  harness.front.set(async (_request, pass) => {
    await harness.drop(`more-${++arrived}.csv`, ordersCsv(1, { from: 100 + arrived }));
    return pass();
  });
  const { code, json } = await harness.here(...WATCH);
  harness.front.set();
  expect([code, json.counts.in, await harness.orderCommits()]).toEqual([0, 1, eachOnce(20)]);
  expect(arrived).toBeGreaterThan(20);
  const { rows } = await harness.database.pool.query('select checkpoint from ledger.runs where id = $1', [json.run]);
  expect(rows[0].checkpoint).toEqual({ job: 'watch-orders', isListed: true, files: {} });
});

test('a load that waits for a person stops no other file, and its own file is filed when it ends', async () => {
  const { pool } = harness.database;
  await harness.drop('a.csv', ordersCsv(5));
  const first = await whileLoading(async () => {
    await pool.query(`update ledger.runs set status = 'paused', error = 'see to it' where title = 'a.csv'`);
  });
  expect([first.code, await harness.names()]).toEqual([1, ['.lockstep-files']]);
  expect((await harness.verdicts(first.json.run)).get('a.csv')).toMatchObject({ reason: 'LOAD_PAUSED' });
  await harness.drop('b.csv', ordersCsv(5, { from: 6 }));
  const second = await harness.here(...WATCH);
  expect((await harness.verdicts(second.json.run)).get('b.csv')).toMatchObject({ verdict: 'created' });
  const { rows } = await pool.query(`select id from ledger.runs where title = 'a.csv'`);
  expect((await harness.here('runs', 'resume', rows[0].id)).code).toBe(0);
  const third = await harness.here(...WATCH);
  expect((await harness.verdicts(third.json.run)).get('a.csv')).toMatchObject({ verdict: 'created', reason: 'LOADED' });
  expect([await harness.names(), await harness.orderCommits()]).toEqual([['done'], eachOnce(10)]);
});

test('does not read a file that becomes a link after it was listed', async () => {
  const secret = await harness.file('secret', 'client_id,SECRET-WORD\n');
  await harness.drop('may.csv', ordersCsv(3));
  const { reached, release } = await writing('ledger.runs', 'update', `new.checkpoint ? 'isListed'`).arm(harness);
  const run = harness.here(...WATCH);
  await reached;
  await rm(harness.at('may.csv'));
  await symlink(secret, harness.at('may.csv'));
  await release();
  const { code, json, stderr } = await run;
  expect([code, (await harness.verdicts(json.run)).get('may.csv')?.reason]).toEqual([1, 'NOT_A_PLAIN_FILE']);
  expect([await harness.names(), stderr]).toEqual([['may.csv'], expect.not.stringContaining('SECRET')]);
});

/** The moment at which the checkpoint of a watching run first contains this word. */
const keeping = (word: string) =>
  writing(
    'ledger.runs',
    'update',
    `new.job = 'orders' and new.sync = 'files' and new.checkpoint::text like '%"${word}"%' and old.checkpoint::text not like '%"${word}"%'`,
  );

type Moment = readonly [string, Failpoint];

const always: readonly Moment[] = [
  ['the file has been taken aside, and its load begins', writing('ledger.loads', 'insert', 'true')],
  ['its load has begun, and the folder’s run does not know', keeping('load')],
  ['it has been moved, and its row is being written', writing('ledger.inputs', 'insert', `new.label = 'may.csv'`)],
];
const rarely: readonly Moment[] = [
  ['the folder has been listed', keeping('isListed')],
  ['its orders are being sent', unanswered(CREATE, 5, { isPassedOn: true })],
  ['its load has ended, and where it goes is being kept', keeping('end')],
];

test.each(byLength({ few: always, all: [...always, ...rarely] }))(
  'killed when %s: nothing is lost, and nothing is loaded twice',
  async (_when, failpoint) => {
    await harness.drop('may.csv', ordersCsv(40));
    const { reached, release } = await failpoint.arm(harness);
    const victim = harness.start(...WATCH);
    await reached;
    victim.signal('SIGKILL');
    await victim.ended;
    await release();
    const { code, json } = await harness.here(...WATCH);
    expect([code, json.counts]).toMatchObject([0, { in: 1, created: 1 }]);
    expect(await harness.orderCommits()).toEqual(eachOnce(40));
    expect([await harness.names(), await harness.names('done')]).toEqual([
      ['done'],
      ['may.created.csv', 'may.csv', 'may.results.csv'],
    ]);
  },
);

test('killed and cancelled during a load: the next run takes over the files that were set aside', async () => {
  await harness.drop('may.csv', ordersCsv(40));
  const { reached, release } = await unanswered(CREATE, 5, { isPassedOn: true }).arm(harness);
  const victim = harness.start(...WATCH);
  await reached;
  victim.signal('SIGKILL');
  await victim.ended;
  await release();
  const { rows } = await harness.database.pool.query(`select id from ledger.runs where sync = 'files'`);
  await harness.here('runs', 'cancel', rows[0].id);
  expect(await harness.names()).toEqual(['.lockstep-files']);
  const { code, json } = await harness.here(...WATCH);
  expect([code, (await harness.verdicts(json.run)).get('may.csv')?.reason]).toEqual([0, 'LOADED']);
  expect(await harness.orderCommits()).toEqual(eachOnce(40));
  expect(await harness.names()).toEqual(['done']);
});
