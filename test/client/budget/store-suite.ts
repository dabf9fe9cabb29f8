/** The behaviour of every store of the budget: run over Redis and Postgres. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { BudgetStore, Grant } from '../../../src/client/budget/budget.ts';
import { createBudget } from '../../../src/client/budget/key-budget.ts';
import type { Learnt } from '../../support/budget-oracle.ts';
import { PATIENT } from '../../support/patient.ts';
import { refusals } from './service-bucket.ts';
import { newKey, request, SLOW, testAgainstOracle } from './store-oracle-suite.ts';

export interface StoreSuite {
  /** Opens another store on the same data, as another process would. */
  open(): Promise<BudgetStore>;
  /** A store whose server cannot be reached. */
  openAway(): Promise<BudgetStore>;
  setLearnt(key: string, learnt: Learnt): Promise<void>;
  /** Moves every stored time of a key. A move forward simulates a clock that was set back by `ms`. */
  moveTimes(key: string, ms: number): Promise<void>;
  /** Loses what such a store loses when its machine fails, if anything. */
  crash(): Promise<void>;
}

export function testStore(suite: StoreSuite): void {
  const { open, openAway, moveTimes, crash } = suite;
  testAgainstOracle(suite);

  test('a 429 slows down every process, once for all calls that had been let go before', async () => {
    const [one, other] = [await open(), await open()];
    const key = newKey();
    const { storeNowMs } = await one.acquire(key, request({}));
    const congestion = { forMs: 1, admittedAtMs: storeNowMs, pace: SLOW };
    expect(await one.limited(key, congestion)).toMatchObject({ isCut: true, ratePerSecond: SLOW.ratePerSecond * 0.7 });
    expect(await other.limited(key, congestion)).toMatchObject({
      isCut: false,
      ratePerSecond: SLOW.ratePerSecond * 0.7,
    });
    const grant = await other.acquire(key, request({}));
    expect(grant.ratePerSecond).toBeCloseTo(7, 1);
    expect(grant.intervalMs).toBeCloseTo(1000 / 7, 0);
  });

  test('processes that start later find what was learnt, also after a crash of the store', async () => {
    const key = newKey();
    await (await open()).limited(key, { forMs: 0, admittedAtMs: Date.now(), pace: { ratePerSecond: 100, burst: 1 } });
    await crash();
    const grant = await (await open()).acquire(key, request({ pace: { ratePerSecond: 100, burst: 1 } }));
    expect(grant.ratePerSecond).toBeCloseTo(70, 0);
  });

  test('grants a hundred retries, then one for every ten successful calls', async () => {
    const store = await open();
    const key = newKey();
    for (let retry = 0; retry < 100; retry++) expect(await store.retry(key, 0)).toEqual({ status: 'granted' });
    const empty = await store.retry(key, 0);
    expect(empty.status === 'empty' && empty.retryAfterMs).toBeGreaterThan(9_000);
    await store.acquire(key, request({ successes: 15 }));
    expect((await store.retry(key, 0)).status).toBe('granted');
    expect((await store.retry(key, 3)).status).toBe('empty');
    expect((await store.retry(key, 5)).status).toBe('granted');
  });

  test('shares out calls in flight, and frees all slots of a process that says it holds none', async () => {
    const [one, other] = [await open(), await open()];
    const key = newKey();
    const ask = (holder: string, seq: number, holding: number, wanted: number) =>
      request({ want: 0, slots: { holder, seq, holding, wanted, cap: 10, extra: 0 } });
    expect((await one.acquire(key, ask('a', 1, 0, 8))).slots).toBe(8);
    expect((await other.acquire(key, ask('b', 1, 0, 8))).slots).toBe(2);
    expect((await one.acquire(key, ask('a', 2, 8, 8))).slots).toBe(5);
    expect((await one.acquire(key, ask('a', 3, 5, 8))).slots).toBe(5);
    expect((await other.acquire(key, ask('b', 2, 2, 8))).slots).toBe(5);
    await one.acquire(key, ask('a', 4, 0, 0));
    expect((await other.acquire(key, ask('b', 3, 5, 8))).slots).toBe(8);
  });

  test('a process that is gone can be forgotten, and its slots are free', async () => {
    const store = await open();
    const key = newKey();
    const ask = (holder: string) =>
      store.acquire(key, request({ want: 0, slots: { holder, seq: 1, holding: 0, wanted: 4, cap: 4, extra: 0 } }));
    expect([(await ask('a')).slots, (await ask('b')).slots]).toEqual([4, 0]);
    expect((await store.holders(key)).toSorted()).toEqual(['a', 'b']);
    await store.forget(key, 'a');
    expect([await store.holders(key), (await ask('c')).slots > 0]).toEqual([['b'], true]);
  });

  test('where processes outnumber the slots, one that has had slots for half a second yields to one that waits', async () => {
    const store = await open();
    const key = newKey();
    const seqs = { a: 0, b: 0 };
    const ask = async (holder: 'a' | 'b', holding: number) => {
      const slots = { holder, seq: ++seqs[holder], holding, wanted: 1, cap: 1, extra: 0 };
      return store.acquire(key, request({ want: 0, slots }));
    };
    const first = await ask('a', 0);
    expect([first.slots, (await ask('b', 0)).slots]).toEqual([1, 0]);
    const over = await vi.waitUntil(async () => {
      const grant = await ask('a', 1);
      return grant.slots === 0 && grant;
    }, PATIENT);
    expect(over.storeNowMs - first.storeNowMs).toBeGreaterThanOrEqual(500);
    expect([(await ask('a', 0)).slots, (await ask('b', 0)).slots, (await ask('a', 0)).slots]).toEqual([0, 1, 0]);
  });

  test('processes that ask at the same moment never get the same token', async () => {
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

  test('keys are independent of each other', async () => {
    const store = await open();
    const [one, other] = [newKey(), newKey()];
    const pace = { ratePerSecond: 0.01, burst: 3 };
    expect((await store.acquire(one, request({ want: 5, pace }))).granted).toBeGreaterThan(0);
    expect((await store.acquire(one, request({ pace }))).granted).toBe(0);
    expect((await store.acquire(other, request({}))).granted).toBe(1);
  });

  test('asking for nothing tells whether the key is blocked and takes no token', async () => {
    const store = await open();
    const key = newKey();
    expect(await store.acquire(key, request({ want: 0 }))).toMatchObject({ granted: 0, retryInMs: 0, blockedForMs: 0 });
    await store.block(key, 5000);
    expect((await store.acquire(key, request({ want: 0 }))).blockedForMs).toBeGreaterThan(4000);
  });

  test('a block applies to every process, and a shorter block never shortens it', async () => {
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

  test('after a block the key starts again without its burst', async () => {
    const store = await open();
    const key = newKey();
    const pace = { ratePerSecond: 0.1, burst: 10 };
    await store.block(key, 30);
    const grant = await vi.waitUntil(
      async () => {
        const answer = await store.acquire(key, request({ want: 10, pace, withinMs: 0 }));
        return answer.granted > 0 && answer;
      },
      { ...PATIENT, interval: 2 },
    );
    expect(grant.granted).toBe(1);
  });

  test.each([
    ['an hour', 3_600_000],
    ['a year', 31_536_000_000],
  ])('a clock set back by %s neither delays a token nor prolongs a block by more than a moment', async (_, ms) => {
    const store = await open();
    const [key, blocked] = [newKey(), newKey()];
    await store.block(blocked, 60_000);
    await store.limited(key, { forMs: 0, admittedAtMs: 9e12, pace: SLOW });
    const ask = () => store.acquire(key, request({ lane: 'interactive', want: 100 }));
    const before = await ask();
    await moveTimes(key, ms);
    await moveTimes(blocked, ms);
    const after = await ask();
    expect(after.retryInMs).toBeLessThanOrEqual(before.retryInMs + 300);
    expect(Math.max(0, ...timesOf(after)) - after.storeNowMs).toBeLessThanOrEqual(1_000);
    expect((await store.acquire(blocked, request({}))).blockedForMs).toBeLessThanOrEqual(60_000);
    expect((await store.limited(key, { forMs: 0, admittedAtMs: after.storeNowMs + 500, pace: SLOW })).isCut).toBe(true);
  });

  test('a clock set back keeps no slots of a process that is gone, and empties no retry budget', async () => {
    const store = await open();
    const key = newKey();
    const ask = (holder: string, seq: number) =>
      store.acquire(key, request({ want: 0, slots: { holder, seq, holding: 0, wanted: 4, cap: 4, extra: 0 } }));
    for (let retry = 0; retry <= 100; retry++) await store.retry(key, 0);
    expect((await ask('dead', 1)).slots).toBe(4);
    await moveTimes(key, 3_600_000);
    expect((await ask('a', 1)).slots).toBe(0);
    await store.retry(key, 0);
    await moveTimes(key, -15_001);
    expect((await ask('a', 2)).slots).toBe(4);
    expect((await store.retry(key, 0)).status).toBe('granted');
  });

  test('two processes share one key, and a service that counts to the token refuses nothing', async () => {
    const limits = { ratePerSecond: 200, burst: 20, concurrency: 16 };
    const key = newKey();
    const budgets = [await open(), await open()].map((store) => createBudget({ key, limits, store }));
    const callsMs: number[] = [];
    const work = async (budget: (typeof budgets)[number]) => {
      for (let call = 0; call < 10; call++) {
        const taken = await budget.take({ lane: 'batch' });
        if (taken.status !== 'taken') throw new Error('a caller without a limit was sent away');
        callsMs.push(performance.now());
        await sleep(3);
        taken.permit.release();
      }
    };
    await Promise.all(budgets.flatMap((budget) => Array.from({ length: 16 }, () => work(budget))));
    for (const budget of budgets) await budget.close();
    expect(refusals(callsMs, limits.ratePerSecond, limits.burst)).toBe(0);
  });

  test('throws when its server is unreachable, and names the server’s address', async () => {
    const store = await openAway();
    await expect(store.acquire('demo', request({}))).rejects.toThrow();
    await expect(store.block('demo', 10)).rejects.toThrow();
    await expect(store.limited('demo', { forMs: 1, admittedAtMs: 0, pace: SLOW })).rejects.toThrow();
    await expect(store.retry('demo', 0)).rejects.toThrow();
    expect(store.name).not.toBe('');
    expect(store.remedy).toContain('check that it runs');
  });
}

function timesOf({ granted, storeNowMs, usableInMs, intervalMs }: Grant): number[] {
  return Array.from({ length: granted }, (_, call) => storeNowMs + Math.max(0, usableInMs + call * intervalMs));
}
