/** Budgets on a fake clock, over a simulated store. */
import { afterEach, beforeEach, vi } from 'vitest';
import type { Budget, BudgetLimits, Permit, TakeOptions } from '../../../src/client/budget/budget.ts';
import { type BudgetOptions, createBudget } from '../../../src/client/budget/key-budget.ts';
import { SimulatedStore } from './simulated-store.ts';

export const LIMITS: BudgetLimits = { ratePerSecond: 100, burst: 21, concurrency: 1000 }; // of which 2 remain a burst
const opened: Budget[] = [];

/** Fakes the clock for each test of this file and closes what it opened. */
export function useFakeClock(): void {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(async () => {
    const closing = Promise.all(opened.splice(0).map((budget) => budget.close()));
    await vi.advanceTimersByTimeAsync(5000); // time for calls to the store
    await closing;
    vi.useRealTimers();
  });
}

export function openBudget(given: Partial<BudgetOptions> & { store?: SimulatedStore } = {}) {
  const { store = new SimulatedStore(given.now) } = given;
  const budget = createBudget({ key: 'demo', limits: LIMITS, ...given, store });
  opened.push(budget);
  return { budget, store };
}

/** Callers that all start now and whose calls take no time; returns when each was served, as it happens. */
export function callers(budget: Budget, count: number, options: Partial<TakeOptions> = {}): number[] {
  const servedAtMs: number[] = [];
  for (let caller = 0; caller < count; caller++) {
    void budget.take({ lane: 'batch', ...options }).then(
      (taken) => {
        if (taken.status !== 'taken') return;
        servedAtMs.push(performance.now());
        taken.permit.release();
      },
      () => undefined,
    );
  }
  return servedAtMs;
}

/** A permit for a call in flight. */
export async function permit(budget: Budget): Promise<Permit> {
  const taking = budget.take({ lane: 'interactive' });
  await vi.advanceTimersByTimeAsync(20);
  const taken = await taking;
  if (taken.status !== 'taken') throw new Error('there was no token');
  return taken.permit;
}
