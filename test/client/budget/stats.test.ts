import { expect, test, vi } from 'vitest';
import { WaitTimes } from '../../../src/client/budget/wait-times.ts';
import { callers, LIMITS, openBudget, permit, useFakeClock } from './fake-clock.ts';

useFakeClock();

test('percentiles of the wait are accurate to 1%', () => {
  const waits = new WaitTimes();
  expect(waits.stats()).toEqual({ p50Ms: undefined, p99Ms: undefined });
  for (let waitedMs = 1; waitedMs <= 1000; waitedMs++) waits.add(waitedMs);
  const { p50Ms = 0, p99Ms = 0 } = waits.stats();
  expect(Math.abs(p50Ms / 500 - 1)).toBeLessThan(0.011);
  expect(Math.abs(p99Ms / 990 - 1)).toBeLessThan(0.011);
});

test('counts waits of zero and of days', () => {
  const waits = new WaitTimes();
  waits.add(0);
  expect(waits.stats().p99Ms).toBe(0);
  waits.add(1e9);
  expect(waits.stats().p99Ms).toBeGreaterThan(3_600_000);
});

test('reports how long its callers waited in each lane, and how its tokens were used', async () => {
  const { budget } = openBudget();
  callers(budget, 50);
  await vi.advanceTimersByTimeAsync(1000);
  const { waits, used, ratePerSecond } = budget.stats();
  expect(waits.batch.p50Ms).toBeGreaterThan(200);
  expect(waits.batch.p50Ms).toBeLessThan(300);
  expect(waits.interactive.p50Ms).toBeUndefined();
  expect(used).toBe(50);
  expect(ratePerSecond).toBe(99);
});

test('reports 429s, how many of them slowed the key down, to what rate, and how long they block it', async () => {
  const { budget } = openBudget();
  const [one, other] = [await permit(budget), await permit(budget)];
  await one.limited(100);
  await other.limited(100);
  expect(budget.stats()).toMatchObject({ limited: 2, blockedForMs: 100 });
  expect(budget.stats().ratePerSecond).toBeCloseTo(0.7 * 99);
  expect(budget.stats().learntPerSecond).toBeCloseTo(0.7 * 99);
});

test('the margin for a small burst is no rate that was learnt from the service', async () => {
  const { budget } = openBudget({ limits: { ...LIMITS, ratePerSecond: 10, burst: 1 } });
  await permit(budget);
  expect(budget.stats().ratePerSecond).toBeCloseTo(9.09);
  expect(budget.stats().learntPerSecond).toBeUndefined();
});

test('reports how long a caller waits because the headers of the service allow few calls', async () => {
  const { budget } = openBudget();
  const answered = await permit(budget);
  await answered.hinted({ remaining: 2, resetMs: 600_000 });
  callers(budget, 60);
  await vi.advanceTimersByTimeAsync(1000);
  expect(budget.stats().blockedForMs).toBeGreaterThan(30_000);
});

test('grants retries while there are any; successful calls add more without a store call', async () => {
  const { budget, store } = openBudget();
  const answered = await permit(budget);
  store.state = { ...store.state, retries: { tenths: 15, askedAtUs: performance.now() * 1000 } };
  expect(await budget.retry()).toEqual({ status: 'granted' });
  expect(await budget.retry()).toMatchObject({ status: 'empty' });
  const before = store.calls;
  for (let success = 0; success < 10; success++) answered.succeeded();
  expect(store.calls).toBe(before);
  expect(await budget.retry()).toEqual({ status: 'granted' });
  expect(budget.stats().retries).toEqual({ granted: 2, empty: 1 });
});
