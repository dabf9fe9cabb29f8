import { afterAll, describe, expect, test } from 'vitest';
import {
  type Claim,
  ClaimLost,
  dropClaims,
  extendClaim,
  holdClaim,
  releaseClaim,
  takeClaim,
} from '../../../src/engine/ledger/claims.ts';
import {
  type Attempt,
  type ClaimedRow,
  claimRows,
  isAnyToSend,
  openRows,
  recordAttempts,
} from '../../../src/engine/ledger/rows.ts';
import { endRun } from '../../../src/engine/ledger/run-status.ts';
import { movePhase, readRun } from '../../../src/engine/ledger/runs.ts';
import { settleRows } from '../../../src/engine/ledger/transitions.ts';
import { inTransaction } from '../../../src/storage/transaction.ts';
import { aRun, claimOn, freshLedger, putRows, readyRows, rowsOf, WORKER } from './fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());

const renew = (claim: Claim) => extendClaim(database.pool, 'ledger.claims', claim);
const acked = ({ n, chunk, sends, action }: ClaimedRow): Attempt => ({
  n,
  chunk,
  action,
  sends: sends + 1,
  outcome: 'acked',
});

describe('a claim fences writes', () => {
  test('a claim that was taken over writes nothing, and its rows have an unknown outcome', async () => {
    const run = await aRun(database);
    await putRows(database, run, readyRows(2));
    const claim = await claimOn(database, run);
    const claimed = await claimRows(database.pool, claim, 2);
    await dropClaims(database.pool, [claim.id]);
    expect(await recordAttempts(database.pool, claim, claimed.map(acked))).toBe(0);
    expect(await claimRows(database.pool, claim, 2)).toEqual([]);
    const rows = await rowsOf(database, run);
    expect(rows).toEqual(rows.map((row) => ({ ...row, state: 'unknown', sends: 0 })));
    expect(rows.every((row) => row.since !== null)).toBe(true);
    expect((await readRun(database.pool, run.id)).callsMissed).toBe(true);
  });

  test('a run that is cancelled while its last read settles rows counts them', async () => {
    const run = await aRun(database);
    await putRows(database, run, [
      { state: 'acked', source_id: '1' },
      { state: 'acked', source_id: '2' },
    ]);
    const claim = await claimOn(database, run, { kind: 'exclusive' });
    await inTransaction(database.pool, async (db) => {
      await holdClaim(db, claim);
      await settleRows(db, run.id, {
        sql: `select 1 as n, 'created' as verdict, null::text as reason, null::jsonb as facts, '5' as record_id`,
      });
      await endRun(database.pool, run.id, 'cancelled');
    });
    expect((await readRun(database.pool, run.id)).counts).toEqual({ unknown: 2 });
    await releaseClaim(database.pool, claim);
    expect(await readRun(database.pool, run.id)).toMatchObject({
      status: 'cancelled',
      counts: { created: 1, unknown: 1 },
    });
  });

  test('a claim writes only the rows it holds itself', async () => {
    const run = await aRun(database);
    await putRows(database, run, readyRows(2));
    const [mine, other] = [await claimOn(database, run), await claimOn(database, run)];
    const rows = [...(await claimRows(database.pool, mine, 1)), ...(await claimRows(database.pool, other, 1))];
    expect(await recordAttempts(database.pool, mine, rows.map(acked))).toBe(1);
    expect((await rowsOf(database, run)).map((row) => row.state)).toEqual(['acked', 'intent']);
  });

  test('an outcome recorded a second time frees no row that another claim holds by then', async () => {
    const run = await aRun(database);
    await putRows(database, run, readyRows(1));
    const [mine, other] = [await claimOn(database, run), await claimOn(database, run)];
    const unsent = (await claimRows(database.pool, mine, 1)).map((row): Attempt => ({ ...row, outcome: 'unsent' }));
    expect(await recordAttempts(database.pool, mine, unsent)).toBe(1);
    expect(await claimRows(database.pool, other, 1)).toHaveLength(1);
    expect(await recordAttempts(database.pool, mine, unsent)).toBe(0);
    expect(await claimRows(database.pool, mine, 1)).toEqual([]);
  });

  test('a chunk holds the rows without a recorded outcome, and is gone with the last of them', async () => {
    const run = await aRun(database);
    await putRows(database, run, readyRows(3));
    const claim = await claimOn(database, run);
    const rows = await claimRows(database.pool, claim, 3);
    const held = async () =>
      (await database.pool.query('select rows from ledger.chunks where run_id = $1', [run.id])).rows;
    expect(await held()).toEqual([{ rows: [0, 1, 2] }]);
    await recordAttempts(database.pool, claim, rows.slice(1, 2).map(acked));
    expect(await held()).toEqual([{ rows: [0, 2] }]);
    expect(await isAnyToSend(database.pool, run.id)).toBe(true);
    expect(await recordAttempts(database.pool, claim, rows.map(acked))).toBe(2);
    expect(await held()).toEqual([]);
    expect(await isAnyToSend(database.pool, run.id)).toBe(false);
  });

  test('two recordings of one row at the same time append one attempt', async () => {
    const run = await aRun(database);
    await putRows(database, run, readyRows(1));
    const claim = await claimOn(database, run);
    const rows = (await claimRows(database.pool, claim, 1)).map(acked);
    let second: Promise<number> = Promise.resolve(0);
    await inTransaction(database.pool, async (db) => {
      expect(await recordAttempts(db, claim, rows)).toBe(1);
      second = recordAttempts(database.pool, claim, rows);
      await untilBlocked();
    });
    expect(await second).toBe(0);
  });

  test('planned unclaimed rows and rows to be sent again are left to send', async () => {
    const run = await aRun(database);
    await putRows(database, run, readyRows(1));
    expect(await isAnyToSend(database.pool, run.id)).toBe(true);
    const claim = await claimOn(database, run);
    const [row] = await claimRows(database.pool, claim, 1);
    if (!row) throw new Error('no row was claimed');
    await recordAttempts(database.pool, claim, [{ ...acked(row), outcome: 'unsent' }]);
    expect(await isAnyToSend(database.pool, run.id)).toBe(true);
  });

  test('claimers at the same time never get the same row, and together get all rows', async () => {
    const run = await aRun(database);
    await putRows(database, run, readyRows(300));
    const claims = await Promise.all(Array.from({ length: 6 }, () => claimOn(database, run)));
    const got: string[] = [];
    const drain = async (claim: (typeof claims)[number]): Promise<void> => {
      for (let rows = await claimRows(database.pool, claim, 7); rows.length > 0; ) {
        got.push(...rows.map((row) => row.sourceId));
        rows = await claimRows(database.pool, claim, 7);
      }
    };
    await Promise.all(claims.map(drain));
    expect([got.length, new Set(got).size]).toEqual([300, 300]);
  });

  test('an expired claim gets no rows and cannot be renewed, even before another worker takes it over', async () => {
    const run = await aRun(database);
    await putRows(database, run, readyRows(1));
    const claim = await claimOn(database, run, { ttlMs: 0 });
    expect(await claimRows(database.pool, claim, 1)).toEqual([]);
    expect(await renew(claim)).toBe(false);
  });

  test('all processes see the new end of a renewed claim', async () => {
    const run = await aRun(database);
    const claim = await claimOn(database, run);
    await database.pool.query(`update ledger.claims set expires_at = now() + interval '1 s' where id = $1`, [claim.id]);
    expect(await renew(claim)).toBe(true);
    const left = await database.pool.query<{ long: boolean }>(
      `select expires_at > now() + interval '20 s' as long from ledger.claims where id = $1`,
      [claim.id],
    );
    expect(left.rows).toEqual([{ long: true }]);
  });

  test('a run that is not running gives neither claims nor rows', async () => {
    const run = await aRun(database);
    await putRows(database, run, readyRows(1));
    const claim = await claimOn(database, run);
    await endRun(database.pool, run.id, 'cancelled');
    expect(await claimRows(database.pool, claim, 1)).toEqual([]);
    expect(await takeClaim(database.pool, run.id, WORKER, { kind: 'shared', ttlMs: 1_000 })).toBeUndefined();
  });

  test('rows given to a process while it dies are not forgotten and have an unknown outcome', async () => {
    const run = await aRun(database);
    await putRows(database, run, readyRows(1));
    const claim = await claimOn(database, run);
    let dropping: Promise<void> = Promise.resolve();
    await inTransaction(database.pool, async (db) => {
      await claimRows(db, claim, 1); // the server completes the statement although the process is dead
      dropping = dropClaims(database.pool, [claim.id]);
      await untilBlocked();
    });
    await dropping;
    expect((await openRows(database.pool, run.id)).unknown).toBe(1);
  });
});

