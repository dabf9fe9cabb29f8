import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createElapsedClock } from '../src/clock.ts';

const HOUR_MS = 60 * 60 * 1000;

/** Both clocks of a machine, and the one over them. */
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

test('a suspension counts although the monotonic clock stood still', () => {
  const machine = aMachine();
  machine.pass(1_000);
  expect(machine.pass(HOUR_MS, { isSuspended: true })).toBeCloseTo(HOUR_MS + 1_000, -1);
});

test('a wall clock that is set back takes no time away, and hides no later suspension', () => {
  const machine = aMachine();
  expect(machine.pass(1_000, { wallSetByMs: -10 * HOUR_MS })).toBe(1_000);
  expect(machine.pass(HOUR_MS, { isSuspended: true })).toBeCloseTo(HOUR_MS + 1_000, -1);
});

test('a wall clock that is slewed by NTP is no suspension, however long and however often it is read', () => {
  const machine = aMachine();
  let elapsedMs = 0;
  for (let reading = 0; reading < 10_000; reading++) elapsedMs = machine.pass(97.3, { slewed: 0.0005 });
  expect(elapsedMs).toBeCloseTo(973_000, 0);
});

test('whatever is done to the wall clock, no time that has passed is missing and none is taken back', () => {
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
