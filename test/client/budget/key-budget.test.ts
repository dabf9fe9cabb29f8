import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { Lane } from '../../../src/client/budget/budget.ts';
import { callers, LIMITS, openBudget, useFakeClock } from './fake-clock.ts';
import { refusals } from './service-bucket.ts';
import { SimulatedStore } from './simulated-store.ts';

useFakeClock();

test('serves a caller at once after a pause', async () => {
  const { budget } = openBudget();
  const taken = await Promise.race([budget.take({ lane: 'interactive' }), vi.advanceTimersByTimeAsync(1)]);
  expect(taken).toMatchObject({ status: 'taken' });
});

test.each([
  [10, 10],
  [200, 20],
  [2000, 200],
])(
  'at %d/s with a burst of %d waiting callers use nearly all of the rate, and the service refuses none',
  async (ratePerSecond, burst) => {
    const limits = { ratePerSecond, burst, concurrency: 1e6 };
    const { budget, store } = openBudget({ limits });
    store.latencyMs = 2;
    const served = callers(budget, 6 * ratePerSecond);
    await vi.advanceTimersByTimeAsync(5000);
    expect(served.length).toBeGreaterThanOrEqual(0.97 * 5 * ratePerSecond);
    expect(refusals(served, ratePerSecond, burst)).toBe(0);
    expect(store.calls).toBeLessThanOrEqual(served.length / (ratePerSecond >= 200 ? 5 : 1) + 1);
  },
);

test('the service refuses nothing under any mix of callers, stores and stalls', async () => {
  const step = fc.record({
    callers: fc.integer({ min: 0, max: 30 }),
    lane: fc.constantFrom<Lane>('interactive', 'batch'),
    process: fc.constantFrom(0, 1),
    maxWaitMs: fc.option(fc.integer({ min: 0, max: 300 }), { nil: undefined }),
    latencyMs: fc.integer({ min: 0, max: 80 }),
    stallMs: fc.constantFrom(0, 0, 0, 20, 200),
    afterMs: fc.integer({ min: 0, max: 150 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      let stalledMs = 0;
      const now = () => performance.now() + stalledMs;
      const store = new SimulatedStore(now);
      const budgets = [openBudget({ now, store }).budget, openBudget({ now, store }).budget] as const;
      const served: number[] = [];
      for (const { callers: count, lane, process, maxWaitMs, latencyMs, stallMs, afterMs } of steps) {
        store.latencyMs = latencyMs;
        for (let caller = 0; caller < count; caller++) {
          const taking = budgets[process].take({ lane, maxWaitMs });
          void taking.then((taken) => {
            if (taken.status !== 'taken') return;
            served.push(now());
            taken.permit.release();
          });
        }
        await vi.advanceTimersByTimeAsync(afterMs);
        stalledMs += stallMs; // time passes and no timer fires
      }
      await vi.advanceTimersByTimeAsync(5000);
      expect(refusals(served, LIMITS.ratePerSecond, LIMITS.burst)).toBe(0);
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: 100 },
  );
});

test('does not send the tokens of a stall in one bunch afterwards', async () => {
  let stalledMs = 0;
  const { budget } = openBudget({ now: () => performance.now() + stalledMs });
  const served = callers(budget, 100);
  await vi.advanceTimersByTimeAsync(20);
  const before = served.length;
  stalledMs += 95; // tokens were leased 100 ms ahead: nine are overdue, six of them by more than the grace
  await vi.advanceTimersByTimeAsync(5);
  expect(served.length - before).toBeLessThanOrEqual(8);
});

test('interactive callers go first, but every tenth token goes to batch', async () => {
  const { budget } = openBudget();
  const order: Lane[] = [];
  for (const lane of ['batch', 'interactive'] as const) {
    for (let caller = 0; caller < 60; caller++)
      void budget.take({ lane }).then(
        () => order.push(lane),
        () => undefined,
      );
  }
  await vi.advanceTimersByTimeAsync(400);
  expect(order.slice(0, 30).filter((lane) => lane === 'batch')).toHaveLength(3);
});

test('serves callers of one lane in the order they came', async () => {
  const { budget } = openBudget();
  const order: number[] = [];
  for (let caller = 0; caller < 20; caller++) void budget.take({ lane: 'batch' }).then(() => order.push(caller));
  await vi.advanceTimersByTimeAsync(1000);
  expect(order).toEqual(Array.from({ length: 20 }, (_, caller) => caller));
});

test('keeps calls in flight within the limits, and counts a permit returned twice once', async () => {
  const { budget } = openBudget({ limits: { ratePerSecond: 1000, burst: 500, concurrency: 3 } });
  const permits: (() => void)[] = [];
  for (let caller = 0; caller < 10; caller++) {
    void budget.take({ lane: 'batch' }).then(
      (taken) => taken.status === 'taken' && permits.push(() => taken.permit.release()),
      () => undefined,
    );
  }
  await vi.advanceTimersByTimeAsync(500);
  expect(permits).toHaveLength(3);
  permits[0]?.();
  permits[0]?.();
  await vi.advanceTimersByTimeAsync(500);
  expect(permits).toHaveLength(4);
});

test('leases no token for later than the most patient caller can wait', async () => {
  const { budget, store } = openBudget();
  callers(budget, 1, { maxWaitMs: 40 });
  await vi.advanceTimersByTimeAsync(1);
  expect(store.requests[0]?.withinMs).toBeCloseTo(40, 0);
});

test('an answer that overtakes an earlier one does not delay its tokens', async () => {
  const { budget, store } = openBudget();
  await vi.advanceTimersByTimeAsync(1000);
  store.latencyMs = 40;
  const served = callers(budget, 15, { lane: 'interactive' });
  await vi.advanceTimersByTimeAsync(21);
  store.latencyMs = 0;
  callers(budget, 7); // their tokens come first and are used after the interactive callers'
  await vi.advanceTimersByTimeAsync(60);
  expect(served.length).toBeGreaterThanOrEqual(5);
});

test('does not use the tokens of a slow first answer, because their lateness is unknown', async () => {
  const { budget, store } = openBudget();
  store.latencyMs = 200;
  const served = callers(budget, 3);
  await vi.advanceTimersByTimeAsync(150);
  store.latencyMs = 2;
  await vi.advanceTimersByTimeAsync(100);
  expect([store.granted, store.calls, served.length]).toEqual([6, 2, 3]);
});

test('callers that come back one by one share leases', async () => {
  const { budget, store } = openBudget({ limits: { ratePerSecond: 2000, burst: 200, concurrency: 64 } });
  let calls = 0;
  const work = async (callMs: number) => {
    for (;;) {
      const taken = await budget.take({ lane: 'batch' });
      calls++;
      await new Promise((resolve) => setTimeout(resolve, callMs));
      if (taken.status === 'taken') taken.permit.release();
    }
  };
  for (let worker = 0; worker < 16; worker++) void work(13 + worker).catch(() => undefined);
  await vi.advanceTimersByTimeAsync(2000);
  expect(calls).toBeGreaterThan(0.9 * 2 * (16 / 0.021)); // the most these workers can do
  expect(store.calls).toBeLessThan(calls / 20);
});

test('a heavy call takes the tokens of several light ones', async () => {
  const { budget } = openBudget();
  const served = callers(budget, 10, { cost: 5 });
  await vi.advanceTimersByTimeAsync(480);
  expect(served).toHaveLength(10);
  expect(served.at(-1)).toBeGreaterThan(430);
});
