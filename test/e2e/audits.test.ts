/** Commits that come late: what the settle time covers is done once, and what it does not cover is found by an audit. */
import { afterEach, expect, test } from 'vitest';
import type { BehaviourOptions } from '../../src/service/behaviour.ts';
import { eachOnce, ordersCsv } from '../support/orders-bed.ts';
import { people } from '../support/people.ts';
import { type CommandBed, openCommandBed } from './orders-bed.ts';

const SETTLE_MS = 400;
const ACCOUNT = `budget: { requests: 5000, per: 1s, burst: 500, timeout: 300ms, settle: ${SETTLE_MS}ms, concurrency: 16 }`;
const LATE = 8;
const LOAD = ['orders', 'load', 'orders.csv', '--account', 'test'];

let bed: CommandBed;
afterEach(() => bed.close());

/** A service that answers the first writes of an operation with an error, and commits them `lateMs` later. */
async function openBed(operation: string, lateMs: number, more: BehaviourOptions = {}): Promise<void> {
  const faults = { rate: 1, kinds: ['late-commit' as const], lateMs, limit: LATE, operations: [operation] };
  bed = await openCommandBed({ account: ACCOUNT, behaviour: { faults, ...more } });
}

const commitsBy = async (operation: string): Promise<number> => {
  const found = await bed.database.pool.query('select count(*)::int as n from service.commits where operation = $1', [
    operation,
  ]);
  return found.rows[0].n;
};

const LAST_MOMENT_MS = SETTLE_MS - 40;

test('orders that are committed just within settle, and shown just within settle, are created once', async () => {
  await openBed('orders.create', LAST_MOMENT_MS, { readLagMs: LAST_MOMENT_MS });
  await bed.addNumberedCustomers(3);
  await bed.database.pool.query(`update service.customers set created_at = created_at - interval '1 minute'`);
  await bed.file('orders.csv', ordersCsv(30));
  const { code, json } = await bed.here(...LOAD);
  expect([code, json.counts.created]).toEqual([0, 30]);
  expect(await bed.orderCommits()).toEqual(eachOnce(30));
});

test('customers that are committed just within settle, and shown just within settle, are imported once', async () => {
  await openBed('customers.import', LAST_MOMENT_MS, { readLagMs: LAST_MOMENT_MS });
  await bed.addContacts(people(30));
  await bed.database.pool.query(`update service.contacts set created_at = created_at - interval '1 minute'`);
  const { code, json } = await bed.here('run', 'contacts');
  expect([code, json.counts.created]).toEqual([0, 30]);
  expect(await commitsBy('customers.import')).toBe(30);
});

/** After the last read of the run, and before its audit is due. */
const TOO_LATE_MS = 4.75 * SETTLE_MS;

test('orders that are committed later than settle are reported by the next command, with both ids', async () => {
  await openBed('orders.create', TOO_LATE_MS);
  await bed.addNumberedCustomers(3);
  await bed.file('orders.csv', ordersCsv(200));
  const first = await bed.here(...LOAD);
  expect([first.code, first.json.counts.created]).toEqual([0, 200]);
  expect(first.json.audit).toEqual({ open: LATE, dueAt: expect.any(String), violations: 0 });
  await expect.poll(() => commitsBy('orders.create'), { timeout: 10_000 }).toBe(200 + LATE);
  await expect.poll(() => Date.now(), { timeout: 10_000 }).toBeGreaterThan(Date.parse(first.json.audit.dueAt));
  const next = await bed.here(...LOAD);
  expect([next.code, next.json.counts]).toMatchObject([1, { in: 200, created: 192, review: LATE }]);
  expect(next.json.audit).toEqual({ open: 0, dueAt: null, violations: LATE });
});
