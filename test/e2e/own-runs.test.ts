/** A command in the foreground works on its own run and on what that needs; other unfinished runs are left to workers. */
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { pauseRun, readRun } from '../../src/engine/ledger/runs.ts';
import { csvOf, eachOnce, ordersCsv } from '../support/orders-bed.ts';
import { people } from '../support/people.ts';
import { describeWithRedis } from '../support/redis.ts';
import { ended } from '../support/sync-bed.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { type CommandBed, openCommandBed } from './orders-bed.ts';

const ACCOUNT = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 200ms }';
const CONTACTS = 12;
const CUSTOMERS = 3;
const NEW_CUSTOMER = csvOf('order_id,customer email,amount', ['O-1,new@example.com,5', 'O-2,new@example.com,6']);

const SECRET = 'a signing secret that nobody can guess';

let bed: CommandBed;
afterEach(() => bed.close());

/** A contact sync that no process works on, as after Ctrl-C. */
async function interruptedSync(): Promise<string> {
  const { json } = await bed.here('run', 'contacts', '--detach');
  await bed.database.pool.query(`update ledger.runs set created_at = created_at - interval '1 hour' where id = $1`, [
    json.run,
  ]);
  return json.run;
}

const titles = ({ events }: WebhookReceiver) =>
  events.map((event) => JSON.parse(JSON.stringify(event)).data.task.title);
const statusOf = async (run: string) => (await readRun(bed.database.pool, run)).status;
const reads = () => bed.service.traffic.total('customers.getall');

function suite(redisUrl?: string): void {
  beforeEach(async () => {
    bed = await openCommandBed({ account: ACCOUNT, ...(redisUrl !== undefined && { redisUrl }) });
    await bed.addContacts(people(CONTACTS));
    await bed.addNumberedCustomers(CUSTOMERS);
    bed.service.traffic.reset();
  });

  test('a dry run writes nothing beside an unfinished run of its sync, and names that run', async () => {
    const sync = await interruptedSync();
    const { code, json } = await bed.here('run', 'contacts', '--dry-run');
    expect([code, json.status, json.counts]).toMatchObject([0, 'done', { in: CONTACTS, created: CONTACTS }]);
    const says = expect.stringContaining(`run ${sync} of contacts is unfinished`);
    expect((await readRun(bed.database.pool, json.run)).notes).toContainEqual(says);
    expect([json.run === sync, bed.writesSeen(), await statusOf(sync)]).toEqual([false, 0, 'running']);
  });

  test('a load moves no other run, dry or not, and a worker finishes that one later', async () => {
    const sync = await interruptedSync();
    const file = await bed.file('orders.csv', ordersCsv(20));
    expect((await bed.here('orders', 'load', file, '--account', 'test', '--dry-run')).json.counts.created).toBe(20);
    expect([bed.writesSeen(), await statusOf(sync)]).toEqual([0, 'running']);
    const load = await bed.here('orders', 'load', file, '--account', 'test', '--yes');
    expect([load.code, load.json.counts.created, bed.writesSeen()]).toEqual([0, 20, 20]);
    expect(await statusOf(sync)).toBe('running');
    await bed.workspace.work();
    expect((await ended(bed.database, sync)).status).toBe('done');
    expect([await bed.orderCommits(), (await bed.commits()).size]).toEqual([eachOnce(20), CONTACTS + CUSTOMERS]);
  });
}

describe('on Postgres', () => suite());
describeWithRedis('on Redis', ({ url }) => suite(url));

describe('a load that needs customers, behind a contact sync', () => {
  beforeEach(async () => {
    bed = await openCommandBed({ account: ACCOUNT });
    await bed.addContacts(people(CONTACTS));
    bed.service.traffic.reset();
  });
  const load = async () =>
    bed.here(
      'orders',
      'load',
      await bed.file('new.csv', NEW_CUSTOMER),
      '--account',
      'test',
      '--yes',
      '--create-customers',
    );

  test.each([
    ['that no process works on', async () => {}, 'no process works on it'],
    [
      'that is paused',
      (sync: string) => pauseRun(bed.database.pool, sync, { code: 'X', message: 'look at the list' }),
      'is paused: look at the list',
    ],
  ])('%s pauses with its name and the command that helps, after one read', async (_what, stop, words) => {
    const sync = await interruptedSync();
    await stop(sync);
    const paused = await load();
    expect([paused.code, paused.json.status]).toEqual([3, 'paused']);
    const { error } = await readRun(bed.database.pool, paused.json.run);
    expect(error).toContain(words);
    expect(error).toContain(`lockstep runs resume ${sync}`);
    expect([reads(), bed.writesSeen()]).toEqual([1, 0]);
    await bed.here('runs', 'resume', sync);
    expect(await statusOf(sync)).toBe('done');
    const resumed = await bed.here('runs', 'resume', paused.json.run);
    expect([resumed.code, resumed.json.counts]).toMatchObject([0, { in: 2, created: 2 }]);
  });

  test('that is resumed later goes on by itself where a worker runs', async () => {
    const sync = await interruptedSync();
    await pauseRun(bed.database.pool, sync, { code: 'X', message: 'look' });
    const { json } = await load();
    await bed.workspace.work();
    await bed.here('runs', 'resume', sync);
    await expect.poll(() => statusOf(json.run), { timeout: 20_000 }).toBe('done');
    expect(await bed.counts(await readRun(bed.database.pool, json.run))).toMatchObject({ in: 2, created: 2 });
  });
});

test('a run of tasks sends the deliveries of its own changes, and a dry run sends none', async () => {
  bed = await openCommandBed({ account: ACCOUNT });
  const receiver = await startWebhookReceiver(SECRET);
  onTestFinished(() => receiver.close());
  const mirror = `mirror: { job: tasks, account: test, targets: [hook], options: { backfill: true } }`;
  const hook = `hook: { type: webhook, url: "${receiver.hook}", secret: { file: secret }, allowPrivate: true }`;
  await bed.file('secret', SECRET);
  await bed.file('lockstep.yaml', `${bed.settingsText}  ${mirror}\ntargets:\n  ${hook}\n`);
  await bed.call('tasks.create', { taskName: 'first' });
  await bed.here('run', 'mirror', '--dry-run');
  const { json } = await bed.here('run', 'mirror', '--detach');
  await bed.here('runs', 'resume', json.run);
  expect(titles(receiver)).toEqual(['first']);
  // As if that run had left it: due, and not delivered.
  await bed.database.pool.query(`update ledger.deliveries set state = 'waiting', verdict = null, ended_at = null`);
  await bed.call('tasks.create', { taskName: 'second' });
  await bed.here('run', 'mirror', '--dry-run');
  expect(titles(receiver)).toEqual(['first']);
  expect((await bed.here('run', 'mirror')).json.counts.created).toBe(1);
  expect(titles(receiver)).toEqual(['first', 'second']);
  await bed.here('deliveries', 'replay', '--target', 'hook', '--since', '1h');
  await bed.here('run', 'mirror');
  expect(titles(receiver)).toEqual(['first', 'second']);
});
