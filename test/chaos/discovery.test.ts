/** Limits far above those of the core tests, whose simulation takes its time. */
import { expect, test } from 'vitest';
import { useFakeClock } from '../budget/fake-clock.ts';
import { figuresOf, startTraffic } from '../budget/simulated-traffic.ts';

useFakeClock();

const UNKNOWN = { ratePerSecond: 10_000, burst: 10_000, concurrency: 64, mode: 'discover' } as const;
const MINUTE = 60_000;

test.each([
  [1_000, undefined],
  [10, 2],
])('a hidden limit of 1,000/s with a burst of %d and a Retry-After of %s s is found', async (burst, retryAfterS) => {
  const traffic = startTraffic({ ratePerSecond: 1_000, burst, retryAfterS }, UNKNOWN);
  await traffic.run(3 * MINUTE);
  const { use, refused } = figuresOf(traffic, 1_000, MINUTE);
  await traffic.close();
  expect(use).toBeGreaterThanOrEqual(0.85);
  expect(refused).toBeLessThan(0.02);
});
