/** A key without the right to one operation: only what needs that operation fails, and is resumed once the right is given. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { suspensionOf } from '../../src/engine/ledger/suspensions.ts';
import { eachOnce, ordersCsv } from '../support/orders-bed.ts';
import { people } from '../support/people.ts';
import { type CommandBed, openCommandBed } from './orders-bed.ts';

const ACCOUNT = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 200ms, concurrency: 4 }';
const FORBIDDEN = { status: 403, body: { status: 'error', message: 'no right to orders' } };

let bed: CommandBed;
beforeAll(async () => {
  bed = await openCommandBed({ account: ACCOUNT });
});
beforeEach(async () => {
  await bed.reset();
  await bed.addNumberedCustomers(3);
});
afterAll(() => bed.close());

test.each([
  ['reading', '/orders/getall', 'orders.getall'],
  ['creating', '/orders/create', 'orders.create'],
])(
  '%s orders is forbidden: the load fails and names it, contacts go on, and nothing is lost',
  async (_w, path, name) => {
    bed.front.set(async (request, pass) => (request.path.endsWith(path) ? FORBIDDEN : pass()));
    await bed.addContacts(people(5));
    const load = await bed.here('orders', 'load', await bed.file('o.csv', ordersCsv(30)), '--account', 'test', '--yes');
    expect([load.code, load.json.status, load.json.error.code]).toEqual([3, 'failed', 'OPERATION_FORBIDDEN']);
    expect(load.json.error.message).toMatch(new RegExp(`^${name}: .*no right to orders.*lockstep runs resume`));
    expect([load.json.counts.rejected, await suspensionOf(bed.database.pool, 'test')]).toEqual([0, undefined]);
    const contacts = await bed.here('run', 'contacts');
    expect([contacts.code, contacts.json.counts.created]).toEqual([0, 5]);
    bed.front.set();
    const resumed = await bed.here('runs', 'resume', load.json.run);
    expect([resumed.code, resumed.json.counts]).toMatchObject([0, { in: 30, created: 30, rejected: 0 }]);
    expect([await bed.orderCommits(), (await readRun(bed.database.pool, load.json.run)).status]).toEqual([
      eachOnce(30),
      'done',
    ]);
  },
);
