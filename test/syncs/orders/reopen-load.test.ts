/** A load that has ended, opened again for what failed in it. */
import { afterAll, expect, test } from 'vitest';
import { dropDeadClaims } from '../../../src/engine/ledger/claims.ts';
import { sentBeforeUnsettledForMs } from '../../../src/engine/ledger/matching/staged-orders.ts';
import { claimRows } from '../../../src/engine/ledger/rows.ts';
import { type Run, readRun } from '../../../src/engine/ledger/runs.ts';
import { matchRows } from '../../../src/engine/ledger/transitions.ts';
import { checkpointOf, saveCheckpoint } from '../../../src/syncs/orders/load-checkpoint.ts';
import { reopenLoad } from '../../../src/syncs/orders/reopen-load.ts';
import { claimOn, freshLedger, putRows, rowsOf } from '../../engine/ledger/fresh-ledger.ts';
import { aLoad, aSpec, beginNew, type Columns, end, fateOf } from '../../engine/ledger/matching/load-worlds.ts';

const SETTLE_MS = 60_000;

const database = await freshLedger();
afterAll(() => database.close());

async function endedWith(rows: readonly Columns[], how: 'done' | 'failed' | 'cancelled' = 'done'): Promise<Run> {
  const run = await aLoad(database);
  const settled = { state: 'settled', action: 'create', client_id: '7', label: 'A' };
  await putRows(
    database,
    run,
    rows.map((row, i) => ({ ...settled, ...row, source_id: String(i) })),
  );
  await end(database, run, how);
  return run;
}

const kept = [
  { verdict: 'created' },
  { verdict: 'updated', action: 'update' },
  { verdict: 'invalid', reason: 'RAGGED' },
  { verdict: 'review', reason: 'DUPLICATE' },
  { verdict: 'review', reason: 'CONTENT_DIFFERS' },
  { verdict: 'review', reason: 'GAVE_UP' },
  { verdict: 'review', reason: 'NOT_IN_LIST' },
  { verdict: 'review', reason: 'LOST' },
];
const again = [
  { verdict: 'rejected', reason: 'CUSTOMER_UNKNOWN' },
  { verdict: 'rejected', reason: 'REFUSED_BY_SERVICE' },
  { verdict: 'review', reason: 'GAVE_UP', action: 'update' },
  { verdict: 'review', reason: 'DIFFERS' },
  { verdict: 'review', reason: 'ORDER_IN_ANOTHER_LOAD' },
  { verdict: 'unknown' },
  { state: 'ready' },
  { state: 'unknown' },
  { state: 'acked' },
];

test.each(kept)(
  'leaves orders that exist or may exist, and rows that are wrong in the file, unchanged: $verdict $reason',
  async (row) => {
    const run = await endedWith([row, { verdict: 'rejected', reason: 'X' }]);
    const [before] = await rowsOf(database, run);
    expect(await reopenLoad(database.pool, run.id)).toBe(1);
    expect((await rowsOf(database, run))[0]).toEqual(before);
  },
);

test('an update that failed is decided from what its row says, not from what the order said then', async () => {
  const own = { order_id: 'A', amount: '12' };
  const refused = { verdict: 'rejected', reason: 'REFUSED_BY_SERVICE', action: 'update' };
  const run = await endedWith([{ ...refused, fields: own }]);
  await database.pool.query('update ledger.plans set fields = $2 where run_id = $1', [
    run.id,
    { ...own, status: 'old' },
  ]);
  await reopenLoad(database.pool, run.id);
  expect(await rowsOf(database, run)).toMatchObject([{ state: 'staged', fields: own }]);
  expect((await rowsOf(database, run))[0]?.fields).toEqual(own);
});

test.each(again)('decides again what failed or was left open: $state $verdict $reason', async (row) => {
  const run = await endedWith([{ ...row, facts: { said: 'x' } }], 'cancelled');
  expect(await reopenLoad(database.pool, run.id)).toBe(1);
  expect(await rowsOf(database, run)).toMatchObject([
    { state: 'staged', verdict: null, reason: null, facts: null, action: null, client_id: '7' },
  ]);
});

test.each([true, false])(
  'a reopened load begins at its customers, and stays approved or not: %s',
  async (isCleared) => {
    const run = await endedWith([{ verdict: 'rejected' }, { verdict: 'created', sends: 1 }, { verdict: 'existing' }]);
    await saveCheckpoint(database.pool, run.id, { step: 'orders', isCleared });
    await reopenLoad(database.pool, run.id);
    const open = await readRun(database.pool, run.id);
    expect(open).toMatchObject({ status: 'running', phase: 'load-orders', rowsSettled: 1 });
    expect(open.endedAt).toBeUndefined();
    expect(checkpointOf(open)).toEqual({ job: 'orders', step: 'customers', isCleared });
  },
);

