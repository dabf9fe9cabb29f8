/** Limits far above those of the core tests; simulating them is slow. */
import { expect, test } from 'vitest';
import { useFakeClock } from '../client/budget/fake-clock.ts';
import { figuresOf, startTraffic } from '../client/budget/simulated-traffic.ts';

useFakeClock();

const UNKNOWN = { ratePerSecond: 10_000, burst: 10_000, concurrency: 64, mode: 'discover' } as const;
const MINUTE = 60_000;

test.each([
  [200, 200, 2],
  [200, 10, 1],
  [1_000, 1_000, undefined],
  [1_000, 10, 2],
])(
  'a hidden limit of %d/s with a burst of %d and a Retry-After of %s s is found',
  async (ratePerSecond, burst, after) => {
    const traffic = startTraffic({ ratePerSecond, burst, retryAfterS: after }, UNKNOWN);
    await traffic.run(3 * MINUTE);
    const { use, refused } = figuresOf(traffic, ratePerSecond, MINUTE);
    await traffic.close();
    expect(use).toBeGreaterThanOrEqual(0.85);
    expect(refused).toBeLessThan(0.02);
  },
);
