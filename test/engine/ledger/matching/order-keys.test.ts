/** Which load owns an order's key while loads run side by side and end in every way. See order-keys-property.test.ts. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { dropClaims } from '../../../../src/engine/ledger/claims.ts';
import {
  holdsItsKeys,
  isHeldUp,
  loadWaitedFor,
  releaseKeys,
  takeKeys,
} from '../../../../src/engine/ledger/matching/order-keys.ts';
import { claimRows } from '../../../../src/engine/ledger/rows.ts';
import { pauseRun, resumeRun } from '../../../../src/engine/ledger/run-status.ts';
import type { Run } from '../../../../src/engine/ledger/runs.ts';
import { settleRows } from '../../../../src/engine/ledger/transitions.ts';
import type { Queryable } from '../../../../src/storage/queryable.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import { mostRows } from '../../../support/statement-work.ts';
import { claimOn, freshLedger, putRows, rowsOf } from '../fresh-ledger.ts';
import { aLoad, type Columns, end, fateOf } from './load-worlds.ts';

const SETTLE_MS = 60_000;
const IN_ANOTHER = 'settled review ORDER_IN_ANOTHER_LOAD';

const database = await freshLedger();
beforeEach(() => database.pool.query('truncate ledger.runs, ledger.order_keys cascade'));
afterAll(() => database.close());

/** A load with these orders of customer 7. */
async function loadOf(labels: readonly string[], row: Columns = {}, dryRun = false): Promise<Run> {
  const run = await aLoad(database, [], { dryRun });
  const staged = { state: 'staged', action: null, client_id: '7', ...row };
  await putRows(
    database,
    run,
    labels.map((label, i) => ({ ...staged, source_id: String(i), label })),
  );
  return run;
}

function take(run: Run): Promise<number> {
  return inTransaction(database.pool, (db) => takeKeys(db, run, SETTLE_MS));
}

async function fates(run: Run): Promise<readonly string[]> {
  return (await rowsOf(database, run)).map((row) => `${row.label} ${fateOf(row)}`);
}

async function setRows(run: Run, columns: Columns): Promise<void> {
  const names = Object.keys(columns);
  const values = names.map((name, i) => `${name} = $${i + 2}`).join(', ');
  await database.pool.query(`update ledger.rows set ${values} where run_id = $1`, [run.id, ...Object.values(columns)]);
}

test('of two loads with one order, the one that came first has it, and the other waits', async () => {
  const [first, second] = [await loadOf(['A', 'B']), await loadOf(['B', 'C'])];
  await take(first);
  await take(second);
  expect(await fates(first)).toEqual(['A staged', 'B staged']);
  expect(await fates(second)).toEqual(['B staged', 'C staged']);
  expect([await loadWaitedFor(database.pool, first), await loadWaitedFor(database.pool, second)]).toEqual([
    undefined,
    first.id,
  ]);
  expect([await holdsItsKeys(database.pool, first), await holdsItsKeys(database.pool, second)]).toEqual([true, true]);
});

test('a load is blocked when another load is sending all its orders, and not when it has an order of its own', async () => {
  const [first, second, third] = [await loadOf(['A', 'B']), await loadOf(['B']), await loadOf(['B', 'C'])];
  await take(first);
  const held = (run: Run) => isHeldUp(database.pool, run);
  expect([await held(first), await held(second), await held(third)]).toEqual([false, true, false]);
  await end(database, first, 'done');
  expect(await held(second)).toBe(false);
});

test('taking keys twice changes nothing', async () => {
  const run = await loadOf(['A']);
  await take(run);
  await take(run);
  expect([await fates(run), await holdsItsKeys(database.pool, run)]).toEqual([['A staged'], true]);
});

