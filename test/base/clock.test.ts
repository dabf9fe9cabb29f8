import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createElapsedClock } from '../../src/base/clock.ts';

const HOUR_MS = 60 * 60 * 1000;

/** The wall clock and the monotonic clock of a machine, and the clock under test built on both. */
function aMachine() {
  let [monotonicMs, wallMs] = [5_000, 1.7e12];
  const elapsed = createElapsedClock({ monotonic: () => monotonicMs, wall: () => Math.floor(wallMs) });
  const startedAtMs = elapsed();
  return {
    pass(ms: number, { isSuspended = false, wallSetByMs = 0, slewed = 0 } = {}) {
      if (!isSuspended) monotonicMs += ms;
      wallMs += ms * (1 + slewed) + wallSetByMs;
      return elapsed() - startedAtMs;
    },
  };
}

test('counts a suspension although the monotonic clock stopped', () => {
  const machine = aMachine();
  machine.pass(1_000);
  expect(machine.pass(HOUR_MS, { isSuspended: true })).toBeCloseTo(HOUR_MS + 1_000, -1);
});

test('a wall clock set back subtracts no time and hides no later suspension', () => {
  const machine = aMachine();
  expect(machine.pass(1_000, { wallSetByMs: -10 * HOUR_MS })).toBe(1_000);
  expect(machine.pass(HOUR_MS, { isSuspended: true })).toBeCloseTo(HOUR_MS + 1_000, -1);
});

test('a wall clock slewed by NTP is not a suspension, however long and often it is read', () => {
  const machine = aMachine();
  let elapsedMs = 0;
  for (let reading = 0; reading < 10_000; reading++) elapsedMs = machine.pass(97.3, { slewed: 0.0005 });
  expect(elapsedMs).toBeCloseTo(973_000, 0);
});

test('changes of the wall clock neither lose elapsed time nor take it back', () => {
  const step = fc.record({
    ms: fc.double({ min: 0, max: 1e5, noNaN: true }),
    wallSetByMs: fc.constantFrom(0, 0, 1_000, -1_000, HOUR_MS, -HOUR_MS),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const machine = aMachine();
      let [passedMs, lastMs] = [0, 0];
      for (const { ms, wallSetByMs } of steps) {
        passedMs += ms;
        const elapsedMs = machine.pass(ms, { wallSetByMs });
        expect(elapsedMs).toBeGreaterThanOrEqual(passedMs - 1e-3);
        expect(elapsedMs).toBeGreaterThanOrEqual(lastMs);
        lastMs = elapsedMs;
      }
    }),
  );
});
