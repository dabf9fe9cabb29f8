/** What every store of the budget does: run over the Redis twin and the Postgres twin. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { type BudgetState, decide, demandOf } from '../../src/budget/arithmetic.ts';
import type { AcquireRequest, BudgetStore, Grant, Lane } from '../../src/budget/budget.ts';
import { createBudget } from '../../src/budget/key-budget.ts';
import { refusals } from './service-bucket.ts';

export interface StoreSuite {
  /** One more store over the same place, as another process would open it. */
  open(): Promise<BudgetStore>;
  /** A store whose place cannot be reached. */
  openAway(): Promise<BudgetStore>;
}

const SLOW = { ratePerSecond: 10, burst: 3 };

export function testStore({ open, openAway }: StoreSuite): void {
  const newKey = () => `demo-${randomBytes(6).toString('hex')}`;
  const request = (given: Partial<AcquireRequest>): AcquireRequest => ({
    lane: 'batch',
    want: 1,
    cost: 1,
    pace: SLOW,
    ...given,
  });

  test('it decides what the arithmetic decides, to the bit, whatever is asked in whatever order', async () => {
    const store = await open();
    const random = seeded(7);
    const pick = <T>(values: readonly T[]): T =>
      values[Math.floor(random() * values.length)] ?? fail('nothing to pick');
    for (let keys = 0; keys < 10; keys++) {
      const key = newKey();
      const pace = pick([SLOW, { ratePerSecond: 197.3, burst: 2.7 }, { ratePerSecond: 1980, burst: 12.84 }]);
      let state: BudgetState | undefined;
      for (let step = 0; step < 30; step++) {
        const lane = pick<Lane>(['interactive', 'batch']);
        const asked = {
          lane,
          want: pick([0, 1, 5, 300]),
          cost: pick([1, 1, 3]),
          withinMs: pick([1e9, 0, 40]),
          pace,
        };
        const grant = await store.acquire(key, asked);
        const decision = decide(state, demandOf(asked), Math.round(grant.storeNowMs * 1000));
        state = decision.state;
        expect(grant).toEqual(asGrant(decision, asked, grant.storeNowMs));
      }
    }
  });

  test('processes that ask at the same moment never get one token twice', async () => {
    const stores = await Promise.all(Array.from({ length: 4 }, open));
    const key = newKey();
    const pace = { ratePerSecond: 100, burst: 1 };
    const asking = stores.flatMap((store) =>
      Array.from({ length: 25 }, () => store.acquire(key, request({ want: 3, pace }))),
    );
    const times = (await Promise.all(asking)).flatMap(timesOf).sort((a, b) => a - b);
    expect(times.length).toBeGreaterThanOrEqual(10);
    expect(refusals(times, pace.ratePerSecond, pace.burst)).toBe(0);
  });

  test('keys know nothing of each other', async () => {
    const store = await open();
    const [one, other] = [newKey(), newKey()];
    expect((await store.acquire(one, request({ want: 5 }))).granted).toBeGreaterThan(0);
    expect((await store.acquire(one, request({}))).granted).toBe(0);
    expect((await store.acquire(other, request({}))).granted).toBe(1);
  });

  test('asking for nothing tells whether the key is blocked and takes nothing', async () => {
    const store = await open();
    const key = newKey();
    expect(await store.acquire(key, request({ want: 0 }))).toMatchObject({ granted: 0, retryInMs: 0, blockedForMs: 0 });
    await store.block(key, 5000);
    expect((await store.acquire(key, request({ want: 0 }))).blockedForMs).toBeGreaterThan(4000);
  });

  test('a block holds for every process, and a shorter one never shortens it', async () => {
    const [one, other] = [await open(), await open()];
    const key = newKey();
    await one.block(key, 60_000);
    await other.block(key, 1000);
    for (const store of [one, other]) {
      const grant = await store.acquire(key, request({ want: 5 }));
      expect(grant.granted).toBe(0);
      expect(grant.blockedForMs).toBeGreaterThan(50_000);
      expect(grant.retryInMs).toBe(grant.blockedForMs);
    }
  });

  test('after a block the key starts again, without its burst', async () => {
    const store = await open();
    const key = newKey();
    const pace = { ratePerSecond: 20, burst: 10 };
    await store.block(key, 30);
    const grant = await vi.waitUntil(
      async () => {
        const answer = await store.acquire(key, request({ want: 10, pace, withinMs: 0 }));
        return answer.granted > 0 && answer;
      },
      { interval: 2 },
    );
    expect(grant.granted).toBe(1);
  });

  test('two processes work off one key in shared leases, and a service that counts to the token refuses nothing', async () => {
    const limits = { ratePerSecond: 200, burst: 20, concurrency: 16 };
    const key = newKey();
    const budgets = [await open(), await open()].map((store) => createBudget({ key, limits, store }));
    const stopAt = performance.now() + 1500;
    const callsMs: number[] = [];
    const work = async (budget: (typeof budgets)[number]) => {
      while (performance.now() < stopAt) {
        const taken = await budget.take({ lane: 'batch' });
        if (taken.status !== 'taken') throw new Error('a caller without a limit was sent away');
        callsMs.push(performance.now());
        await sleep(3);
        taken.permit.release();
      }
    };
    await Promise.all(budgets.flatMap((budget) => Array.from({ length: 16 }, () => work(budget))));
    const stats = budgets.map((budget) => budget.stats());
    for (const budget of budgets) await budget.close();
    expect(refusals(callsMs, limits.ratePerSecond, limits.burst)).toBe(0);
    expect(callsMs.length).toBeGreaterThan(0.6 * 1.5 * limits.ratePerSecond); // 98% where nothing else runs
    expect(stats.reduce((sum, { storeCalls }) => sum + storeCalls, 0)).toBeLessThan(callsMs.length / 3);
  });

  test('it throws when it is away, and says where it should be', async () => {
    const store = await openAway();
    await expect(store.acquire('demo', request({}))).rejects.toThrow();
    await expect(store.block('demo', 10)).rejects.toThrow();
    expect(store.name).not.toBe('');
    expect(store.remedy).toContain('check that it runs');
  });
}

function timesOf({ granted, storeNowMs, usableInMs, intervalMs }: Grant): number[] {
  return Array.from({ length: granted }, (_, call) => storeNowMs + Math.max(0, usableInMs + call * intervalMs));
}

function asGrant(decision: ReturnType<typeof decide>, { cost, pace }: AcquireRequest, storeNowMs: number): Grant {
  return {
    granted: decision.granted,
    storeNowMs,
    usableInMs: decision.firstInUs / 1000,
    intervalMs: (cost * (1e6 / pace.ratePerSecond)) / 1000,
    retryInMs: decision.retryInUs / 1000,
    blockedForMs: decision.blockedForUs / 1000,
  };
}

/** Mulberry32: the same numbers every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function fail(message: string): never {
  throw new Error(message);
}
