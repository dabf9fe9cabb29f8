/** How a read of the orders pays debts that are due. The same for customers: test/e2e/audits.test.ts. */
import { afterAll, expect, test } from 'vitest';
import {
  type AuditingRead,
  auditsOf,
  dueAudits,
  payDebts,
  violationsFoundBy,
} from '../../../src/engine/ledger/audit-debts.ts';
import { beginRead } from '../../../src/engine/ledger/match-index.ts';
import { pruneLedger } from '../../../src/engine/ledger/retention/prune.ts';
import { endRun } from '../../../src/engine/ledger/run-status.ts';
import type { Run } from '../../../src/engine/ledger/runs.ts';
import { bindAccount, newScope } from '../../../src/engine/ledger/scopes/scopes.ts';
import { decideMissing, gatherSent } from '../../../src/engine/ledger/settling.ts';
import { inTransaction } from '../../../src/storage/transaction.ts';
import { aRun, freshLedger, putRows, rowsOf } from './fresh-ledger.ts';
import { putRecords } from './matching/contact-worlds.ts';

const MINUTE_MS = 60_000;
const SETTLE_MS = MINUTE_MS;
const DUE_MS = 3 * SETTLE_MS;

const database = await freshLedger();
afterAll(() => database.close());

const auditOf = async (id: string) => (await auditsOf(database.pool, [id])).get(id);

const CREATED = { state: 'settled', verdict: 'created', record_id: '5' };
const MATCHES = `select d.run_id, d.source_id, k.record_id from due d join ledger.records k
  on k.run_id = $1 and k.last_pass = $2 and k.label = d.label`;

/** A load whose row A was sent again this long ago, after an unknown outcome. It is done unless it is to continue. */
async function loadWith(row: Readonly<Record<string, unknown>>, { agoMs = DUE_MS + 1_000, goesOn = false } = {}) {
  const run = await aRun(database, { type: 'orders', resource: 'orders of a file' });
  const since = new Date(Date.now() - agoMs);
  await putRows(database, run, [
    { source_id: '1', label: 'A', client_id: '7', action: 'create', state: 'unknown', since },
    { source_id: '2', label: 'B', state: 'settled', verdict: 'created' },
  ]);
  await inTransaction(database.pool, async (db) => {
    await gatherSent(db, run.id);
    const read = { pass: 1, readAt: new Date(), settleMs: SETTLE_MS, isWhole: true, isLookedUp: true };
    const none = {
      strangers: 'select from ledger.runs where id = $1 and false',
      candidates: 'select null::text where false',
      values: [],
    };
    await decideMissing(db, run, read, { resource: 'orders', ...none });
  });
  const { state, verdict = null, record_id = null, reason = null } = { ...CREATED, ...row } as Record<string, unknown>;
  await database.pool.query(
    `update ledger.rows set state = $2, verdict = $3, record_id = $4, reason = $5 where run_id = $1 and source_id = '1'`,
    [run.id, state, verdict, record_id, reason],
  );
  await database.pool.query(`update ledger.audit_debts set doubt_at = $2 where run_id = $1`, [run.id, since]);
  if (!goesOn) await endRun(database.pool, run.id, 'done');
  return run;
}

/** Reads a list with these orders called A, for the account of `run`. */
async function readWith({ account }: Run, ids: readonly string[], how: Partial<AuditingRead> = {}) {
  const reader = await aRun(database, { account, resource: 'audit:orders', type: 'audit' });
  await putRecords(
    database,
    reader,
    ids.map((record_id) => ({ record_id, label: 'A', last_pass: 1 })),
  );
  const read = { kind: 'order', pass: 1, isComplete: true, matches: MATCHES, ...how } as const;
  await beginRead(database.pool, reader.id, read);
  const found = await inTransaction(database.pool, (db) => payDebts(db, reader, read));
  await endRun(database.pool, reader.id, 'done');
  return { reader, found };
}

const countsOf = async ({ id }: Run) =>
  (await database.pool.query('select counts from ledger.runs where id = $1', [id])).rows[0].counts;

test('an order found once pays its debt, and the run is unchanged', async () => {
  const run = await loadWith({});
  expect(await auditOf(run.id)).toMatchObject({ open: 1, violations: 0 });
  expect(await dueAudits(database.pool, [run.account])).toEqual([
    { account: run.account, scope: run.scope, resource: 'orders' },
  ]);
  expect((await readWith(run, ['5'])).found).toEqual([]);
  expect(await auditOf(run.id)).toBeUndefined();
  expect(await dueAudits(database.pool, [run.account])).toEqual([]);
  expect(await countsOf(run)).toEqual({ created: 2 });
});

