/** Late commits: within the settle time they are handled once; later ones are found by an audit. */
import { expect, onTestFinished, type TestContext, test, vi } from 'vitest';
import type { BehaviourOptions } from '../../src/service/testbed/behaviour.ts';
import { command } from '../cli/command.ts';
import { csvOf, eachOnce, ordersCsv } from '../support/harness/orders.ts';
import { PATIENT } from '../support/patient.ts';
import { people } from '../support/people.ts';
import { type CommandHarness, openCommandHarness } from './commands.ts';

vi.setConfig({ maxConcurrency: 5 }); // they wait more than they work

const LATE = 8;
/** Late writes are held until the test releases them after the run: later than settle. */
const NEVER_MS = 600_000;
const LOAD = ['orders', 'load', 'orders.csv', '--account', 'test'];

interface LateHarness extends CommandHarness {
  commitsOf(operation: string): Promise<number>;
  /** What a run owes at its end. Where its own last read has paid that already (slow machine), the test makes it due again. */
  auditOwedBy(run: string): Promise<unknown>;
  /** Makes the late commits, and moves the time on until all audits are due. */
  commitLateAndLetTimePass(): Promise<void>;
}

/** A service that answers the first writes of an operation with an error, and commits them `lateMs` later. */
async function openLateService(
  operation: string,
  { lateMs = NEVER_MS, settleMs = 500, ...more }: BehaviourOptions & { lateMs?: number; settleMs?: number } = {},
): Promise<LateHarness> {
  const faults = { rate: 1, kinds: ['late-commit' as const], lateMs, limit: LATE, operations: [operation] };
  const account = `budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: ${settleMs}ms, concurrency: 16 }`;
  // Otherwise one contact would be imported alone first, and would meet all the faults.
  const syncs = { contacts: 'job: contacts, options: { importWith: import }' };
  const harness = await openCommandHarness({ account, syncs, behaviour: { faults, ...more } });
  const { pool } = harness.database;
  return {
    ...harness,
    async commitsOf(name) {
      const found = await pool.query('select count(*)::int as n from service.commits where operation = $1', [name]);
      return found.rows[0].n;
    },
    async auditOwedBy(run) {
      await pool.query(`update ledger.audit_debts set paid_at = null, doubt_at = clock_timestamp() + interval '1 h'`);
      return (await harness.here('runs', 'show', run)).json.audit;
    },
    async commitLateAndLetTimePass() {
      await harness.service.commitLate();
      await pool.query(`update ledger.audit_debts set doubt_at = doubt_at - interval '3 h'`);
      await pool.query(`update ledger.attempts set at = at - interval '3 h'`);
      await pool.query(
        `update ledger.runs set created_at = created_at - interval '3 h', ended_at = ended_at - interval '3 h'`,
      );
    },
  };
}

/** Each delay is within the settle time; their sum is not. */
const LATE_AND_HIDDEN = { settleMs: 800, lateMs: 600, readLagMs: 600 };

test('orders committed and shown just within settle are created once', async () => {
  const harness = await openLateService('orders.create', LATE_AND_HIDDEN);
  onTestFinished(() => harness.close());
  await harness.addNumberedCustomers(3);
  await harness.database.pool.query(`update service.customers set created_at = created_at - interval '1 minute'`);
  await harness.file('orders.csv', ordersCsv(30));
  const { code, json } = await harness.here(...LOAD);
  expect([code, json.counts.created, json.audit]).toEqual([0, 30, undefined]);
  expect(await harness.orderCommits()).toEqual(eachOnce(30));
});

test('customers committed and shown just within settle are imported once', async () => {
  const harness = await openLateService('customers.import', LATE_AND_HIDDEN);
  onTestFinished(() => harness.close());
  await harness.addContacts(people(30));
  await harness.database.pool.query(`update service.contacts set created_at = created_at - interval '1 minute'`);
  const { code, json } = await harness.here('run', 'contacts');
  expect([code, json.counts.created, json.audit]).toEqual([0, 30, undefined]);
  expect(await harness.commitsOf('customers.import')).toBe(30);
});

/** Loads 200 orders, commits the first ones again after the load, and waits until their audit is due. */
async function loadWithDoubles({ onTestFinished }: TestContext) {
  const harness = await openLateService('orders.create');
  onTestFinished(() => harness.close());
  await harness.addNumberedCustomers(3);
  await harness.file('orders.csv', ordersCsv(200));
  const { code, json } = await harness.here(...LOAD);
  expect([code, json.counts.created]).toEqual([0, 200]);
  expect(await harness.auditOwedBy(json.run)).toEqual({
    open: LATE,
    dueAt: expect.any(String),
    violations: 0,
    undecided: 0,
    inReview: 0,
  });
  const { stdout } = await command(['runs', '--config', 'lockstep.yaml'], harness.around);
  expect(stdout).toMatch(/ audit(ing until| due since) \d{4}-/);
  const shown = await command(['runs', 'show', json.run, '--config', 'lockstep.yaml'], harness.around);
  expect(shown.stdout).toMatch(/The audit of the run is due at \d{4}-.*: it checks if 8 rows got a second record\./);
  await harness.commitLateAndLetTimePass();
  expect(await harness.commitsOf('orders.create')).toBe(200 + LATE);
  return { harness, run: json.run as string };
}