describe('an exclusive claim', () => {
  test('allows no second claim, however many ask at once', async () => {
    const run = await aRun(database);
    let asked: Promise<Claim | undefined>[] = [];
    await inTransaction(database.pool, async (db) => {
      await db.query('select 1 from ledger.runs where id = $1 for update', [run.id]);
      asked = Array.from({ length: 4 }, () =>
        takeClaim(database.pool, run.id, WORKER, { kind: 'exclusive', ttlMs: 30_000 }),
      );
      await untilBlocked(4); // so that none of them sees another's claim when it begins
    });
    const given = (await Promise.all(asked)).filter((claim) => claim !== undefined);
    expect(given).toHaveLength(1);
  });

  test('keeps shared claims away until it is given back', async () => {
    const run = await aRun(database);
    const shared = () => takeClaim(database.pool, run.id, WORKER, { kind: 'shared', ttlMs: 30_000 });
    const exclusive = await claimOn(database, run, { kind: 'exclusive' });
    expect(await shared()).toBeUndefined();
    await dropClaims(database.pool, [exclusive.id]);
    expect(await shared()).toBeDefined();
  });

  test('is not given for a phase that the run has left', async () => {
    const run = await aRun(database);
    await movePhase(database.pool, run.id, 'work', 'later');
    const ask = (phase: string) =>
      takeClaim(database.pool, run.id, WORKER, { kind: 'exclusive', ttlMs: 30_000, phase });
    expect(await ask('work')).toBeUndefined();
    expect(await ask('later')).toBeDefined();
  });

  test('delays its takeover until the transaction it covers has ended', async () => {
    const run = await aRun(database);
    const claim = await claimOn(database, run, { kind: 'exclusive' });
    const order: string[] = [];
    let dropping: Promise<void> = Promise.resolve();
    await inTransaction(database.pool, async (db) => {
      await holdClaim(db, claim);
      dropping = dropClaims(database.pool, [claim.id]).then(() => void order.push('taken over'));
      await untilBlocked();
      order.push('committed');
    });
    await dropping;
    expect(order).toEqual(['committed', 'taken over']);
    await expect(inTransaction(database.pool, (db) => holdClaim(db, claim))).rejects.toThrow(ClaimLost);
  });

  test('can be renewed while a long transaction holds it', async () => {
    const run = await aRun(database);
    const claim = await claimOn(database, run, { kind: 'exclusive' });
    await inTransaction(database.pool, async (db) => {
      await holdClaim(db, claim);
      expect(await renew(claim)).toBe(true);
    });
  });

  test('ends with its run: a cancelled run is read and decided no further', async () => {
    const run = await aRun(database);
    const claim = await claimOn(database, run, { kind: 'exclusive' });
    await endRun(database.pool, run.id, 'cancelled');
    await expect(inTransaction(database.pool, (db) => holdClaim(db, claim))).rejects.toThrow(ClaimLost);
  });
});

/** Waits until so many queries of this database wait for a lock. */
async function untilBlocked(count = 1): Promise<void> {
  await expect
    .poll(async () => {
      const waiting = await database.pool.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return waiting.rowCount;
    })
    .toBeGreaterThanOrEqual(count);
}
