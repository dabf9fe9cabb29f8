import { expect, test, vi } from 'vitest';
import { nextStartMs } from '../../src/budget/spacing.ts';
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

test.each([
  ['the first calls are not kept apart', { startsAtMs: 0, nowMs: 100, perMs: 0 }, 99.5],
  [
    'calls of a service that takes thousands a second are not kept apart',
    { startsAtMs: 100, nowMs: 100, perMs: 5 },
    100,
  ],
  ['calls are kept apart by a third of the time between them', { startsAtMs: 100, nowMs: 100, perMs: 1 }, 100.3],
  [
    'however slow the service, calls start no more than a millisecond apart',
    { startsAtMs: 100, nowMs: 100, perMs: 0.04 },
    101,
  ],
  ['a late timer costs nothing', { startsAtMs: 99.6, nowMs: 100, perMs: 1 }, 99.9],
  ['what was not used for longer is not saved up', { startsAtMs: 50, nowMs: 100, perMs: 1 }, 99.8],
])('%s', (_, { startsAtMs, nowMs, perMs }, expected) => {
  expect(nextStartMs(startsAtMs, nowMs, perMs)).toBeCloseTo(expected);
});