test('a customer that a name has found is looked up again; one that the file gave by id stays', async () => {
  const rejected = { verdict: 'rejected', reason: 'REFUSED_BY_SERVICE' };
  const named = { ...rejected, customer: { email: 'ann@x.de' }, email: 'ann@x.de', client_id: null };
  const run = await endedWith([named, rejected]);
  await matchRows(database.pool, run.id, {
    sql: `select 0 as n, 'customer' as kind, '7' as record_id, 'e-mail' as by`,
  });
  await reopenLoad(database.pool, run.id);
  expect((await rowsOf(database, run)).map((row) => [row.client_id, row.email])).toEqual([
    [null, 'ann@x.de'],
    ['7', null],
  ]);
});

test('a load in which nothing failed stays ended', async () => {
  const run = await endedWith(kept);
  const before = await readRun(database.pool, run.id);
  expect(await reopenLoad(database.pool, run.id)).toBe(0);
  expect(await readRun(database.pool, run.id)).toEqual(before);
});

const inDoubt = [
  { how: 'sent just now', row: { state: 'unknown' }, agoMs: 0, forMs: 2 * SETTLE_MS },
  { how: 'settled a while ago', row: { verdict: 'review', sends: 1 }, agoMs: 20_000, forMs: 100_000 },
  { how: 'sent long ago', row: { state: 'acked' }, agoMs: 150_000, forMs: 0 },
  { how: 'never sent', row: { verdict: 'rejected' }, agoMs: null, forMs: 0 },
  { how: 'sent, and fine', row: { verdict: 'created' }, agoMs: 0, forMs: 0 },
];

test.each(inDoubt)('waits for calls that its open rows have sent before: $how', async ({ row, agoMs, forMs }) => {
  const since = agoMs === null ? null : new Date(Date.now() - agoMs);
  const run = await endedWith([{ ...row, since }, { verdict: 'rejected' }], 'cancelled');
  await reopenLoad(database.pool, run.id);
  const waitsMs = await sentBeforeUnsettledForMs(database.pool, run.id, SETTLE_MS);
  expect(Math.abs(waitsMs - forMs)).toBeLessThan(5_000);
});

test('while a worker may still be sending for it, a load is not opened', async () => {
  const run = await aLoad(database);
  const claim = await claimOn(database, run);
  await putRows(database, run, [{ source_id: '1', action: 'create', client_id: '7', label: 'A' }]);
  await claimRows(database.pool, claim, 1);
  await end(database, run, 'cancelled');
  await expect(reopenLoad(database.pool, run.id)).rejects.toMatchObject({ code: 'LOAD_STOPPING', exitCode: 3 });
  expect((await readRun(database.pool, run.id)).status).toBe('cancelled');
  await database.pool.query(`update ledger.claims set expires_at = '-infinity' where id = $1`, [claim.id]);
  expect(await reopenLoad(database.pool, run.id)).toBe(1);
  expect(await sentBeforeUnsettledForMs(database.pool, run.id, SETTLE_MS)).toBeGreaterThan(SETTLE_MS - 5_000);
  expect(await dropDeadClaims(database.pool)).toBe(0);
});

test('a worker that holds no rows does not keep a load from being opened', async () => {
  const run = await aLoad(database);
  await claimOn(database, run);
  await putRows(database, run, [{ source_id: '1', state: 'settled', verdict: 'rejected' }]);
  await end(database, run, 'cancelled');
  expect(await reopenLoad(database.pool, run.id)).toBe(1);
});

test('a load whose file is being loaded again is not opened, and is unchanged', async () => {
  const spec = aSpec();
  const run = await aLoad(database, [], spec);
  await putRows(database, run, [{ source_id: '1', state: 'settled', verdict: 'rejected' }]);
  await end(database, run, 'cancelled');
  await beginNew(database, spec);
  await expect(reopenLoad(database.pool, run.id)).rejects.toMatchObject({ code: 'RUN_IN_THE_WAY', exitCode: 3 });
  expect((await readRun(database.pool, run.id)).status).toBe('cancelled');
  expect((await rowsOf(database, run)).map(fateOf)).toEqual(['settled rejected']);
});