test('the same order_id of another customer, or of another account, is another order', async () => {
  await take(await loadOf(['A']));
  const others = [await loadOf(['A'], { client_id: '8' }), await aLoad(database, [], { account: 'other' })];
  await putRows(database, others[1] as Run, [
    { source_id: '1', state: 'staged', action: null, client_id: '7', label: 'A' },
  ]);
  for (const other of others) {
    await take(other);
    expect(await fates(other)).toEqual(['A staged']);
  }
});

test('a load that is paused keeps its orders', async () => {
  const first = await loadOf(['A']);
  await take(first);
  await pauseRun(database.pool, first.id, { code: 'X', message: 'x' });
  const second = await loadOf(['A']);
  await take(second);
  expect(await fates(second)).toEqual([`A ${IN_ANOTHER}`]);
  expect((await rowsOf(database, second))[0]?.facts).toEqual({ load: first.id, customer: '7' });
});

test.each(['done', 'cancelled', 'failed'] as const)('orders of a load that is %s are free', async (how) => {
  const first = await loadOf(['A']);
  await take(first);
  await end(database, first, how);
  const second = await loadOf(['A']);
  await take(second);
  expect([await fates(second), await holdsItsKeys(database.pool, second)]).toEqual([['A staged'], true]);
  expect(await loadWaitedFor(database.pool, first)).toBe(second.id);
});

test('orders that a failed load had still to send move with the key, so that it does not send them when resumed', async () => {
  const first = await loadOf(['A', 'B']);
  await take(first);
  await setRows(first, { state: 'ready', action: 'create' });
  await end(database, first, 'failed');
  const second = await loadOf(['B']);
  await take(second);
  expect(await resumeRun(database.pool, first.id)).toBe(true);
  expect(await fates(first)).toEqual(['A ready', `B ${IN_ANOTHER}`]);
  expect((await rowsOf(database, first))[1]?.facts).toEqual({ taken: true, load: second.id });
});

const unsettled = [
  { state: 'intent', agoMs: null, inMs: 2 * SETTLE_MS },
  { state: 'acked', agoMs: 0, inMs: 2 * SETTLE_MS },
  { state: 'unknown', agoMs: 20_000, inMs: 2 * SETTLE_MS - 20_000 },
] as const;

test.each(unsettled)('a load that has ended with a row $state is waited for, and nothing is taken', async (left) => {
  const { state, agoMs, inMs } = left;
  const since = agoMs === null ? null : new Date(Date.now() - agoMs);
  const first = await loadOf(['A']);
  await take(first);
  await setRows(first, { state: state === 'intent' ? 'ready' : state, since, action: 'create' });
  const claim = state === 'intent' ? await claimOn(database, first) : undefined;
  if (claim) await claimRows(database.pool, claim, 1);
  await end(database, first, 'cancelled');
  const second = await loadOf(['A', 'B']);
  expect(Math.abs((await take(second)) - inMs)).toBeLessThan(5_000);
  expect([await holdsItsKeys(database.pool, second), await fates(second)]).toEqual([false, ['A staged', 'B staged']]);
  if (claim) await dropClaims(database.pool, [claim.id]);
  const longAgo = new Date(Date.now() - 2 * SETTLE_MS - 1_000);
  await database.pool.query('update ledger.runs set open_since = $2 where id = $1', [first.id, longAgo]);
  await take(second);
  expect(await holdsItsKeys(database.pool, second)).toBe(true);
});

test('loads that take the same orders at the same moment share them without a deadlock', async () => {
  const labels = Array.from({ length: 200 }, (_, i) => `A${i}`);
  const loads = [await loadOf(labels), await loadOf(labels.toReversed()), await loadOf(labels)];
  await Promise.all(loads.map(take));
  const held = await database.pool.query(`select run_id, count(*)::int as n from ledger.order_keys group by 1`);
  expect(held.rows.reduce((sum, { n }) => sum + n, 0)).toBe(200);
});

