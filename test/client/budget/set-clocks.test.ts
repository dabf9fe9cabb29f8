/** Clocks that are set or stop: the budget loses little time and is never exceeded. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Budget, Lane } from '../../../src/client/budget/budget.ts';
import { createBudget } from '../../../src/client/budget/key-budget.ts';
import { type BudgetState, decide, LEASE_US } from '../../support/budget-oracle.ts';
import { callers, LIMITS, openBudget, useFakeClock } from './fake-clock.ts';
import { refusals } from './service-bucket.ts';
import { SimulatedStore } from './simulated-store.ts';

const HOUR_MS = 60 * 60 * 1000;
/** docs/reliability.md gives figures made with more rounds. */
const RUNS = Number(process.env.CLOCK_RUNS ?? 40);

describe('the decision on a clock that is set back', () => {
  const START_US = 1.7e15;
  const paces = fc.record({
    ratePerSecond: fc.double({ min: 0.2, max: 5000, noNaN: true }),
    burst: fc.double({ min: 1, max: 300, noNaN: true }),
  });
  const steps = fc.array(
    fc.record({
      afterIntervals: fc.double({ min: 0, max: 30, noNaN: true }),
      backUs: fc.constantFrom(0, 0, 1, 1000, 1e6, 3.6e9, 1e12),
      lane: fc.constantFrom<Lane>('interactive', 'batch'),
      want: fc.integer({ min: 0, max: 40 }),
      cost: fc.constantFrom(1, 1, 1, 2, 5),
    }),
    { maxLength: 60 },
  );

  test('no window of real time sees more calls than the budget, and no answer asks for a longer wait than before', () => {
    fc.assert(
      fc.property(paces, steps, (pace, requests) => {
        let [realUs, setByUs] = [0, 0];
        let state: BudgetState | undefined;
        const made: { atUs: number; cost: number }[] = [];
        for (const { afterIntervals, backUs, ...request } of requests) {
          realUs += Math.round((afterIntervals * 1e6) / pace.ratePerSecond);
          setByUs -= backUs;
          const asked = { ...request, pace };
          const decision = decide(state, asked, START_US + realUs + setByUs);
          state = decision.state;
          for (let call = 0; call < decision.granted; call++) {
            const inUs = decision.firstInUs + (call * asked.cost * 1e6) / decision.rate;
            made.push({ atUs: realUs + Math.max(0, inUs), cost: asked.cost });
          }
          const heaviestUs = (5 * 1e6) / pace.ratePerSecond;
          expect(decision.firstInUs).toBeLessThan(1e6 + LEASE_US + 2 * heaviestUs);
        }
        made.sort((a, b) => a.atUs - b.atUs);
        const burst = Math.max(pace.burst, ...made.map(({ cost }) => cost));
        for (const [from, first] of made.entries()) {
          let calls = 0;
          for (const { atUs, cost } of made.slice(from)) {
            calls += cost;
            const allowed = ((atUs - first.atUs) * pace.ratePerSecond) / 1e6 + burst;
            if (calls > allowed + 0.01) expect.fail(`${calls} calls in ${atUs - first.atUs} µs, ${allowed} allowed`);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe('a process whose store’s clock is set', () => {
  useFakeClock();

  const step = fc.record({
    callers: fc.integer({ min: 10, max: 30 }),
    lane: fc.constantFrom<Lane>('interactive', 'batch'),
    process: fc.nat(),
    latencyMs: fc.integer({ min: 0, max: 20 }),
    setByMs: fc.constantFrom(0, 700, -700, HOUR_MS, -HOUR_MS),
    afterMs: fc.integer({ min: 0, max: 150 }),
  });

  // A process that does not ask between two changes of the clock sees only their sum.
  test.each([
    [1, 'however often it is set', Number.POSITIVE_INFINITY],
    [3, 'set once', 1],
  ])(
    'of %d: %s, the service refuses nothing and callers are served within two seconds',
    async (count, _, mostSets) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), fc.nat(14), async (steps, setAt) => {
          let setByMs = 0;
          const now = () => performance.now();
          const store = new SimulatedStore(() => now() + setByMs);
          const budgets = Array.from({ length: count }, () => openBudget({ now, store }).budget);
          const served: number[] = [];
          const call = (budget: Budget, lane: Lane) =>
            budget.take({ lane }).then((taken) => {
              if (taken.status !== 'taken') return;
              served.push(now());
              taken.permit.release();
            });
          for (const budget of budgets) void call(budget, 'batch');
          await vi.advanceTimersByTimeAsync(50); // each has received one answer of the store
          let asked = count;
          for (const [at, { callers: more, lane, process, ...given }] of steps.entries()) {
            store.latencyMs = given.latencyMs;
            if (at === setAt || mostSets > 1) setByMs += given.setByMs;
            for (let caller = 0; caller < more; caller++) void call(budgets[process % count] as Budget, lane);
            asked += more;
            await vi.advanceTimersByTimeAsync(given.afterMs);
          }
          await vi.advanceTimersByTimeAsync(2_000 + (1_100 * asked) / LIMITS.ratePerSecond);
          expect(served).toHaveLength(asked);
          expect(refusals(served, LIMITS.ratePerSecond, LIMITS.burst)).toBe(0);
        }),
        { numRuns: RUNS },
      );
    },
    30_000 + 100 * RUNS,
  );
});

test('after a suspension no earlier token is used, although the monotonic clock stopped', async () => {
  vi.useFakeTimers();
  try {
    const store = new SimulatedStore(Date.now);
    const budget = createBudget({ key: 'demo', limits: LIMITS, store });
    const served = callers(budget, 40);
    await vi.advanceTimersByTimeAsync(20);
    const before = served.length;
    vi.setSystemTime(Date.now() + HOUR_MS); // and performance.now() continues from its old value
    store.isSilent = true;
    await vi.advanceTimersByTimeAsync(200);
    expect(served.length).toBe(before);
    await budget.close();
  } finally {
    vi.useRealTimers();
  }
});
