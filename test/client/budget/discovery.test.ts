import { expect, test } from 'vitest';
import { allowedRate } from '../../support/budget-oracle.ts';
import { useFakeClock } from './fake-clock.ts';
import { SimulatedStore } from './simulated-store.ts';
import { figuresOf, startTraffic } from './simulated-traffic.ts';

useFakeClock();

const UNKNOWN = { ratePerSecond: 10_000, burst: 10_000, concurrency: 64, mode: 'discover' } as const;
const MINUTE = 60_000;

test.each([
  [10, 10, undefined],
  [10, 10, 5],
  [20, 20, 1],
  [40, 4, 1],
])(
  'a hidden limit of %d/s with a burst of %d and a Retry-After of %s s is found within two minutes by four processes',
  async (ratePerSecond, burst, retryAfterS) => {
    const traffic = startTraffic({ ratePerSecond, burst, retryAfterS }, UNKNOWN);
    await traffic.run(3 * MINUTE);
    const { use, refused } = figuresOf(traffic, ratePerSecond, MINUTE);
    await traffic.close();
    expect(use).toBeGreaterThanOrEqual(0.85);
    expect(refused).toBeLessThan(0.02);
  },
);

test('the next process starts at the rate that was found', async () => {
  const store = new SimulatedStore();
  const first = startTraffic({ ratePerSecond: 20, burst: 20 }, UNKNOWN, { store });
  await first.run(3 * MINUTE);
  await first.close();
  const next = startTraffic({ ratePerSecond: 20, burst: 20 }, UNKNOWN, { store, processes: 2 });
  await next.run(10_000);
  const { use, refused } = figuresOf(next, 20, 10_000);
  await next.close();
  expect(use).toBeGreaterThan(0.7);
  expect(refused).toBeLessThan(0.02);
});

test('an unused rate does not grow, and a little-used rate grows little', async () => {
  const traffic = startTraffic({ ratePerSecond: 1e6, burst: 1e6, latencyMs: 100 }, UNKNOWN, {
    processes: 1,
    workers: 1,
  });
  await traffic.run(10 * MINUTE);
  const { learnt } = traffic.store.state;
  await traffic.close();
  expect(allowedRate(learnt, 10_000, 'discover', 0)).toBeLessThan(20); // one worker makes ten calls a second
});

test.each([
  [30, 30],
  [8, 4],
])(
  'a key whose owner says 40/s, of a service that allows %d/s with a burst of %d, is slowed down to that',
  async (ratePerSecond, burst) => {
    const limits = { ratePerSecond: 40, burst: 4, concurrency: 64 };
    const traffic = startTraffic({ ratePerSecond, burst, retryAfterS: 1 }, limits);
    await traffic.run(3 * MINUTE);
    const { use, refused } = figuresOf(traffic, ratePerSecond, MINUTE);
    await traffic.close();
    expect(use).toBeGreaterThanOrEqual(0.85);
    expect(refused).toBeLessThan(0.02);
  },
);