test.each([
  ['twice', ['10', '5'], 'DUPLICATE', { what: 'order', audit: true, ids: ['5', '10'] }],
  ['no longer', [], 'LOST', { what: 'order', id: '5' }],
])(
  'an order that is there %s becomes a row for a person, and the counts of its run follow',
  async (_how, ids, reason, facts) => {
    const run = await loadWith({});
    const { reader, found } = await readWith(run, ids);
    expect(found).toMatchObject([{ run: run.id, row: '1', label: 'A', reason, ids: ids.toReversed() }]);
    expect((await rowsOf(database, run))[0]).toMatchObject({
      state: 'settled',
      verdict: 'review',
      reason,
      record_id: '5',
      facts,
    });
    expect(await countsOf(run)).toEqual({ created: 1, review: 1 });
    expect(await violationsFoundBy(database.pool, [reader.id])).toEqual(found);
    expect(await auditOf(run.id)).toEqual({ open: 0, dueAt: null, violations: 1, undecided: 1, inReview: 1 });
    expect((await readWith(run, ids)).found).toEqual([]); // reported once
  },
);

test('an audit that is still open after retention has deleted old rows finds its violation', async () => {
  const run = await loadWith({});
  await database.pool.query(
    `update ledger.runs set created_at = created_at - interval '100 days', ended_at = ended_at - interval '100 days' where id = $1`,
    [run.id],
  );
  await pruneLedger(database.pool, { rowsMs: 90 * 24 * 60 * MINUTE_MS, runsMs: 90 * 24 * 60 * MINUTE_MS });
  expect((await rowsOf(database, run)).map(({ source_id }) => source_id)).toEqual(['1']);
  expect((await readWith(run, ['5', '10'])).found).toMatchObject([{ run: run.id, row: '1', reason: 'DUPLICATE' }]);
  expect(await countsOf(run)).toEqual({ created: 1, review: 1 });
});

test.each([
  ['it is not due yet', { agoMs: DUE_MS - 5_000 }, {}, {}],
  ['its run still sends the row', { goesOn: true }, { state: 'acked', verdict: null, record_id: null }, {}],
  ['the list belongs to another resource', {}, {}, { kind: 'customer' }],
] as const)('a read pays nothing where %s', async (_why, load, row, how) => {
  const run = await loadWith(row, load);
  expect((await readWith(run, ['5', '6'], how)).found).toEqual([]);
  expect(await auditOf(run.id)).toMatchObject({ open: 1 });
});

test('an incomplete list reports orders found twice, and pays no other debt', async () => {
  const run = await loadWith({});
  await readWith(run, [], { isComplete: false });
  await readWith(run, ['5'], { isComplete: false });
  expect(await auditOf(run.id)).toMatchObject({ open: 1 });
  expect((await readWith(run, ['5', '6'], { isComplete: false })).found).toMatchObject([{ reason: 'DUPLICATE' }]);
});

test.each([
  ['was sent again and refused, and is not there', { verdict: 'rejected', record_id: null }, []],
  ['was never found, and is not there', { verdict: 'review', reason: 'GAVE_UP', record_id: null }, []],
  ['its run has reported, and is there twice', { verdict: 'review', reason: 'DUPLICATE' }, ['5', '6']],
])('a row that %s is no new violation', async (_what, row, ids) => {
  const run = await loadWith(row);
  expect((await readWith(run, ids)).found).toEqual([]);
  expect(await auditOf(run.id)).toBeUndefined();
});

test('an audit with debts left unpaid is not repeated at once', async () => {
  const run = await loadWith({});
  await readWith(run, [], { isComplete: false });
  await database.pool.query(
    `update ledger.runs set options = '{"resource": "orders"}' where job = 'audit' and account = $1`,
    [run.account],
  );
  expect(await dueAudits(database.pool, [run.account])).toEqual([]);
});

test('debts that are due one after the other are audited together, and the first one waits no longer than it waited to be due', async () => {
  const first = await loadWith({});
  const next = await loadWith({}, { agoMs: DUE_MS - MINUTE_MS });
  for (const run of [first, next])
    await database.pool.query(`update ledger.audit_debts set scope = $2 where run_id = $1`, [run.id, first.scope]);
  const isDue = async () => (await dueAudits(database.pool, [first.account])).length > 0;
  const sentEarlier = ({ id }: Run, ms: number) =>
    database.pool.query(
      `with debt as (update ledger.audit_debts set doubt_at = doubt_at - $2 * interval '1 ms' where run_id = $1)
       update ledger.attempts set at = at - $2 * interval '1 ms' where run_id = $1`,
      [id, ms],
    );
  expect(await isDue()).toBe(false);
  await sentEarlier(first, DUE_MS);
  expect(await isDue()).toBe(true);
  await sentEarlier(first, -DUE_MS);
  expect(await isDue()).toBe(false);
  await sentEarlier(next, MINUTE_MS);
  expect(await isDue()).toBe(true);
});

test('a run stops auditing once its account belongs to another tenant', async () => {
  const run = await loadWith({});
  expect(await auditOf(run.id)).toMatchObject({ open: 1 });
  await bindAccount(database.pool, run.account, await newScope(database.pool, run.account));
  expect(await auditOf(run.id)).toBeUndefined();
});

test('a debt outlives its run', async () => {
  const run = await loadWith({});
  await database.pool.query('delete from ledger.runs where id = $1', [run.id]);
  expect(await dueAudits(database.pool, [run.account])).toHaveLength(1);
  await readWith(run, ['5', '6']);
  expect(await dueAudits(database.pool, [run.account])).toEqual([]);
});
