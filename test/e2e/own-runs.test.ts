/** A foreground command works on its own run and the runs it needs; it leaves other unfinished runs to workers. */
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { pauseRun } from '../../src/engine/ledger/run-status.ts';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { ended } from '../support/harness/ended.ts';
import { csvOf, eachOnce, ordersCsv } from '../support/harness/orders.ts';
import { people } from '../support/people.ts';
import { describeWithRedis } from '../support/redis.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { type CommandHarness, openCommandHarness } from './commands.ts';

const ACCOUNT = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 200ms }';
const CONTACTS = 12;
const CUSTOMERS = 3;
const NEW_CUSTOMER = csvOf('order_id,customer email,amount', ['O-1,new@example.com,5', 'O-2,new@example.com,6']);

const SECRET = 'a signing secret that is hard to guess';

let harness: CommandHarness;
afterEach(() => harness.close());

/** A contact sync that no process works on, as after Ctrl-C. */
async function interruptedSync(): Promise<string> {
  const { json } = await harness.here('run', 'contacts', '--detach');
  await harness.database.pool.query(
    `update ledger.runs set created_at = created_at - interval '1 hour' where id = $1`,
    [json.run],
  );
  return json.run;
}

const titles = ({ events }: WebhookReceiver) =>
  events.map((event) => JSON.parse(JSON.stringify(event)).data.task.title);
const statusOf = async (run: string) => (await readRun(harness.database.pool, run)).status;
const reads = () => harness.service.traffic.total('customers.getall');

function suite(redisUrl?: string): void {
  beforeEach(async () => {
    harness = await openCommandHarness({ account: ACCOUNT, redisUrl });
    await harness.addContacts(people(CONTACTS));
    await harness.addNumberedCustomers(CUSTOMERS);
    harness.service.traffic.reset();
  });

  test('a dry run writes nothing beside an unfinished run of its sync, and names that run', async () => {
    const sync = await interruptedSync();
    const { code, json } = await harness.here('run', 'contacts', '--dry-run');
    expect([code, json.status, json.counts]).toMatchObject([0, 'done', { in: CONTACTS, created: CONTACTS }]);
    const says = expect.stringContaining(`run ${sync} of contacts is unfinished`);
    expect((await readRun(harness.database.pool, json.run)).notes).toContainEqual(says);
    expect([json.run === sync, harness.writesSeen(), await statusOf(sync)]).toEqual([false, 0, 'running']);
  });

  test('a load advances no other run, dry or not, and a worker finishes that run later', async () => {
    const sync = await interruptedSync();
    const file = await harness.file('orders.csv', ordersCsv(20));
    expect((await harness.here('orders', 'load', file, '--account', 'test', '--dry-run')).json.counts.created).toBe(20);
    expect([harness.writesSeen(), await statusOf(sync)]).toEqual([0, 'running']);
    const load = await harness.here('orders', 'load', file, '--account', 'test', '--yes');
    expect([load.code, load.json.counts.created, harness.writesSeen()]).toEqual([0, 20, 20]);
    expect(await statusOf(sync)).toBe('running');
    await harness.workspace.work();
    expect((await ended(harness.database, sync)).status).toBe('done');
    expect([await harness.orderCommits(), (await harness.commits()).size]).toEqual([
      eachOnce(20),
      CONTACTS + CUSTOMERS,
    ]);
  });
}

describe('on Postgres', () => suite());
describeWithRedis('on Redis', ({ url }) => suite(url));

describe('a load that needs customers while a contact sync is unfinished', () => {
  beforeEach(async () => {
    harness = await openCommandHarness({ account: ACCOUNT });
    await harness.addContacts(people(CONTACTS));
    harness.service.traffic.reset();
  });
  const load = async () =>
    harness.here(
      'orders',
      'load',
      await harness.file('new.csv', NEW_CUSTOMER),
      '--account',
      'test',
      '--yes',
      '--create-customers',
    );

  test.each([
    ['that no process works on', async () => {}, 'no process works on it'],
    [
      'that is paused',
      (sync: string) => pauseRun(harness.database.pool, sync, { code: 'X', message: 'look at the list' }),
      'is paused: look at the list',
    ],
  ])(
    '%s pauses with its name and the command that helps, once the empty list was read twice',
    async (_what, stop, words) => {
      const sync = await interruptedSync();
      await stop(sync);
      const paused = await load();
      expect([paused.code, paused.json.status]).toEqual([3, 'paused']);
      const { error } = await readRun(harness.database.pool, paused.json.run);
      expect(error).toContain(words);
      expect(error).toContain(`lockstep runs resume ${sync}`);
      expect([reads(), harness.writesSeen()]).toEqual([2, 0]);
      await harness.here('runs', 'resume', sync);
      expect(await statusOf(sync)).toBe('done');
      const resumed = await harness.here('runs', 'resume', paused.json.run);
      expect([resumed.code, resumed.json.counts]).toMatchObject([0, { in: 2, created: 2 }]);
    },
  );

  test('resumed later it continues by itself where a worker runs', async () => {
    const sync = await interruptedSync();
    await pauseRun(harness.database.pool, sync, { code: 'X', message: 'look' });
    const { json } = await load();
    await harness.workspace.work();
    await harness.here('runs', 'resume', sync);
    await expect.poll(() => statusOf(json.run)).toBe('done');
    expect(await harness.counts(await readRun(harness.database.pool, json.run))).toMatchObject({ in: 2, created: 2 });
  });
});

test('a run of tasks sends the deliveries of its own changes, and a dry run sends none', async () => {
  const receiver = await startWebhookReceiver(SECRET);
  onTestFinished(() => receiver.close());
  harness = await openCommandHarness({
    account: ACCOUNT,
    syncs: { mirror: 'job: tasks, targets: [hook], options: { backfill: true }' },
    targets: { hook: `type: webhook, url: "${receiver.hook}", secret: { file: secret }, allowPrivate: true` },
  });
  await harness.file('secret', SECRET);
  await harness.call('tasks.create', { taskName: 'first' });
  await harness.here('run', 'mirror', '--dry-run');
  const { json } = await harness.here('run', 'mirror', '--detach');
  await harness.here('runs', 'resume', json.run);
  expect(titles(receiver)).toEqual(['first']);
  // As if that run had left it: due, and not delivered.
  await harness.database.pool.query(`update ledger.deliveries set state = 'waiting', verdict = null, ended_at = null`);
  await harness.call('tasks.create', { taskName: 'second' });
  await harness.here('run', 'mirror', '--dry-run');
  expect(titles(receiver)).toEqual(['first']);
  expect((await harness.here('run', 'mirror')).json.counts.created).toBe(1);
  expect(titles(receiver)).toEqual(['first', 'second']);
  await harness.here('deliveries', 'replay', '--target', 'hook', '--since', '1h');
  await harness.here('run', 'mirror');
  expect(titles(receiver)).toEqual(['first', 'second']);
});
