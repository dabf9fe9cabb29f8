import { expect, test, vi } from 'vitest';
import type { RateHint } from '../../../src/client/budget/budget.ts';
import { Bounds, stopOf } from '../../../src/client/budget/hints.ts';
import { callers, LIMITS, openBudget, permit, useFakeClock } from './fake-clock.ts';

useFakeClock();

const MINUTE = 60_000;

function boundBy(...hints: RateHint[]) {
  const bounds = new Bounds();
  for (const hint of hints) bounds.hear(hint, 0);
  return bounds.tightest(0);
}

test.each<[string, RateHint, number | undefined]>([
  ['nothing left for 5 s', { remaining: 0, resetMs: 5000 }, 5000],
  ['nothing left for an hour', { remaining: 0, resetMs: 60 * MINUTE }, 15 * MINUTE],
  ['nothing left for a second: rounding', { remaining: 0, resetMs: 1000 }, undefined],
  ['nothing left, and no reset time', { remaining: 0 }, undefined],
  ['something left', { remaining: 1, resetMs: 5000 }, undefined],
])('%s', (_, hint, stopMs) => {
  expect(stopOf(hint)).toBe(stopMs);
});

test.each<[string, RateHint[], object | undefined]>([
  ['what remains is spread until the reset', [{ remaining: 30, resetMs: 10_000 }], { ratePerSecond: 3, forMs: 10_000 }],
  ['a reset within a second says nothing', [{ remaining: 5, resetMs: 1000, limit: 10 }], undefined],
  ['a limit without a window says nothing', [{ limit: 100, remaining: 60 }], undefined],
  ['a limit a window bounds the rate', [{ limit: 60, windowMs: MINUTE }], { ratePerSecond: 1, forMs: 15 * MINUTE }],
  [
    'a window of 15 minutes still bounds it',
    [{ limit: 900, windowMs: 15 * MINUTE }],
    { ratePerSecond: 1, forMs: 15 * MINUTE },
  ],
  ['a limit of nothing says nothing', [{ limit: 0, windowMs: MINUTE }], undefined],
  ['a window of nothing says nothing', [{ limit: 5, windowMs: 0 }], undefined],
  ['nothing remaining is a stop, and no rate', [{ remaining: 0, resetMs: 5000 }], undefined],
  ['a reset alone says nothing', [{ resetMs: 5000 }], undefined],
  ['a daily quota is no rate', [{ limit: 1000, windowMs: 24 * 60 * MINUTE }], undefined],
  [
    'the tighter of the two counts',
    [
      { limit: 60, windowMs: MINUTE },
      { remaining: 1, resetMs: 4000 },
    ],
    { ratePerSecond: 0.25, forMs: 4000 },
  ],
  [
    'the newest of its kind counts',
    [
      { remaining: 1, resetMs: 4000 },
      { remaining: 8, resetMs: 4000 },
    ],
    { ratePerSecond: 2, forMs: 4000 },
  ],
])('%s', (_, hints, bound) => {
  expect(boundBy(...hints)).toEqual(bound);
});

test('a bound ends at its time', () => {
  const bounds = new Bounds();
  bounds.hear({ remaining: 8, resetMs: 4000 }, 0);
  expect(bounds.tightest(3_999)).toEqual({ ratePerSecond: 2, forMs: 1 });
  expect(bounds.tightest(4_000)).toBeUndefined();
});

test('headers with nothing remaining stop every process until the reset, and do not cut the rate', async () => {
  const { budget, store } = openBudget();
  const { budget: other } = openBudget({ store });
  const answered = await permit(budget);
  await permit(other);
  const served = callers(other, 50);
  await answered.hinted({ remaining: 0, resetMs: 3000 });
  await vi.advanceTimersByTimeAsync(250);
  const before = served.length;
  await vi.advanceTimersByTimeAsync(2700);
  expect(served).toHaveLength(before);
  await vi.advanceTimersByTimeAsync(2000);
  expect(served).toHaveLength(50);
  expect(budget.stats().limited).toBe(0);
});

test('the few calls that remain until a reset cost no time after it, in no process', async () => {
  const { budget, store } = openBudget({ limits: { ...LIMITS, burst: 119 } });
  const { budget: other } = openBudget({ store, limits: { ...LIMITS, burst: 119 } });
  const [answered, later] = [await permit(budget), await permit(budget)];
  await answered.hinted({ remaining: 1, resetMs: 2000 });
  const served = callers(budget, 20);
  await vi.advanceTimersByTimeAsync(20);
  await later.hinted({ remaining: 0, resetMs: 2000 });
  const [waiting, others] = [callers(budget, 20), callers(other, 20)];
  await vi.advanceTimersByTimeAsync(4000);
  expect([served.length, waiting.length, others.length]).toEqual([20, 20, 20]);
});

test('a limit from headers travels with the next ask, slows down every process, and never speeds one up', async () => {
  const { budget, store } = openBudget();
  const answered = await permit(budget);
  await answered.hinted({ limit: 600, windowMs: MINUTE });
  expect(store.calls).toBe(store.requests.length); // no call of its own
  callers(budget, 1);
  await vi.advanceTimersByTimeAsync(500);
  const served = callers(openBudget({ store }).budget, 100);
  await vi.advanceTimersByTimeAsync(5000);
  expect(served.length).toBeLessThan(60);
  await answered.hinted({ limit: 6_000_000, windowMs: MINUTE });
  await vi.advanceTimersByTimeAsync(500);
  expect(budget.stats().ratePerSecond).toBeLessThanOrEqual(LIMITS.ratePerSecond);
});

test('reports a stop that repeats in every answer to the store once', async () => {
  const { budget, store } = openBudget();
  const answered = await permit(budget);
  const before = store.calls;
  for (let answer = 0; answer < 10; answer++) await answered.hinted({ remaining: 0, resetMs: 5000 });
  expect(store.calls).toBe(before + 1);
});
