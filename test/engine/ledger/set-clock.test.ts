/** Waiting times in the ledger while the database's clock is set. */
import { afterAll, expect, test, vi } from 'vitest';
import { auditsOf, oweAudits } from '../../../src/engine/ledger/audit-debts.ts';
import { unsettledForMs } from '../../../src/engine/ledger/baseline-wait.ts';
import { dropDeadClaims, extendClaim } from '../../../src/engine/ledger/claims.ts';
import { beginRead, startOfRead } from '../../../src/engine/ledger/match-index.ts';
import { ledgerMigrations } from '../../../src/engine/ledger/migrations.ts';
import { claimRows, recordAttempts } from '../../../src/engine/ledger/rows.ts';
import { endRun } from '../../../src/engine/ledger/run-status.ts';
import type { Run } from '../../../src/engine/ledger/runs.ts';
import { askToProbe, suspendAccount } from '../../../src/engine/ledger/scopes/suspensions.ts';
import { ledgerNow } from '../../../src/engine/ledger/set-clock.ts';
import { settleSent } from '../../../src/engine/ledger/settling.ts';
import { settleRows } from '../../../src/engine/ledger/transitions.ts';
import { migrate } from '../../../src/storage/migrate.ts';
import { makePool } from '../../../src/storage/pool.ts';
import { inTransaction } from '../../../src/storage/transaction.ts';
import { emptyDatabase } from '../../support/database.ts';
import { settableClock } from '../../support/settable-clock.ts';
import { makeRowsWritable } from '../../support/writable-rows.ts';
import { aRun, claimOn, putRows, readyRows, WORKER } from './fresh-ledger.ts';

const HOUR_MS = 60 * 60 * 1000;
/** A claim may have been renewed since the clock was set back, so it ends no sooner than this. */
const LONGEST_CLAIM_MS = 120_000;
const ELSEWHERE = { ...WORKER, id: 'elsewhere', host: 'another host' };

const database = await emptyDatabase();
const clock = await settableClock(database);
await migrate(database.pool, 'ledger', await ledgerMigrations());
await makeRowsWritable(database.pool);
afterAll(() => database.close());

async function waitOf(sql: string): Promise<number> {
  const found = await database.pool.query<{ ms: number }>(
    `select (extract(epoch from (${sql}) - clock_timestamp()) * 1000)::float8 as ms`,
  );
  return found.rows[0]?.ms ?? Number.NaN;
}

const steps = [HOUR_MS, -HOUR_MS, 5_000, -5_000, 1e10, -1e10];

test.each(steps)(
  'set by %d ms, a claim ends at its real time, and an unknown outcome has waited its real time',
  async (ms) => {
    const run = await aRun(database);
    await putRows(database, run, readyRows(1));
    const [alive, other] = [await claimOn(database, run), await claimOn(database, run, { worker: ELSEWHERE })];
    const [row] = await claimRows(database.pool, alive, 1);
    if (row) await recordAttempts(database.pool, alive, [{ ...row, outcome: 'unknown', sends: 1 }]);
    await ledgerNow(database.pool);
    await clock.setBy(ms);
    await ledgerNow(database.pool);
    expect(await dropDeadClaims(database.pool)).toBe(0);
    expect(await extendClaim(database.pool, 'ledger.claims', alive)).toBe(true);
    expect(await waitOf(`select expires_at from ledger.claims where id = ${other.id}`)).toBeLessThanOrEqual(
      LONGEST_CLAIM_MS,
    );
    const sinceMs = -(await waitOf(`select since from ledger.rows where run_id = '${run.id}'`));
    expect(sinceMs).toBeGreaterThanOrEqual(0);
    expect(sinceMs).toBeLessThan(5_000);
    await endRun(database.pool, run.id, 'failed', { code: 'X', message: 'x' });
    await database.pool.query('delete from ledger.claims');
    await clock.setBy(ms);
    const openMs = async () => {
      await ledgerNow(database.pool);
      return unsettledForMs(database.pool, { ...run, id: 'another' }, 60_000);
    };
    expect(await openMs()).toBeGreaterThan(110_000);
    expect(await openMs()).toBeLessThanOrEqual(120_000);
  },
);