/** The orders that are in the commit log more than once, as a report names them. */
async function doublesOf({ database }: CommandHarness): Promise<string[]> {
  const found = await database.pool.query(
    `select string_agg(record_id::text, ', ' order by record_id) as ids from service.commits
     where operation = 'orders.create' group by natural_key having count(*) > 1`,
  );
  return found.rows.map(({ ids }) => ids).sort();
}

test.concurrent('the same command, run again, reports orders committed later than settle', async (context) => {
  const { harness, run } = await loadWithDoubles(context);
  const { code, json, stderr } = await harness.here(...LOAD);
  expect([code, json.run, json.counts]).toMatchObject([1, run, { in: 200, created: 192, review: LATE }]);
  expect(json.audit).toEqual({ open: 0, dueAt: null, violations: LATE, undecided: LATE, inReview: LATE });
  const found = json.violations as { run: string; reason: string; ids: string[] }[];
  expect(found.map(({ ids }) => ids.join(', ')).sort()).toEqual(await doublesOf(harness));
  expect(new Set(found.map((one) => `${one.run} ${one.reason}`))).toEqual(new Set([`${run} DUPLICATE`]));
  expect(stderr).toMatch(
    new RegExp(`lockstep: run ${run}, O-\\d+: The service has more than one order .*: \\d+, \\d+\\. Delete`),
  );
  const again = await harness.here(...LOAD);
  expect([again.code, again.json.violations]).toEqual([1, undefined]); // a row for a person, found before
});

test.concurrent('a command that does not read the orders makes the audit that is due, and ends with 1', async (context) => {
  const { harness, run } = await loadWithDoubles(context);
  const { code, json } = await harness.here('run', 'contacts');
  expect([code, json.counts.in, json.violations.length]).toEqual([1, 0, LATE]);
  expect((await harness.here('run', 'contacts')).code).toBe(0);
  const { json: shown } = await harness.here('runs', 'show', run);
  expect(shown).toMatchObject({ status: 'done', counts: { in: 200, created: 192, review: LATE } });
  expect(shown.reasons).toEqual([{ verdict: 'review', reason: 'DUPLICATE', count: LATE }]);
  const { json: listed } = await harness.here('runs');
  expect(listed.runs[1]).toMatchObject({ sync: 'audit:test:orders', title: 'audit of orders', status: 'done' });
});

test.concurrent('start audits customers that came later than settle', async ({ onTestFinished }) => {
  const harness = await openLateService('customers.import', { customersCarryContactId: false });
  onTestFinished(() => harness.close());
  await harness.addContacts(people(40));
  const { code, json } = await harness.here('run', 'contacts');
  expect([code, json.counts.created, await harness.auditOwedBy(json.run)]).toMatchObject([0, 40, { open: LATE }]);
  await harness.commitLateAndLetTimePass();
  const working = harness.start('start', '--roles', 'worker');
  const shown = async () => (await harness.here('runs', 'show', json.run)).json;
  await vi.waitFor(async () => expect((await shown()).audit.open).toBe(0), { timeout: 60_000, interval: 100 });
  expect(await shown()).toMatchObject({
    counts: { in: 40, created: 40 - LATE, review: LATE },
    audit: { violations: LATE },
  });
  working.signal('SIGTERM');
  expect((await working.ended).stderr).toContain(json.run);
});

/** Loads 20 orders of missing customers, of which the first that were sent are sent again. */
async function loadWithLateCustomers(onTestFinished: TestContext['onTestFinished']) {
  const harness = await openLateService('customers.create');
  onTestFinished(() => harness.close());
  const rows = Array.from({ length: 20 }, (_, i) => `O-${i + 1},new${i + 1}@example.com`);
  await harness.file('orders.csv', csvOf('order_id,customer_email', rows));
  const { code, json } = await harness.here(...LOAD, '--create-customers');
  expect([code, json.counts.created]).toEqual([0, 20]);
  expect(await harness.auditOwedBy(json.run)).toMatchObject({ open: LATE });
  return { harness, run: json.run as string };
}

