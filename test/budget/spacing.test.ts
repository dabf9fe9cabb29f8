import { expect, test, vi } from 'vitest';
import { Spacing } from '../../src/budget/spacing.ts';
import { openBudget, useFakeClock } from './fake-clock.ts';

useFakeClock();

const FREE = { ratePerSecond: 10_000, burst: 10_000, concurrency: 16 };

/** The starts of so many callers who each call a service that always takes as long, again and again, for `forMs`. */
async function startsOf(workers: number, callMs: number, forMs: number): Promise<readonly number[]> {
  const { budget } = openBudget({ limits: FREE });
  const starts: number[] = [];
  const work = async () => {
    for (;;) {
      const taken = await budget.take({ lane: 'batch' });
      starts.push(performance.now());
      await new Promise((resolve) => setTimeout(resolve, callMs));
      if (taken.status === 'taken') taken.permit.release();
    }
  };
  for (let worker = 0; worker < workers; worker++) void work().catch(() => undefined);
  const from = performance.now();
  await vi.advanceTimersByTimeAsync(forMs);
  return starts.map((atMs) => atMs - from);
}

/** The most starts in any one millisecond of the last 100 of `forMs`. */
function worstBunch(starts: readonly number[], forMs: number): number {
  const perMs = new Map<number, number>();
  for (const atMs of starts) {
    if (atMs < forMs - 100) continue;
    perMs.set(Math.floor(atMs), (perMs.get(Math.floor(atMs)) ?? 0) + 1);
  }
  return Math.max(...perMs.values());
}

test('calls that began together have come apart after a few rounds', async () => {
  const starts = await startsOf(16, 20, 1000);
  expect(starts.filter((atMs) => atMs < 5)).toHaveLength(16); // nothing is known yet: they go at once
  expect(worstBunch(starts, 1000)).toBeLessThanOrEqual(3);
});

test('keeping them apart costs hardly any of what could be sent', async () => {
  const starts = await startsOf(16, 20, 2000);
  expect(starts.length).toBeGreaterThan(0.98 * 16 * (2000 / 20));
});

test('a caller without patience is not sent away for the sake of a millisecond', async () => {
  const { budget } = openBudget({ limits: FREE });
  const take = () => budget.take({ lane: 'interactive', maxWaitMs: 0 });
  const released = async () => {
    const taken = await take();
    if (taken.status === 'taken') taken.permit.release();
    return taken.status;
  };
  const first = released(); // the store is asked
  await vi.advanceTimersByTimeAsync(5);
  expect(await first).toBe('taken');
  const keepBusy = setInterval(() => void released(), 20);
  await vi.advanceTimersByTimeAsync(200);
  clearInterval(keepBusy);
  const answers = Promise.all(Array.from({ length: 4 }, released));
  await vi.advanceTimersByTimeAsync(20);
  expect(await answers).toEqual(['taken', 'taken', 'taken', 'taken']);
});

test('the first calls, and those of a service that takes thousands a second, are not kept apart', () => {
  const spacing = new Spacing();
  for (let call = 0; call < 2_000; call++) {
    expect(spacing.holds(call * 0.2)).toBe(false);
    spacing.started(call * 0.2);
  }
});

test('however slow the service, calls start no more than a millisecond apart', () => {
  const spacing = new Spacing();
  for (const atMs of [0, 49, 60]) spacing.started(atMs);
  expect(spacing.holds(60)).toBe(true);
  expect(spacing.startsAtMs).toBe(61);
});

test('what a late timer has held back is made good at once', () => {
  const spacing = new Spacing();
  for (let atMs = 0; atMs < 50; atMs++) spacing.started(atMs);
  spacing.started(50); // 50 in 50 ms: 0.3 ms apart from now on
  expect(spacing.startsAtMs).toBeCloseTo(50.3);
  expect(spacing.holds(50)).toBe(true);
  let started = 0;
  for (; !spacing.holds(51); started++) spacing.started(51);
  expect(started).toBe(3);
  spacing.letGo();
  spacing.started(60);
  expect(spacing.startsAtMs).toBeCloseTo(60.3);
});