test('set forward with the clock of this machine, an unknown outcome has waited its real time, and a claim has ended', async () => {
  const run = await aRun(database);
  await putRows(database, run, readyRows(1));
  const claim = await claimOn(database, run, { worker: ELSEWHERE });
  const [row] = await claimRows(database.pool, claim, 1);
  if (row) await recordAttempts(database.pool, claim, [{ ...row, outcome: 'unknown', sends: 1 }]);
  await ledgerNow(database.pool);
  await clock.setBy(HOUR_MS);
  const wall = Date.now;
  const set = vi.spyOn(Date, 'now').mockImplementation(() => wall() + HOUR_MS);
  await ledgerNow(database.pool);
  set.mockRestore();
  const sinceMs = -(await waitOf(`select since from ledger.rows where run_id = '${run.id}'`));
  expect(sinceMs).toBeGreaterThanOrEqual(0);
  expect(sinceMs).toBeLessThan(5_000);
  expect(await dropDeadClaims(database.pool)).toBe(1);
});

test('set back, a pause of an account, a target, a delivery or a report lasts no longer than planned', async () => {
  await suspendAccount(database.pool, 'demo', 'no');
  await database.pool.query(`
    insert into ledger.target_states (target, blocked_until) values ('hook', clock_timestamp() + interval '30 s');
    insert into ledger.delivery_claims (target, worker, expires_at) values ('hook', '{}', clock_timestamp() + interval '30 s');
    insert into ledger.item_reports (target, item_id, is_completed, status, source, state, due_at, held_until)
      values ('hook', '1', true, '', 'hook', 'waiting', clock_timestamp() + interval '5 s', clock_timestamp() + interval '30 s');
    insert into ledger.creations (scope, target, source_id) values ('demo', 'out', 'task:1')`);
  await ledgerNow(database.pool);
  await clock.setBy(-HOUR_MS);
  await ledgerNow(database.pool);
  for (const at of [
    'select blocked_until from ledger.target_states',
    'select due_at from ledger.item_reports',
    'select held_until from ledger.item_reports',
  ]) {
    expect(await waitOf(at), at).toBeLessThanOrEqual(30_000);
    expect(await waitOf(at), at).toBeGreaterThan(0);
  }
  expect(await waitOf('select expires_at from ledger.delivery_claims')).toBeLessThanOrEqual(LONGEST_CLAIM_MS);
  expect(await waitOf('select at from ledger.creations')).toBeLessThanOrEqual(0);
  expect(await waitOf('select at from ledger.creations')).toBeGreaterThan(-30_000);
  expect(await askToProbe(database.pool, 'demo')).toMatchObject({
    status: 'suspended',
    probeInMs: expect.closeTo(1_000, -4),
  });
});

test.each(steps)('set by %d ms, a target may make an unclear change for its real time', async (ms) => {
  await database.pool.query(`
    insert into ledger.deliveries (id, target, scope, sync, kind, task_id, sequence, event, task, state, seen_at, due_at, unclear_at)
      values ('unclear ${ms}', 'hook', 'demo', 'm', 'task', '1', 1, 'changed', '{}', 'waiting', now(), now(), clock_timestamp())`);
  await ledgerNow(database.pool);
  await clock.setBy(ms);
  await ledgerNow(database.pool);
  const sinceMs = -(await waitOf(`select unclear_at from ledger.deliveries where id = 'unclear ${ms}'`));
  expect(sinceMs).toBeGreaterThanOrEqual(0);
  expect(sinceMs).toBeLessThan(5_000);
});

test('set back while no process ran, the first process that starts notices', async () => {
  const run = await aRun(database);
  const claim = await claimOn(database, run, { worker: ELSEWHERE });
  await database.pool.query('update ledger.clock set seen_at = clock_timestamp()');
  await clock.setBy(-HOUR_MS);
  const later = makePool(database.connection);
  await ledgerNow(later);
  await later.end();
  expect(await waitOf(`select expires_at from ledger.claims where id = ${claim.id}`)).toBeLessThanOrEqual(
    LONGEST_CLAIM_MS,
  );
});

test('of many processes that notice, one moves the times', async () => {
  const run = await aRun(database);
  const claim = await claimOn(database, run, { worker: ELSEWHERE });
  const pools = Array.from({ length: 6 }, () => makePool({ ...database.connection, max: 1 }));
  await Promise.all(pools.map(ledgerNow));
  await clock.setBy(-HOUR_MS);
  await Promise.all(pools.map(ledgerNow));
  await Promise.all(pools.map((pool) => pool.end()));
  const leftMs = await waitOf(`select expires_at from ledger.claims where id = ${claim.id}`);
  expect(leftMs).toBeGreaterThan(20_000);
  expect(leftMs).toBeLessThanOrEqual(LONGEST_CLAIM_MS);
});

