/**
 * A key without the right to one operation: only runs that need it fail, and they resume once the right is given. If only some
 * records are forbidden, a run without them succeeds.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { suspensionOf } from '../../src/engine/ledger/scopes/suspensions.ts';
import { eachOnce, ordersCsv } from '../support/harness/orders.ts';
import { people } from '../support/people.ts';
import { openCommandHarness } from './commands.ts';

const ACCOUNT = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 200ms, concurrency: 4 }';
const FORBIDDEN = { status: 403, body: { status: 'error', message: 'no right to orders' } };

const harness = await openCommandHarness({ account: ACCOUNT });
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

test.each([
  ['reading', '/orders/getall', 'orders.getall'],
  ['creating', '/orders/create', 'orders.create'],
])(
  '%s orders is forbidden: the load fails and names it, contacts continue, and nothing is lost',
  async (_w, path, name) => {
    harness.front.set(async (request, pass) => (request.path.endsWith(path) ? FORBIDDEN : pass()));
    await harness.addContacts(people(5));
    const load = await harness.here(
      'orders',
      'load',
      await harness.file('o.csv', ordersCsv(30)),
      '--account',
      'test',
      '--yes',
    );
    expect([load.code, load.json.status, load.json.error.code]).toEqual([3, 'failed', 'OPERATION_FORBIDDEN']);
    expect(load.json.error.message).toMatch(new RegExp(`^${name}: .*no right to orders.*lockstep runs resume`));
    expect([load.json.counts.rejected, await suspensionOf(harness.database.pool, 'test')]).toEqual([0, undefined]);
    const contacts = await harness.here('run', 'contacts');
    expect([contacts.code, contacts.json.counts.created]).toEqual([0, 5]);
    harness.front.set();
    const resumed = await harness.here('runs', 'resume', load.json.run);
    expect([resumed.code, resumed.json.counts]).toMatchObject([0, { in: 30, created: 30, rejected: 0 }]);
    expect([await harness.orderCommits(), (await readRun(harness.database.pool, load.json.run)).status]).toEqual([
      eachOnce(30),
      'done',
    ]);
  },
);

test('creating customers for a load is forbidden: a retry, once the right is given, creates them and the orders', async () => {
  harness.front.set(async (request, pass) => (request.path.endsWith('/customers/create') ? FORBIDDEN : pass()));
  const file = await harness.file(
    'new.csv',
    'order_id,amount,customer_email\nA,1,ann@example.com\nB,2,bob@example.com\n',
  );
  const load = await harness.here('orders', 'load', file, '--account', 'test', '--yes', '--create-customers');
  expect([load.code, load.json.error.code]).toEqual([3, 'OPERATION_FORBIDDEN']);
  const early = await harness.here('runs', 'retry', load.json.run);
  expect([early.code, early.json.error.code]).toEqual([3, 'OPERATION_FORBIDDEN']);
  harness.front.set();
  const retried = await harness.here('runs', 'retry', load.json.run);
  expect([retried.code, retried.json.counts]).toMatchObject([0, { in: 2, created: 2 }]);
  expect([(await harness.customers()).length, await harness.orderCommits()]).toEqual([
    5,
    new Map([
      ['A', 1],
      ['B', 1],
    ]),
  ]);
});

test('the only new contacts are forbidden: the run names them, and succeeds once `where` leaves them out', async () => {
  await harness.addContacts(people(2));
  expect((await harness.here('run', 'contacts')).code).toBe(0);
  await harness.addContacts([{ first_name: 'Eve', email: 'eve@example.com' }]);
  harness.front.set(async (request, pass) => (/customers.(create|import)/.test(request.path) ? FORBIDDEN : pass()));
  const night = await harness.here('run', 'contacts');
  expect([night.code, night.json.counts.unchanged, night.json.error.code]).toEqual([3, 2, 'OPERATION_FORBIDDEN']);
  expect(night.json.error.message).toContain('only for some records, such as 3, start again without them');
  const settings = path.join(harness.dataDir, 'lockstep.yaml');
  const where = 'options: { where: { email: { not: eve@example.com } } }';
  await writeFile(settings, (await readFile(settings, 'utf8')).replace('job: contacts', `job: contacts, ${where}`));
  const next = await harness.here('run', 'contacts');
  expect([next.code, next.json.leftOut]).toEqual([0, { linked: 0, contacts: 1 }]);
  expect((await harness.here('status')).json.needs).toEqual([]);
});
