/** Commits that come late: what the settle time covers is done once, and what it does not cover is found by an audit. */
import { expect, onTestFinished, type TestContext, test, vi } from 'vitest';
import type { BehaviourOptions } from '../../src/service/behaviour.ts';
import { command } from '../cli/command.ts';
import { csvOf, eachOnce, ordersCsv } from '../support/orders-bed.ts';
import { people } from '../support/people.ts';
import { type CommandBed, openCommandBed } from './orders-bed.ts';

vi.setConfig({ maxConcurrency: 5 }); // they wait more than they work

const LATE = 8;
/** Only once a test says so, after the run: later than settle. */
const NEVER_MS = 600_000;
const LOAD = ['orders', 'load', 'orders.csv', '--account', 'test'];

interface LateBed extends CommandBed {
  commitsBy(operation: string): Promise<number>;
  /** What a run owes at its end. On a slow machine its own last read may have paid that already: it is owed again, then. */
  auditOwedBy(run: string): Promise<unknown>;
  /** Makes the late commits, and lets the time pass until all audits are due. */
  commitLateAndLetTimePass(): Promise<void>;
}

/** A service that answers the first writes of an operation with an error, and commits them `lateMs` later. */
async function openBed(
  operation: string,
  { lateMs = NEVER_MS, settleMs = 500, ...more }: BehaviourOptions & { lateMs?: number; settleMs?: number } = {},
): Promise<LateBed> {
  const faults = { rate: 1, kinds: ['late-commit' as const], lateMs, limit: LATE, operations: [operation] };
  const account = `budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: ${settleMs}ms, concurrency: 16 }`;
  const bed = await openCommandBed({ account, behaviour: { faults, ...more } });
  const { pool } = bed.database;
  return {
    ...bed,
    async commitsBy(name) {
      const found = await pool.query('select count(*)::int as n from service.commits where operation = $1', [name]);
      return found.rows[0].n;
    },
    async auditOwedBy(run) {
      await pool.query(`update ledger.audit_debts set paid_at = null, doubt_at = clock_timestamp() + interval '1 h'`);
      return (await bed.here('runs', 'show', run)).json.audit;
    },
    async commitLateAndLetTimePass() {
      await bed.service.commitLate();
      await pool.query(`update ledger.audit_debts set doubt_at = doubt_at - interval '3 h'`);
      await pool.query(`update ledger.rows set since = since - interval '3 h'`);
      await pool.query(
        `update ledger.runs set created_at = created_at - interval '3 h', ended_at = ended_at - interval '3 h'`,
      );
    },
  };
}

/** Each within the settle time, and together not. */
const LATE_AND_HIDDEN = { settleMs: 800, lateMs: 600, readLagMs: 600 };

test('orders that are committed just within settle, and shown just within settle, are created once', async () => {
  const bed = await openBed('orders.create', LATE_AND_HIDDEN);
  onTestFinished(() => bed.close());
  await bed.addNumberedCustomers(3);
  await bed.database.pool.query(`update service.customers set created_at = created_at - interval '1 minute'`);
  await bed.file('orders.csv', ordersCsv(30));
  const { code, json } = await bed.here(...LOAD);
  expect([code, json.counts.created, json.audit]).toEqual([0, 30, undefined]);
  expect(await bed.orderCommits()).toEqual(eachOnce(30));
});

test('customers that are committed just within settle, and shown just within settle, are imported once', async () => {
  const bed = await openBed('customers.import', LATE_AND_HIDDEN);
  onTestFinished(() => bed.close());
  await bed.addContacts(people(30));
  await bed.database.pool.query(`update service.contacts set created_at = created_at - interval '1 minute'`);
  const { code, json } = await bed.here('run', 'contacts');
  expect([code, json.counts.created, json.audit]).toEqual([0, 30, undefined]);
  expect(await bed.commitsBy('customers.import')).toBe(30);
});

/** Loads 200 orders, of which the first are committed once more after the load, and waits until their audit is due. */
async function loadWithDoubles({ onTestFinished }: TestContext) {
  const bed = await openBed('orders.create');
  onTestFinished(() => bed.close());
  await bed.addNumberedCustomers(3);
  await bed.file('orders.csv', ordersCsv(200));
  const { code, json } = await bed.here(...LOAD);
  expect([code, json.counts.created]).toEqual([0, 200]);
  expect(await bed.auditOwedBy(json.run)).toEqual({ open: LATE, dueAt: expect.any(String), violations: 0 });
  const { stdout } = await command(['runs', '--config', 'lockstep.yaml'], bed.around);
  expect(stdout).toMatch(/ done, auditing until \d{4}-/);
  const shown = await command(['runs', 'show', json.run, '--config', 'lockstep.yaml'], bed.around);
  expect(shown.stdout).toMatch(/The run is auditing until \d{4}-.*: 8 rows were sent again after an unknown outcome/);
  await bed.commitLateAndLetTimePass();
  expect(await bed.commitsBy('orders.create')).toBe(200 + LATE);
  return { bed, run: json.run as string };
}

/** The orders that the commit log has more than once, as a report names them. */
async function doublesOf({ database }: CommandBed): Promise<string[]> {
  const found = await database.pool.query(
    `select string_agg(record_id::text, ', ' order by record_id) as ids from service.commits
     where operation = 'orders.create' group by natural_key having count(*) > 1`,
  );
  return found.rows.map(({ ids }) => ids).sort();
}

