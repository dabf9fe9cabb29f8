import fc from 'fast-check';
import { expect, test } from 'vitest';
import { safeLimits } from '../../../src/client/budget/safe-limits.ts';
import { refusals } from './service-bucket.ts';

const limits = fc.record({
  ratePerSecond: fc.double({ min: 0.5, max: 5000, noNaN: true }),
  burst: fc.oneof(fc.constantFrom(1, 2, 3), fc.integer({ min: 1, max: 3000 })),
});

test('a service that enforces its limits to the token answers no 429 while the jitter is within the plan', () => {
  fc.assert(
    fc.property(
      limits,
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 200, maxLength: 200 }),
      (given, lateness) => {
        const { pace, jitterMs } = safeLimits(given);
        const intervalMs = 1000 / pace.ratePerSecond;
        const plannedMs = lateness.map((_, call) => Math.max(0, (call + 1 - pace.burst) * intervalMs));
        const arrivalsMs = plannedMs.map((atMs, call) => atMs + (lateness[call] ?? 0) * jitterMs);
        expect(refusals(arrivalsMs, given.ratePerSecond, given.burst)).toBe(0);
      },
    ),
  );
});

test('the margin covers one late call before calls that are on time', () => {
  for (const burst of [1, 2, 3, 20, 200]) {
    const { pace, jitterMs } = safeLimits({ ratePerSecond: 200, burst });
    const intervalMs = 1000 / pace.ratePerSecond;
    for (let late = 0; late < 300; late++) {
      const plannedMs = Array.from({ length: 600 }, (_, call) => Math.max(0, (call + 1 - pace.burst) * intervalMs));
      const heldUntilMs = (plannedMs[late] ?? 0) + jitterMs; // a stall delays all calls of that time
      const arrivalsMs = plannedMs.map((atMs, call) => (call >= late ? Math.max(atMs, heldUntilMs) : atMs));
      const held = arrivalsMs.map((atMs, call) => Math.min(atMs, (plannedMs[call] ?? 0) + jitterMs));
      expect(refusals(held, 200, burst)).toBe(0);
    }
  }
});

test.each([
  [10, 10, 0.99],
  [200, 20, 0.99],
  [200, 3, 0.99],
  [2000, 200, 0.99],
  [2000, 2000, 0.99],
  [2000, 20, 0.95],
  [2 / 60, 1, 0.99],
  [10, 1, 0.9],
  [200, 1, 0.33],
])('a budget of %d/s with a burst of %d runs at %d of the rate', (ratePerSecond, burst, share) => {
  const { pace } = safeLimits({ ratePerSecond, burst });
  expect(pace.ratePerSecond / ratePerSecond).toBeGreaterThan(share - 0.005);
  expect(pace.ratePerSecond).toBeLessThan(ratePerSecond);
  expect(pace.burst).toBeGreaterThanOrEqual(1);
});

test('a budget of a few calls a minute gives a busy process time to use each token, also without a burst', () => {
  expect(safeLimits({ ratePerSecond: 2 / 60, burst: 1 }).graceMs).toBeGreaterThan(100);
});
