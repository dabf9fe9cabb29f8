import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { elapsedMs } from '../../../src/base/clock.ts';
import { RetryLater, RunFailed } from '../../../src/engine/account/failure.ts';
import { dropClaims } from '../../../src/engine/ledger/claims.ts';
import { endRun } from '../../../src/engine/ledger/run-status.ts';
import { type Run, readRun } from '../../../src/engine/ledger/runs.ts';
import type { SendRow } from '../../../src/engine/worker/row-source.ts';
import { sendRows } from '../../../src/engine/worker/send-ready.ts';
import { notSent, sent } from '../../../src/engine/worker/sent-row.ts';
import { aRun, freshLedger, putRows, readyRows, rowsOf } from '../ledger/fresh-ledger.ts';
import { aJobContext, anAccount } from './an-account.ts';

const database = await freshLedger();
afterAll(() => database.close());

async function aRunOf(rows: number): Promise<Run> {
  const run = await aRun(database);
  await putRows(database, run, readyRows(rows));
  return run;
}

const contextOf = (run: Run, signal?: AbortSignal) => aJobContext(run, database.pool, 3, signal);

const ANSWERED = { calls: 1, limited: 0, http: 200, ms: 1 };

const acked: SendRow = async (row) => sent(row, row.action, ANSWERED, { outcome: 'acked' });

/** The number of rows in each state, and of the calls they have spent. */
async function standing(run: Run): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { state, sends } of await rowsOf(database, run)) {
    counts[String(state)] = (counts[String(state)] ?? 0) + 1;
    counts.sends = (counts.sends ?? 0) + Number(sends);
  }
  return counts;
}

test('sends every ready row once, with no more in flight than the account allows', async () => {
  const run = await aRunOf(50);
  let [inFlight, most] = [0, 0];
  const ended = await sendRows(contextOf(run), async (row, how) => {
    most = Math.max(most, ++inFlight);
    await delay(1);
    inFlight--;
    return acked(row, how);
  });
  expect([ended, most]).toEqual([{ status: 'dry' }, 4]);
  expect(await standing(run)).toEqual({ acked: 50, sends: 50 });
  expect(await readRun(database.pool, run.id)).toMatchObject({ calls: 50, rowsSettled: 50, limited: 0 });
});

test('several dispatchers share the rows, and no row is sent twice', async () => {
  const run = await aRunOf(300);
  const order: string[] = [];
  const send: SendRow = async (row, how) => {
    order.push(row.sourceId);
    return acked(row, how);
  };
  await Promise.all([1, 2, 3].map(() => sendRows(contextOf(run), send)));
  expect([order.length, new Set(order).size]).toEqual([300, 300]);
});

test('each call gets the time by which it must leave: its answer has to come before the claim’s end', async () => {
  const run = await aRunOf(1);
  const began = elapsedMs();
  let dispatchBefore = 0;
  await sendRows(contextOf(run), async (row, how) => {
    dispatchBefore = how.dispatchBefore;
    return acked(row, how);
  });
  expect(dispatchBefore - began).toBeGreaterThan(10_000);
  expect(dispatchBefore - began).toBeLessThan(30_000 - anAccount().timeoutMs);
});

test.each([new RunFailed('KEY_REFUSED', 'fix the key'), new RetryLater('no answer', 10)])(
  'stopped by %s, it gives back what it has not sent, and spends nothing on it',
  async (cause) => {
    const run = await aRunOf(50);
    let calls = 0;
    const ended = await sendRows(contextOf(run), async (row, how) => {
      if (++calls <= 10) return acked(row, how);
      return { ...notSent(row), stop: cause };
    });
    expect(ended).toEqual({ status: 'stopped', stop: cause });
    expect(await standing(run)).toEqual({ acked: 10, ready: 40, sends: 10 });
  },
);

test('once its run is cancelled it sends only what is in flight, and gives back the rest', async () => {
  const run = await aRunOf(200);
  let calls = 0;
  const ended = await sendRows(contextOf(run), async (row, how) => {
    if (++calls === 5) await endRun(database.pool, run.id, 'cancelled');
    await delay(10);
    return acked(row, how);
  });
  const { acked: made = 0, ready = 0 } = await standing(run);
  expect([ended.status, made + ready, made]).toEqual(['more', 200, calls]);
  expect(calls).toBeLessThan(150);
});

test('sends rows that become ready again behind others before it runs dry', async () => {
  const run = await aRunOf(100);
  const again = new Set(['1', '2', '3']);
  const ended = await sendRows(contextOf(run), async (row, how) => {
    if (!again.delete(row.sourceId)) return acked(row, how);
    return notSent(row, ANSWERED);
  });
  expect([ended, again.size, await standing(run)]).toEqual([{ status: 'dry' }, 0, { acked: 100, sends: 100 }]);
});

test('stops for now when every answer is a rate limit, spends no attempt, and names the limit', async () => {
  const run = await aRunOf(100);
  let calls = 0;
  const ended = await sendRows(contextOf(run), async (row) => {
    calls++;
    return notSent(row, { ...ANSWERED, http: 429, limited: 1 });
  });
  expect(ended).toMatchObject({ status: 'stopped', stop: { name: 'RetryLater', isFailure: true } });
  expect([calls < 40, await standing(run)]).toEqual([true, { ready: 100, sends: 0 }]);
});

test('a row whose sending fails by a defect has an unknown outcome, and the run fails with the defect', async () => {
  const run = await aRunOf(1);
  const ended = await sendRows(contextOf(run), async () => {
    throw new TypeError('a defect');
  });
  expect(ended).toMatchObject({ status: 'stopped', stop: { code: 'SEND_FAILED' } });
  expect(await standing(run)).toEqual({ unknown: 1, sends: 0 });
});

test('when stopped it finishes what is in flight and gives back the rest', async () => {
  const run = await aRunOf(50);
  const stop = new AbortController();
  const ended = await sendRows(contextOf(run, stop.signal), async (row, how) => {
    stop.abort();
    await delay(5);
    return acked(row, how);
  });
  expect(ended).toEqual({ status: 'more' });
  const { acked: done = 0, ready = 0 } = await standing(run);
  expect([done + ready, done > 0 && done <= 4]).toEqual([50, true]);
});

test('writes nothing after its claim is taken over, and its rows have an unknown outcome', async () => {
  const run = await aRunOf(8);
  const ended = await sendRows(contextOf(run), async (row, how) => {
    const held = await database.pool.query<{ id: number }>('select id::int from ledger.claims where run_id = $1', [
      run.id,
    ]);
    await dropClaims(
      database.pool,
      held.rows.map(({ id }) => id),
    );
    return acked(row, how);
  });
  expect(ended.status).toBe('dry');
  expect(await standing(run)).toEqual({ unknown: 8, sends: 0 });
});

test('without a claim there is nothing to do', async () => {
  const run = await aRunOf(1);
  await database.pool.query(`update ledger.runs set status = 'cancelled' where id = $1`, [run.id]);
  expect(await sendRows(contextOf(run), acked)).toEqual({ status: 'unclaimed' });
  expect(await standing(run)).toEqual({ ready: 1, sends: 0 });
});
