/** Plans: a dry run saves what it would write, and `lockstep apply` writes exactly that. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { command } from '../cli/command.ts';
import { csvOf, eachOnce, ordersCsv } from '../support/harness/orders.ts';
import { openCommandHarness } from './commands.ts';
import { unanswered } from './failpoints.ts';

const harness = await openCommandHarness({
  account: 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 300ms, settle: 250ms, concurrency: 4 }',
});
beforeEach(async () => {
  await harness.reset();
  await rm(planFile(), { force: true });
});
afterAll(() => harness.close());

const [ANN, BEN] = [
  { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com', phone: '+44 7700 900001' },
  { first_name: 'Ben', last_name: 'Lee', email: 'ben@example.com' },
];
const PLAN = ['run', 'contacts', '--plan', 'plan.ndjson'];
const LOAD = ['orders', 'load', 'orders.csv', '--account', 'test'];

const planFile = () => path.join(harness.around.cwd, 'plan.ndjson');
const lines = async () =>
  (await readFile(planFile(), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const apply = () => harness.here('apply', 'plan.ndjson');

/** Ann is linked with a customer and has a new phone; Ben is new. */
async function changedContacts(): Promise<void> {
  await harness.addContacts([ANN]);
  await harness.here('run', 'contacts');
  await harness.editContact(1, { ...ANN, phone: '+44 7700 900002' });
  await harness.addContacts([BEN]);
}