test('a dry run takes no keys, and reports those of another load', async () => {
  const first = await loadOf(['A', 'B']);
  const [dry, other] = [await loadOf(['A', 'C'], {}, true), await loadOf(['A', 'C'], {}, true)];
  await take(dry);
  await take(first);
  await take(other);
  expect(await fates(dry)).toEqual(['A staged', 'C staged']);
  expect(await fates(other)).toEqual([`A ${IN_ANOTHER}`, 'C staged']);
  expect([await fates(first), await holdsItsKeys(database.pool, first)]).toEqual([['A staged', 'B staged'], true]);
});

test('one order under two names of its customer is sent once', async () => {
  const run = await loadOf(['A', 'A', 'B', 'A']);
  await take(run);
  const repeated = 'A settled review ORDER_REPEATED';
  expect(await fates(run)).toEqual(['A staged', repeated, 'B staged', repeated]);
});

test('of one order on two lines, the one that was decided before its customer was found stays', async () => {
  const run = await loadOf(['A', 'A']);
  await take(run);
  await setRows(run, { state: 'ready', action: 'create', verdict: null, reason: null });
  await database.pool.query(`update ledger.rows set state = 'staged' where run_id = $1 and source_id = '0'`, [run.id]);
  await take(run);
  expect(await fates(run)).toEqual(['A settled review ORDER_REPEATED', 'A ready']);
});

test('released keys are free', async () => {
  const [first, second] = [await loadOf(['A']), await loadOf(['A'])];
  await take(first);
  await releaseKeys(database.pool, first);
  await take(second);
  expect([await fates(second), await loadWaitedFor(database.pool, first)]).toEqual([['A staged'], second.id]);
});

test('a load that fails and is resumed while another takes its keys keeps what it is to send', async () => {
  const first = await loadOf(['A']);
  await take(first);
  await setRows(first, { state: 'ready', action: 'create' });
  const second = await loadOf(['A']);
  await inTransaction(database.pool, async (db) => {
    let hasAsked = false;
    // Between the question for failed loads and the taking it fails; before anything else is asked it is resumed.
    const query = async (...args: [string, unknown[]]) => {
      if (hasAsked) await end(database, first, 'failed');
      hasAsked = args[0].includes("status = 'failed'");
      const answered = await db.query(...args);
      if (args[0].includes('insert into ledger.order_keys')) await resumeRun(database.pool, first.id);
      return answered;
    };
    await takeKeys({ query } as unknown as Queryable, second, SETTLE_MS);
  });
  expect(await fates(first)).toEqual(['A ready']);
  expect(await loadWaitedFor(database.pool, second)).toBe(first.id);
});

test('stops waiting for orders whose load has ended, and does not forget them', async () => {
  const [first, second] = [await loadOf(['A']), await loadOf(['A'])];
  await take(first);
  await take(second);
  await releaseKeys(database.pool, first);
  expect([await loadWaitedFor(database.pool, second), await holdsItsKeys(database.pool, second)]).toEqual([
    'ended',
    false,
  ]);
});

test('looks for lost keys in one pass, although most rows were decided moments ago', async () => {
  const labels = Array.from({ length: 5_000 }, (_, n) => String(n));
  const [other, run] = [await loadOf(labels.map((label) => `other ${label}`)), await loadOf(labels)];
  await take(run);
  const settle = ({ id }: Run, from: number) =>
    settleRows(database.pool, id, {
      sql: `select n, 'unknown' as verdict, 'NOT_APPROVED_YET' as reason, null::jsonb as facts, null::text as record_id
        from ledger.inputs where run_id = $1 and n >= $2`,
      values: [from],
    });
  await settle(other, 0);
  await database.pool.query('analyze ledger.verdicts, ledger.plans'); // knows none of the other load
  await settle(run, 3);
  // As Postgres plans 100,000 rows, of which it expects none to be decided.
  const connection = { ...database.connection, session: { enable_hashjoin: 'off' } };
  const rows = await mostRows({ ...database, connection }, async (pool) => {
    expect(await holdsItsKeys(pool, run)).toBe(true);
  });
  expect(rows).toBeLessThan(10 * labels.length);
});
