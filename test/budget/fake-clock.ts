/** Budgets on a fake clock, over a simulated store. */
import { afterEach, beforeEach, vi } from 'vitest';
import type { Budget, BudgetLimits, TakeOptions } from '../../src/budget/budget.ts';
import { type BudgetOptions, createBudget } from '../../src/budget/key-budget.ts';
import { SimulatedStore } from './simulated-store.ts';

export const LIMITS: BudgetLimits = { ratePerSecond: 100, burst: 21, concurrency: 1000 }; // of which 2 remain a burst
const opened: Budget[] = [];

/** Fakes the clock for each test of this file and closes what it opened. */
export function useFakeClock(): void {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(async () => {
    for (const budget of opened.splice(0)) await budget.close();
    vi.useRealTimers();
  });
}

export function openBudget(given: Partial<BudgetOptions> & { store?: SimulatedStore } = {}) {
  const { store = new SimulatedStore(given.now) } = given;
  const budget = createBudget({ key: 'demo', limits: LIMITS, ...given, store });
  opened.push(budget);
  return { budget, store };
}

/** Callers that all come now; gives when each was served, as it happens. */
export function callers(budget: Budget, count: number, options: Partial<TakeOptions> = {}): number[] {
  const servedAtMs: number[] = [];
  for (let caller = 0; caller < count; caller++) {
    void budget.take({ lane: 'batch', ...options }).then(
      (taken) => taken.status === 'taken' && servedAtMs.push(performance.now()),
      () => undefined,
    );
  }
  return servedAtMs;
}
