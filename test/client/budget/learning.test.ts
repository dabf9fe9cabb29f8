import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allowedRate, type BudgetState, hear429, type Learnt, newState } from '../../support/budget-oracle.ts';

const MODES = ['fixed', 'discover'] as const;
const START_US = 1.7e15;
const FLOOR_RATE = 1 / 60;

/** The allowed rate this long after a cut, with callers waiting all the time. */
function after(seconds: number, rateAtCut: number, { ceiling = 100, mode = MODES[0] as (typeof MODES)[number] } = {}) {
  const learnt: Learnt = { rateAtCut, recoverFromUs: START_US, grownUs: seconds * 1e6 };
  return allowedRate(learnt, ceiling, mode, START_US + seconds * 1e6);
}

test('a learnt rate is never above the ceiling and never zero', () => {
  const learnt = fc.record({
    rateAtCut: fc.double({ min: 0, max: 1e4, noNaN: true }),
    recoverFromUs: fc.double({ min: 0, max: 2 * START_US, noNaN: true }),
    grownUs: fc.double({ min: 0, max: 1e15, noNaN: true }),
  });
  const ceilings = fc.double({ min: 0.001, max: 1e4, noNaN: true });
  fc.assert(
    fc.property(learnt, ceilings, fc.constantFrom(...MODES), (known, ceiling, mode) => {
      const rate = allowedRate(known, ceiling, mode, START_US);
      expect(rate).toBeLessThanOrEqual(ceiling);
      expect(rate).toBeGreaterThanOrEqual(Math.min(ceiling, FLOOR_RATE));
    }),
  );
});

test.each(MODES)(
  'a cut rate (%s) starts at seven tenths, has nearly recovered after 20 s, and grows all the time',
  (mode) => {
    const rates = Array.from({ length: 200 }, (_, second) => after(second, 80, { mode, ceiling: 1000 }));
    expect([rates[0], rates[20]]).toEqual([56, 76]);
    expect(rates.every((rate, second) => second === 0 || rate > (rates[second - 1] ?? 0))).toBe(true);
  },
);

test('a fixed rate probes upwards by a quarter of a percent of its ceiling a second, up to the ceiling', () => {
  expect(after(21, 80) - after(20, 80)).toBeCloseTo(0.25);
  expect(after(1000, 80)).toBe(100);
  expect(after(1000, FLOOR_RATE)).toBe(100);
});

test('a discovered rate stays below the rate at its last cut for a while, and exceeds it where no call is limited', () => {
  expect(after(35, 80, { mode: 'discover', ceiling: 1e4 })).toBeLessThan(80);
  expect(after(220, 80, { mode: 'discover', ceiling: 1e4 })).toBeGreaterThan(500);
});

test('a discovered rate starts at one a second and doubles every four', () => {
  const rates = [0, 2, 4, 8, 40, 1e6].map((seconds) => after(seconds, 0, { mode: 'discover', ceiling: 5000 }));
  expect(rates).toEqual([1, 1.5, 2, 4, 1024, 5000]);
});

test('only a call let go after the last cut took effect and its block ended cuts the rate again', () => {
  const hear = (state: BudgetState, admittedAtMs: number, forMs: number, nowUs: number) =>
    hear429(state, { forMs, admittedAtMs, pace: { ratePerSecond: 40, burst: 1 } }, nowUs);
  const first = hear(newState(0), 0.005, 1000, 2e6);
  expect([first.isCut, first.state.learnt]).toEqual([true, { rateAtCut: 40, recoverFromUs: 3e6, grownUs: 0 }]);
  const same = hear(first.state, 2900, 900, 3.1e6);
  expect([same.isCut, same.state.learnt]).toMatchObject([false, { rateAtCut: 40, recoverFromUs: 4e6 }]);
  const next = hear(same.state, 4000, 0, 5e6);
  expect([next.isCut, next.state.learnt.recoverFromUs]).toEqual([true, 5.25e6]);
  expect(next.state.learnt.rateAtCut).toBeCloseTo(29.4, 0); // a second after the block of the first cut
});