describe('of contacts', () => {
  test('has every write with the old and the new values, and writes nothing; applied, it writes exactly that', async () => {
    await changedContacts();
    const before = harness.writesSeen();
    const saved = await harness.here(...PLAN);
    expect([saved.code, saved.json.dryRun, saved.json.results]).toEqual([0, true, { plan: planFile() }]);
    expect(harness.writesSeen()).toBe(before);
    const [head, update, create, end] = await lines();
    expect(head).toMatchObject({ lockstepPlan: 1, id: saved.json.run, sync: 'contacts', account: 'test' });
    expect(update).toMatchObject({ contact: '1', action: 'update', customer: '1' });
    expect(update.fields).toEqual({ phone_number: { from: '+44 7700 900001', to: '+44 7700 900002' } });
    expect(create).toMatchObject({ contact: '2', action: 'import', fields: { email: { to: 'ben@example.com' } } });
    expect(end).toEqual({ end: saved.json.run, writes: 2 });

    const { code, json } = await apply();
    expect([code, json.counts]).toMatchObject([0, { in: 2, created: 1, updated: 1 }]);
    expect(await harness.customers()).toMatchObject([
      { phone_number: '+44 7700 900002' },
      { email: 'ben@example.com' },
    ]);
    const shown = await harness.here('runs', 'show', json.run);
    expect(shown.json.approval).toEqual({ by: expect.stringContaining('@'), at: expect.any(String) });
  });

  test('applied twice, it writes nothing twice', async () => {
    await changedContacts();
    await harness.here(...PLAN);
    await apply();
    const before = harness.writesSeen();
    const { code, json } = await apply();
    expect([code, json.counts, harness.writesSeen()]).toMatchObject([0, { in: 2, unchanged: 2 }, before]);
    expect((await harness.here('runs', 'show', json.run)).json.notes).toContain(
      '2 of 2 planned contacts did not need a write any more, or were gone',
    );
    const { stdout } = await command([...PLAN, '--force', '--config', 'lockstep.yaml'], harness.around);
    expect(stdout).toContain('Saved the plan in plan.ndjson: there is nothing to write.');
    expect(stdout).not.toContain('Apply it with');
  });

  test('leaves out what has changed since, and what is new', async () => {
    await changedContacts();
    await harness.here(...PLAN);
    await harness.call('customers.update', {
      id: 1,
      full_name: 'Ann Lee',
      email: 'ann@example.com',
      phone_number: '1',
    });
    await harness.editContact(2, { ...BEN, email: 'other@example.com' });
    await harness.addContacts([{ first_name: 'Late', email: 'late@example.com' }]);
    const before = harness.writesSeen();
    const { code, json } = await apply();
    expect([code, json.counts, harness.writesSeen()]).toMatchObject([1, { in: 3, rejected: 3 }, before]);
    const rows = await harness.here('runs', 'export', json.run, '--out', '-');
    expect(rows.stdout).toMatch(
      /1,.*PLAN_MOVED,"?Nothing was sent: the phone_number of its record at the service changed after the plan was made\./,
    );
    expect(rows.stdout).toMatch(/2,.*PLAN_MOVED,"?Nothing was sent: its content has changed since/);
    expect(rows.stdout).toMatch(/3,.*NOT_IN_PLAN/);
    const retried = await harness.here('runs', 'retry', json.run);
    expect([retried.code, retried.json.error.code]).toEqual([2, 'RUN_APPLIED_PLAN']);
    const shown = await command(['runs', 'show', json.run, '--config', 'lockstep.yaml'], harness.around);
    expect((await harness.paste(shown.stdout, 'write it without one')).code).toBe(0);
    expect(await harness.customers()).toMatchObject([{ phone_number: '+44 7700 900002' }, {}, {}]);
  });

  test('is not applied while another run is unfinished', async () => {
    await changedContacts();
    await harness.here(...PLAN);
    await harness.workspace.startSync('contacts', { lane: 'batch', dryRun: false }); // no process works on it
    const { code, json } = await apply();
    expect([code, json.error.code]).toEqual([3, 'RUN_IN_THE_WAY']);
  });

  test('killed while it is applied, the same command resumes it, and each contact is sent once', async () => {
    await harness.addContacts(
      Array.from({ length: 12 }, (_, n) => ({ first_name: `P${n}`, email: `p${n}@example.com` })),
    );
    await harness.here(...PLAN);
    await harness.addContacts([{ first_name: 'Late', email: 'late@example.com' }]);
    const { reached, release } = await unanswered('/customers/import', 5, { isPassedOn: true }).arm(harness);
    const victim = harness.start('apply', 'plan.ndjson');
    await reached;
    victim.signal('SIGKILL');
    await victim.ended;
    await release();
    const { code, json } = await apply();
    expect([code, json.counts]).toMatchObject([1, { in: 13, created: 12, rejected: 1 }]);
    expect([...(await harness.commits()).values()]).toEqual(Array(12).fill(1));
  });
});

describe('a file that is refused', () => {
  beforeEach(async () => {
    await harness.addContacts([ANN, BEN]);
    await harness.here(...PLAN);
  });

  const changed: readonly (readonly [string, string, (text: string) => string])[] = [
    ['an edited row', 'PLAN_CHANGED', (text) => text.replace('ben@example.com', 'eve@example.com')],
    ['a row that is left out', 'PLAN_CHANGED', (text) => text.split('\n').toSpliced(1, 1).join('\n')],
    ['a missing end', 'PLAN_INCOMPLETE', (text) => text.slice(0, text.length / 2)],
    ['the format of another version', 'PLAN_INVALID', (text) => text.replace('"lockstepPlan":1', '"lockstepPlan":2')],
    ['another kind of file', 'PLAN_INVALID', () => 'order_id,amount\nO-1,2\n'],
    ['no content', 'PLAN_INVALID', () => ''],
    ['a plan of another ledger', 'PLAN_UNKNOWN', (text) => text.replaceAll(/run-[\w-]+/g, 'run-of-another')],
  ];
  test.each(changed)('has %s: %s', async (_, error, change) => {
    await writeFile(planFile(), change(await readFile(planFile(), 'utf8')));
    const before = harness.writesSeen();
    const { code, json } = await apply();
    expect([code, json.error.code, json.error.message]).toEqual([2, error, expect.stringMatching(/Save/)]);
    expect([harness.writesSeen(), (await harness.here('runs')).json.runs.length]).toEqual([before, 1]);
  });

  test('is missing', async () => {
    const { code, json } = await harness.here('apply', 'missing.ndjson');
    expect([code, json.error.code]).toEqual([2, 'PLAN_UNREADABLE']);
  });

  test('was made with other settings', async () => {
    const settings = path.join(harness.around.cwd, 'lockstep.yaml');
    const text = await readFile(settings, 'utf8');
    await writeFile(
      settings,
      text.replace('job: contacts', 'job: contacts, options: { matchBy: [phone], rowsPerPage: 7 }'),
    );
    const { code, json } = await apply();
    await writeFile(settings, text);
    expect([code, json.error.code]).toEqual([2, 'PLAN_SETTINGS_DIFFER']);
    expect(json.error.message).toContain('"contacts": matchBy. ');
  });
});

describe('of a load', () => {
  const NEW = csvOf('order_id,customer_email,customer_name,amount', [
    'O-1,customer1@example.com,,1.25',
    'O-2,new@example.com,New,2.25',
    'O-2,new@example.com,New,2.25',
    'O-3,new@example.com,New,not a number',
  ]);
  const saves = (...more: readonly string[]) => harness.here(...LOAD, '--plan', 'plan.ndjson', ...more);

  test('is applied from the rows that were read, with the customers that it creates, and once', async () => {
    await harness.addNumberedCustomers(1);
    await harness.file('orders.csv', NEW);
    const before = harness.writesSeen();
    const saved = await saves('--create-customers');
    expect([saved.code, saved.json.counts, harness.writesSeen()]).toMatchObject([
      1,
      { created: 2, invalid: 1 },
      before,
    ]);
    const retried = (await harness.here('runs', 'retry', saved.json.run)).json.error;
    expect(retried).toEqual({ code: 'RUN_WAS_DRY', message: expect.stringMatching(/same options.* orders load FILE/) });
    expect((await lines()).slice(1, 3)).toMatchObject([
      { line: '2', action: 'create', customer: '1', fields: { order_id: { to: 'O-1' }, amount: { to: '1.25' } } },
      { line: '3', action: 'create', customer: { create: { email: 'new@example.com' } } },
    ]);
    await harness.file('orders.csv', 'changed since');
    const { code, json } = await apply();
    expect([code, json.counts]).toMatchObject([1, { in: 4, created: 2, existing: 1, invalid: 1 }]);
    expect((await harness.orders()).map(({ order_id }) => order_id).sort()).toEqual(['O-1', 'O-2']);
    const again = await apply();
    expect([again.code, again.json.run, (await harness.orders()).length]).toEqual([1, json.run, 2]);
  });

  test('leaves out orders and customers that have changed since; runs retry writes them', async () => {
    await harness.addNumberedCustomers(1);
    await harness.file('orders.csv', NEW);
    await saves('--create-customers');
    await harness.addCustomers([{ full_name: 'New', email: 'new@example.com' }]);
    const { json } = await apply();
    expect(json.counts).toMatchObject({ in: 4, created: 1, invalid: 1 });
    expect((await harness.customers()).length).toBe(2);
    expect((await harness.here('runs', 'show', json.run)).json.reasons).toContainEqual(
      expect.objectContaining({ reason: 'PLAN_MOVED' }),
    );
    const retried = await harness.here('runs', 'retry', json.run);
    expect(retried.json.counts).toMatchObject({ in: 4, created: 2, existing: 1, invalid: 1 });
  });

  test('updates an order only while it is as it was', async () => {
    await harness.addNumberedCustomers(3);
    await harness.file('orders.csv', ordersCsv(3));
    await harness.here(...LOAD);
    await harness.file('orders.csv', ordersCsv(3).replace('2.25', '7.25').replace('3.25', '8.25'));
    expect((await saves('--existing', 'update')).json.counts).toMatchObject({ updated: 2, existing: 1 });
    const orders = new Map((await harness.orders()).map((order) => [order.order_id, order]));
    expect((await lines())[1]).toMatchObject({
      line: '3',
      order: String(orders.get('O-2')?.id),
      fields: { amount: { from: '2.25', to: '7.25' } },
    });
    await harness.call('orders.update', { id: orders.get('O-3')?.id, client_id: 1, amount: 9 });
    expect((await apply()).json.counts).toMatchObject({ updated: 1, existing: 1, rejected: 1 });
    const amounts = (await harness.orders()).map(({ amount }) => String(amount)).sort();
    expect(amounts).toEqual(['1.25', '7.25', '9']);
    expect(await harness.orderCommits()).toEqual(eachOnce(3));
  });
});

test('--plan is refused where there is no plan to save', async () => {
  for (const args of [
    ['run', 'contacts', '--plan', 'missing/plan.ndjson'],
    ['run', 'contacts', '--plan', 'plan.ndjson', '--detach'],
    [...LOAD, '--plan', 'plan.ndjson', '--detach'],
  ])
    expect((await harness.here(...args)).json).toMatchObject({ error: { code: 'USAGE' } });
  const existing = await harness.here('run', 'contacts', '--plan', 'lockstep.yaml');
  expect(existing.json).toMatchObject({ error: { code: 'FILE_EXISTS' } });
});