test.concurrent('orders that are committed later than settle are reported by the same command, run again', async (context) => {
  const { bed, run } = await loadWithDoubles(context);
  const { code, json, stderr } = await bed.here(...LOAD);
  expect([code, json.run, json.counts]).toMatchObject([1, run, { in: 200, created: 192, review: LATE }]);
  expect(json.audit).toEqual({ open: 0, dueAt: null, violations: LATE });
  const found = json.violations as { run: string; reason: string; ids: string[] }[];
  expect(found.map(({ ids }) => ids.join(', ')).sort()).toEqual(await doublesOf(bed));
  expect(new Set(found.map((one) => `${one.run} ${one.reason}`))).toEqual(new Set([`${run} DUPLICATE`]));
  expect(stderr).toMatch(new RegExp(`lockstep: run ${run}, O-\\d+: .* more than one order .*: \\d+, \\d+\\. Delete`));
  const again = await bed.here(...LOAD);
  expect([again.code, again.json.violations]).toEqual([1, undefined]); // a row for a person, found before
});

test.concurrent('a command that does not read the orders makes the audit that is due, and ends with 1', async (context) => {
  const { bed, run } = await loadWithDoubles(context);
  const { code, json } = await bed.here('run', 'contacts');
  expect([code, json.counts.in, json.violations.length]).toEqual([1, 0, LATE]);
  expect((await bed.here('run', 'contacts')).code).toBe(0);
  const { json: shown } = await bed.here('runs', 'show', run);
  expect(shown).toMatchObject({ status: 'done', counts: { in: 200, created: 192, review: LATE } });
  expect(shown.reasons).toEqual([{ verdict: 'review', reason: 'DUPLICATE', count: LATE }]);
  const { json: listed } = await bed.here('runs');
  expect(listed.runs[1]).toMatchObject({ sync: 'audit:test:orders', title: 'audit of orders', status: 'done' });
});

test.concurrent('start makes the audit of customers that came later than settle by itself', async ({
  onTestFinished,
}) => {
  const bed = await openBed('customers.import', { customersCarryContactId: false });
  onTestFinished(() => bed.close());
  await bed.addContacts(people(40));
  const { code, json } = await bed.here('run', 'contacts');
  expect([code, json.counts.created, await bed.auditOwedBy(json.run)]).toMatchObject([0, 40, { open: LATE }]);
  await bed.commitLateAndLetTimePass();
  const working = bed.start('start', '--roles', 'worker');
  const shown = async () => (await bed.here('runs', 'show', json.run)).json;
  await vi.waitFor(async () => expect((await shown()).audit.open).toBe(0), { timeout: 60_000, interval: 100 });
  expect(await shown()).toMatchObject({
    counts: { in: 40, created: 40 - LATE, review: LATE },
    audit: { violations: LATE },
  });
  working.signal('SIGTERM');
  expect((await working.ended).stderr).toContain(json.run);
});

test.concurrent('customers that a load has created, and that come later than settle, are audited with the load', async ({
  onTestFinished,
}) => {
  const bed = await openBed('customers.create');
  onTestFinished(() => bed.close());
  const rows = Array.from({ length: 20 }, (_, i) => `O-${i + 1},new${i + 1}@example.com`);
  await bed.file('orders.csv', csvOf('order_id,customer_email', rows));
  const first = await bed.here(...LOAD, '--create-customers');
  expect([first.code, first.json.counts.created]).toEqual([0, 20]);
  expect(await bed.auditOwedBy(first.json.run)).toMatchObject({ open: LATE });
  await bed.commitLateAndLetTimePass();
  const { code, json } = await bed.here(...LOAD, '--create-customers');
  expect([code, json.audit, json.violations.length]).toMatchObject([1, { open: 0, violations: LATE }, LATE]);
});

test.concurrent('a dry run finds what its reads show, and writes nothing at the service', async ({
  onTestFinished,
}) => {
  const bed = await openBed('customers.import');
  onTestFinished(() => bed.close());
  await bed.addContacts(people(40));
  const { json } = await bed.here('run', 'contacts');
  expect(await bed.auditOwedBy(json.run)).toMatchObject({ open: LATE });
  await bed.commitLateAndLetTimePass();
  const before = bed.writesSeen();
  const dry = await bed.here('run', 'contacts', '--dry-run');
  expect([dry.code, dry.json.violations.length, bed.writesSeen()]).toEqual([1, LATE, before]);
});

test.concurrent('orders that a cancelled load left unknown, and another load sends again, are audited too', async ({
  onTestFinished,
}) => {
  const bed = await openBed('orders.create', { settleMs: 3_000 });
  onTestFinished(() => bed.close());
  await bed.addNumberedCustomers(3);
  await bed.file('orders.csv', ordersCsv(30));
  const { json: begun } = await bed.here(...LOAD, '--detach');
  await bed.workspace.work();
  const isSent = () => expect(bed.service.faults().get('late-commit')).toBe(LATE);
  await vi.waitFor(isSent, { timeout: 20_000, interval: 10 });
  expect((await bed.here('runs', 'cancel', begun.run)).code).toBe(0);
  const { code, json } = await bed.here(...LOAD);
  expect([code, json.counts.in, await bed.auditOwedBy(json.run)]).toMatchObject([0, 30, { open: LATE }]);
});
