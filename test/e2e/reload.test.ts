/** SIGHUP to a real `lockstep start`: settings are taken over for new work, or refused with all their problems. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { savedSchedules } from '../../src/engine/ledger/schedules.ts';
import { newestRuns } from '../../src/engine/ledger/views/run-list.ts';
import { change, queue } from '../mirror/outbox/delivery-worlds.ts';
import { listRuns } from '../support/newest-runs.ts';
import { people } from '../support/people.ts';
import { openCommandHarness } from './commands.ts';
import { unanswered } from './failpoints.ts';

async function started() {
  const harness = await openCommandHarness({ env: { SIGNING: 'x'.repeat(32) } });
  onTestFinished(() => harness.close());
  const text = await readFile(path.join(harness.dataDir, 'lockstep.yaml'), 'utf8');
  const running = harness.start('start');
  await running.ready();
  return {
    text,
    running,
    write: (changed: string) => harness.file('lockstep.yaml', changed),
    database: harness.database,
    pool: harness.database.pool,
  };
}

test('changed settings are taken over for new work', async () => {
  const { text, running, write, database } = await started();
  const { pool } = database;
  const daily = 'another: { type: contacts, account: test, schedule: { every: 24h } }';
  const hook = 'hook: { type: webhook, url: "https://hook.invalid/", secret: { env: SIGNING } }';
  const changed = text
    .replace('job: contacts', 'job: contacts, schedule: { every: 1s }')
    .replace('requests: 5000', 'requests: 4000');
  await write(`${changed}\n  ${daily}\ntargets: { ${hook} }\nhealth: { listen: "127.0.0.1:0" }\n`);
  await queue(database, [change(1)], ['former']);
  running.signal('SIGHUP');
  expect(JSON.parse(await running.logs('settings read again')).msg).toBe(
    'settings read again: accounts changed: test; syncs added: another; syncs changed: contacts; targets added: hook',
  );
  expect(await running.logs('restart this process')).toContain('under health');
  expect(JSON.parse(await running.logs('target not in the settings'))).toMatchObject({
    target: 'former',
    msg: 'target not in the settings: 1 delivery waits until the settings have the target again, or a person drops it',
  });
  expect([...(await savedSchedules(pool)).keys()].sort()).toEqual(['another', 'contacts']);
  await expect
    .poll(async () => (await newestRuns(pool, ['contacts'], 5)).map(({ status }) => status))
    .toContain('done');
  running.signal('SIGTERM');
  expect((await running.ended).code).toBe(0);
});

test('settings with problems are refused with all of them, and the earlier ones stay', async () => {
  const { text, running, write, pool } = await started();
  await write(text.replace('requests: 5000', 'requests: -1').replace('job: contacts', 'job: contacts, optionz: {}'));
  running.signal('SIGHUP');
  const { level, msg } = JSON.parse(await running.logs('cannot be used'));
  expect(level).toBe(50);
  expect(msg).toMatch(/requests/);
  expect(msg).toMatch(/optionz/);
  await write(text.replace('job: contacts', 'job: contacts, schedule: { every: 1s }'));
  running.signal('SIGHUP');
  await running.logs('syncs changed: contacts');
  await expect.poll(() => listRuns(pool, 1)).toHaveLength(1);
  running.signal('SIGTERM');
  expect((await running.ended).code).toBe(0);
});

test('a run whose account was renamed says what to do, and the next run imports the rest, once', async () => {
  const harness = await openCommandHarness({
    account: 'budget: { requests: 5000, per: 1s, settle: 200ms, timeout: 1s }',
  });
  onTestFinished(() => harness.close());
  const { file, here, dataDir } = harness;
  await harness.addContacts(people(12));
  const { reached, release } = await unanswered('/customers/import', 6, { isPassedOn: true }).arm(harness);
  const victim = harness.start('run', 'contacts');
  await reached;
  victim.signal('SIGKILL');
  await victim.ended;
  await release();
  const text = await readFile(path.join(dataDir, 'lockstep.yaml'), 'utf8');
  await file('lockstep.yaml', text.replace('  test: {', '  acme: {').replaceAll('account: test', 'account: acme'));
  const { runs } = (await here('runs')).json;
  const says = `Run ${runs[0].run} was started with it. If it was renamed, add it to the settings under its earlier name too`;
  const resumed = await here('runs', 'resume', runs[0].run);
  expect([resumed.code, resumed.stderr]).toEqual([2, expect.stringContaining(says)]);
  const joined = await here('run', 'contacts');
  expect([joined.code, joined.json.error.message]).toEqual([3, expect.stringContaining(says)]);
  const next = await here('run', 'contacts');
  expect([next.code, next.json.counts.in]).toEqual([0, 12]);
  expect([...(await harness.commits()).values()]).toEqual(Array(12).fill(1));
});