test.concurrent('customers created by a load that come later than settle are audited with the load', async ({
  onTestFinished,
}) => {
  const { harness } = await loadWithLateCustomers(onTestFinished);
  await harness.commitLateAndLetTimePass();
  const { code, json } = await harness.here(...LOAD, '--create-customers');
  expect([code, json.audit, json.violations.length]).toMatchObject([1, { open: 0, violations: LATE }, LATE]);
});

test.concurrent('a command whose audits are not answered ends, and the next one makes them', async ({
  onTestFinished,
}) => {
  const { harness, run } = await loadWithLateCustomers(onTestFinished);
  await harness.database.pool.query(
    `insert into ledger.audit_debts (run_id, source_id, n, scope, resource, client_id, label, settle_ms)
     select r.id, i.n::text, i.n, r.scope, 'orders', m.record_id, i.label, 500 from ledger.runs r
       join ledger.inputs i on i.run_id = r.id join ledger.matches m on m.run_id = r.id and m.n = i.n and m.kind = 'customer'
     where r.id = $1 limit 1`,
    [run],
  );
  await harness.commitLateAndLetTimePass();
  harness.front.set(async () => ({ status: 503, body: 'away' }));
  const unanswered = await harness.here(...LOAD, '--create-customers');
  expect([unanswered.code, unanswered.json.audit]).toMatchObject([0, { open: LATE + 1, violations: 0 }]);
  expect(unanswered.stderr.match(/the audit was not made: No call of this run succeeded: /g)).toHaveLength(2);
  harness.front.set();
  await harness.commitLateAndLetTimePass();
  const { code, json } = await harness.here(...LOAD, '--create-customers');
  expect([code, json.audit, json.violations.length]).toMatchObject([1, { open: 0, violations: LATE }, LATE]);
});

test.concurrent('the audit by another load recognises orders in another spelling, and reports what is ignored no longer', async ({
  onTestFinished,
}) => {
  const harness = await openLateService('orders.create');
  onTestFinished(() => harness.close());
  await harness.addNumberedCustomers(3);
  const inCapitals = (body: unknown) => String(body).replaceAll('"ord-', '"ORD-');
  harness.front.set(async ({ path }, pass) => {
    const { status = 200, body } = await pass();
    return { status, body: path.endsWith('/orders/getall') ? inCapitals(body) : body };
  });
  await harness.file('orders.csv', ordersCsv(20).replaceAll('O-', 'ord-'));
  const { code, json } = await harness.here(...LOAD);
  expect([code, json.counts.created, await harness.auditOwedBy(json.run)]).toMatchObject([0, 20, { open: LATE }]);
  await harness.commitLateAndLetTimePass();
  await harness.file('others.csv', ordersCsv(3).replaceAll('O-', 'other-'));
  const others = () => harness.here('orders', 'load', 'others.csv', '--account', 'test');
  const audited = await others();
  const found = audited.json.violations as { run: string; row: string; reason: string }[];
  expect([audited.code, found.map(({ reason }) => reason)]).toEqual([1, Array(LATE).fill('DUPLICATE')]);
  const rows = (await harness.here('review')).json.items.map(({ id }: { id: string }) => id);
  expect((await harness.here('review', 'decide', ...rows, '--ignore')).code).toBe(0);
  expect((await others()).code).toBe(0);
});

test.concurrent('a dry run reports what its reads show, and writes nothing at the service', async ({
  onTestFinished,
}) => {
  const harness = await openLateService('customers.import');
  onTestFinished(() => harness.close());
  await harness.addContacts(people(40));
  const { json } = await harness.here('run', 'contacts');
  expect(await harness.auditOwedBy(json.run)).toMatchObject({ open: LATE });
  await harness.commitLateAndLetTimePass();
  const before = harness.writesSeen();
  const dry = await harness.here('run', 'contacts', '--dry-run');
  expect([dry.code, dry.json.violations.length, harness.writesSeen()]).toEqual([1, LATE, before]);
});

test.concurrent('orders that a cancelled load left unknown and another load sends again are audited too', async ({
  onTestFinished,
}) => {
  const harness = await openLateService('orders.create', { settleMs: 3_000 });
  onTestFinished(() => harness.close());
  await harness.addNumberedCustomers(3);
  await harness.file('orders.csv', ordersCsv(30));
  const { json: begun } = await harness.here(...LOAD, '--detach');
  await harness.workspace.work();
  const isSent = () => expect(harness.service.faults().get('late-commit')).toBe(LATE);
  await vi.waitFor(isSent, PATIENT);
  expect((await harness.here('runs', 'cancel', begun.run)).code).toBe(0);
  const { code, json } = await harness.here(...LOAD);
  expect([code, json.counts.in, await harness.auditOwedBy(json.run)]).toMatchObject([0, 30, { open: LATE }]);
});
