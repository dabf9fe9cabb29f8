/** Commits that come late: what the settle time covers is done once, and what it does not cover is found by an audit. */
import { afterEach, expect, test } from 'vitest';
import type { BehaviourOptions } from '../../src/service/behaviour.ts';
import { command } from '../cli/command.ts';
import { eachOnce, ordersCsv } from '../support/orders-bed.ts';
import { people } from '../support/people.ts';
import { type CommandBed, openCommandBed } from './orders-bed.ts';

const account = (settleMs: number) =>
  `budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: ${settleMs}ms, concurrency: 16 }`;
const LATE = 8;
/** Only once a test says so, after the run: later than settle. */
const NEVER_MS = 600_000;
const LOAD = ['orders', 'load', 'orders.csv', '--account', 'test'];

let bed: CommandBed;
afterEach(() => bed.close());

/** A service that answers the first writes of an operation with an error, and commits them `lateMs` later. */
async function openBed(
  operation: string,
  { lateMs = NEVER_MS, settleMs = 300, ...more }: BehaviourOptions & { lateMs?: number; settleMs?: number } = {},
): Promise<void> {
  const faults = { rate: 1, kinds: ['late-commit' as const], lateMs, limit: LATE, operations: [operation] };
  bed = await openCommandBed({ account: account(settleMs), behaviour: { faults, ...more } });
}

const commitsBy = async (operation: string): Promise<number> => {
  const found = await bed.database.pool.query('select count(*)::int as n from service.commits where operation = $1', [
    operation,
  ]);
  return found.rows[0].n;
};

/** Each within the settle time, and together not. */
const LATE_AND_HIDDEN = { settleMs: 800, lateMs: 600, readLagMs: 600 };

test('orders that are committed just within settle, and shown just within settle, are created once', async () => {
  await openBed('orders.create', LATE_AND_HIDDEN);
  await bed.addNumberedCustomers(3);
  await bed.database.pool.query(`update service.customers set created_at = created_at - interval '1 minute'`);
  await bed.file('orders.csv', ordersCsv(30));
  const { code, json } = await bed.here(...LOAD);
  expect([code, json.counts.created, json.audit]).toEqual([0, 30, undefined]);
  expect(await bed.orderCommits()).toEqual(eachOnce(30));
});

test('customers that are committed just within settle, and shown just within settle, are imported once', async () => {
  await openBed('customers.import', LATE_AND_HIDDEN);
  await bed.addContacts(people(30));
  await bed.database.pool.query(`update service.contacts set created_at = created_at - interval '1 minute'`);
  const { code, json } = await bed.here('run', 'contacts');
  expect([code, json.counts.created]).toEqual([0, 30]);
  expect(await commitsBy('customers.import')).toBe(30);
});

/** Loads 200 orders, of which the first are committed once more after the load, and waits until their audit is due. */
async function loadWithDoubles() {
  await openBed('orders.create');
  await bed.addNumberedCustomers(3);
  await bed.file('orders.csv', ordersCsv(200));
  const { code, json } = await bed.here(...LOAD);
  expect([code, json.counts.created]).toEqual([0, 200]);
  expect(json.audit).toEqual({ open: LATE, dueAt: expect.any(String), violations: 0 });
  const { stdout } = await command(['runs', '--config', 'lockstep.yaml'], bed.around);
  expect(stdout).toMatch(/ done, auditing until \d{4}-/);
  await bed.service.commitLate();
  expect(await commitsBy('orders.create')).toBe(200 + LATE);
  await isDue(json.audit.dueAt);
  return json;
}

const isDue = (dueAt: string) =>
  expect.poll(() => Date.now(), { timeout: 10_000, interval: 20 }).toBeGreaterThan(Date.parse(dueAt));

/** What the commit log has of each order, as a report of duplicates names them. */
async function doubles(): Promise<string[]> {
  const found = await bed.database.pool.query(
    `select string_agg(record_id::text, ', ' order by record_id) as ids from service.commits
     where operation = 'orders.create' group by natural_key having count(*) > 1`,
  );
  return found.rows.map(({ ids }) => ids).sort();
}