const SETTLE_MS = 60_000;

/** A run with a row that was sent just now with an unknown outcome. */
async function aSentRow() {
  const run = await aRun(database, { type: 'orders' });
  await putRows(database, run, [{ source_id: '1', action: 'create', label: 'A', client_id: '7' }]);
  const claim = await claimOn(database, run);
  const send = async () => {
    const [row] = await claimRows(database.pool, claim, 1);
    if (row) await recordAttempts(database.pool, claim, [{ ...row, outcome: 'unknown', sends: 1 }]);
  };
  return { run, claim, send };
}

/** Settles by a read of pass 1 that has shown nothing. */
function settleByRead(run: Run) {
  return inTransaction(database.pool, async (db) => {
    const readAt = await startOfRead(db, run.id, { kind: 'order', pass: 1 });
    if (!readAt) throw new Error('the read has not begun');
    const read = { pass: 1, readAt, settleMs: SETTLE_MS, isWhole: true, isLookedUp: true };
    const none = {
      strangers: 'select from ledger.runs where id = $1 and false',
      candidates: 'select null::text where false',
      values: [],
    };
    return settleSent(db, run, read, { resource: 'orders', ...none, settleFound: async () => {} });
  });
}

test.each([HOUR_MS, -HOUR_MS])('set by %d ms while a list is read, the read proves no more than before', async (ms) => {
  const { run, send } = await aSentRow();
  await send();
  await ledgerNow(database.pool);
  await beginRead(database.pool, run.id, { kind: 'order', pass: 1 });
  await clock.setBy(ms);
  await ledgerNow(database.pool);
  expect(await settleByRead(run)).toMatchObject({ ready: 0, open: 1 });
});

test('set back and not noticed yet, nothing waits longer than a record may take to appear', async () => {
  const { run, send } = await aSentRow();
  await send();
  await ledgerNow(database.pool);
  await beginRead(database.pool, run.id, { kind: 'order', pass: 1 });
  await clock.setBy(-HOUR_MS);
  expect((await settleByRead(run)).againInMs).toBeLessThanOrEqual(2 * SETTLE_MS);
  await database.pool.query(`update ledger.runs set open_since = clock_timestamp() + interval '1 hour' where id = $1`, [
    run.id,
  ]);
  const another = { ...run, id: 'another' };
  expect(await unsettledForMs(database.pool, another, SETTLE_MS)).toBeLessThanOrEqual(2 * SETTLE_MS);
  await ledgerNow(database.pool);
});

test('what is sent and claimed between a change back and its notice is neither too old nor taken over', async () => {
  const { run, claim, send } = await aSentRow();
  await ledgerNow(database.pool);
  await clock.setBy(-HOUR_MS);
  await send();
  const renewed = await claimOn(database, run);
  await ledgerNow(database.pool);
  const sinceMs = -(await waitOf(`select since from ledger.rows where run_id = '${run.id}'`));
  expect(sinceMs).toBeLessThan(5_000);
  expect(await dropDeadClaims(database.pool)).toBe(0);
  for (const one of [claim, renewed]) expect(await extendClaim(database.pool, 'ledger.claims', one)).toBe(true);
});

test.each(steps)('set by %d ms, the audit of a settled row is due after its real time', async (ms) => {
  const { run, send } = await aSentRow();
  await oweAudits(database.pool, run, 'orders', [0], SETTLE_MS);
  await send();
  await settleRows(database.pool, run.id, {
    sql: `select 0 as n, 'created' as verdict, null as reason, null::jsonb as facts, '7' as record_id`,
  });
  await endRun(database.pool, run.id, 'done');
  await ledgerNow(database.pool);
  await clock.setBy(ms);
  await ledgerNow(database.pool);
  const dueAt = (await auditsOf(database.pool, [run.id])).get(run.id)?.dueAt;
  const leftMs = await waitOf(`'${dueAt?.toISOString()}'::timestamptz`);
  expect(leftMs).toBeLessThanOrEqual(3 * SETTLE_MS);
  expect(leftMs).toBeGreaterThan(3 * SETTLE_MS - 10_000);
});

test('leaves a running clock alone, however long between two checks', async () => {
  const times = () => database.pool.query('select times_set from ledger.clock');
  const before = await times();
  for (let look = 0; look < 20; look++) await ledgerNow(database.pool);
  expect((await times()).rows).toEqual(before.rows);
});