test('orders that are committed later than settle are reported by the same command, run again', async () => {
  const { run } = await loadWithDoubles();
  const { code, json, stderr } = await bed.here(...LOAD);
  expect([code, json.run, json.counts]).toMatchObject([1, run, { in: 200, created: 192, review: LATE }]);
  expect(json.audit).toEqual({ open: 0, dueAt: null, violations: LATE });
  const found = json.violations as { run: string; reason: string; ids: string[] }[];
  expect(found.map(({ ids }) => ids.join(', ')).sort()).toEqual(await doubles());
  expect(new Set(found.map((one) => `${one.run} ${one.reason}`))).toEqual(new Set([`${run} DUPLICATE`]));
  expect(stderr).toMatch(new RegExp(`lockstep: run ${run}, O-\\d+: .* more than once: orders \\d+, \\d+; delete`));
  const again = await bed.here(...LOAD);
  expect([again.code, again.json.violations]).toEqual([1, undefined]); // a row for a person, found before
});

test('a command that does not read the orders makes the audit that is due, and ends with 1', async () => {
  const { run } = await loadWithDoubles();
  const { code, json } = await bed.here('run', 'contacts');
  expect([code, json.counts.in, json.violations.length]).toEqual([1, 0, LATE]);
  expect((await bed.here('run', 'contacts')).code).toBe(0);
  const { json: shown } = await bed.here('runs', 'show', run);
  expect(shown).toMatchObject({ status: 'done', counts: { in: 200, created: 192, review: LATE } });
  expect(shown.reasons).toEqual([{ verdict: 'review', reason: 'DUPLICATE', count: LATE }]);
  const { json: listed } = await bed.here('runs');
  expect(listed.runs.filter(({ sync }: { sync: string }) => sync === 'audit:test:orders')).toHaveLength(1);
});

test('start makes the audit of customers that came later than settle by itself', async () => {
  await openBed('customers.import', { customersCarryContactId: false });
  await bed.addContacts(people(40));
  const { code, json } = await bed.here('run', 'contacts');
  expect([code, json.counts.created, json.audit.open]).toEqual([0, 40, LATE]);
  await bed.service.commitLate();
  const working = bed.start('start', '--roles', 'worker');
  const shown = async () => (await bed.here('runs', 'show', json.run)).json;
  await expect
    .poll(async () => (await shown()).audit, { timeout: 30_000 })
    .toMatchObject({ open: 0, violations: LATE });
  expect(await shown()).toMatchObject({ counts: { in: 40, created: 40 - LATE, review: LATE } });
  working.signal('SIGTERM');
  expect((await working.ended).stderr).toContain(json.run);
});

test('a dry run finds what its reads show, and writes nothing at the service', async () => {
  await openBed('customers.import');
  await bed.addContacts(people(40));
  const { json } = await bed.here('run', 'contacts');
  await bed.service.commitLate();
  await isDue(json.audit.dueAt);
  const before = bed.writesSeen();
  const dry = await bed.here('run', 'contacts', '--dry-run');
  expect([dry.code, dry.json.violations?.length, bed.writesSeen()]).toEqual([1, LATE, before]);
});

test('orders that a cancelled load left unknown, and another load sends again, are audited too', async () => {
  await openBed('orders.create', { settleMs: 1_500 });
  await bed.addNumberedCustomers(3);
  await bed.file('orders.csv', ordersCsv(30));
  const { json: begun } = await bed.here(...LOAD, '--detach');
  await bed.workspace.work();
  const unknown = () =>
    bed.database.pool.query(`select 1 from ledger.rows where run_id = $1 and state = 'unknown'`, [begun.run]);
  await expect.poll(async () => (await unknown()).rowCount, { timeout: 10_000, interval: 10 }).toBe(LATE);
  expect((await bed.here('runs', 'cancel', begun.run)).code).toBe(0);
  const { code, json } = await bed.here(...LOAD);
  expect([code, json.counts, json.audit]).toMatchObject([0, { in: 30 }, { open: LATE, violations: 0 }]);
});
