/** Several processes that share one key against a service with a limit, in virtual time. */
import { vi } from 'vitest';
import type { BudgetLimits } from '../../../src/client/budget/budget.ts';
import { createBudget } from '../../../src/client/budget/key-budget.ts';
import { serviceBucket } from './service-bucket.ts';
import { SimulatedStore } from './simulated-store.ts';

export interface Traffic {
  readonly store: SimulatedStore;
  /** When each call was answered, and whether with 429. */
  readonly answers: readonly { readonly atMs: number; readonly isRefused: boolean }[];
  readonly run: (forMs: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface ServiceModel {
  readonly ratePerSecond: number;
  readonly burst: number;
  /** Undefined: a 429 has no Retry-After. */
  readonly retryAfterS?: number;
  readonly latencyMs?: number;
}

/** Each process has `workers` that send one call after the other. Needs a fake clock. */
export function startTraffic(
  service: ServiceModel,
  limits: BudgetLimits,
  { processes = 4, workers = 16, store = new SimulatedStore() } = {},
): Traffic {
  const isAllowed = serviceBucket(service.ratePerSecond, service.burst);
  const answers: { atMs: number; isRefused: boolean }[] = [];
  const halfMs = (service.latencyMs ?? 20) / 2;
  store.latencyMs = 2;
  const budgets = Array.from({ length: processes }, () => createBudget({ key: 'demo', limits, store }));
  const work = async (budget: (typeof budgets)[number]) => {
    for (;;) {
      const taken = await budget.take({ lane: 'batch' });
      if (taken.status !== 'taken') continue;
      await pass(halfMs);
      const isRefused = !isAllowed(performance.now());
      await pass(halfMs);
      answers.push({ atMs: performance.now(), isRefused });
      if (isRefused) void taken.permit.limited((service.retryAfterS ?? 1) * 1000); // the client's default
      taken.permit.release();
    }
  };
  for (const budget of budgets) {
    for (let worker = 0; worker < workers; worker++) void work(budget).catch(() => undefined);
  }
  return {
    store,
    answers,
    run: async (forMs) => {
      await vi.advanceTimersByTimeAsync(forMs);
    },
    async close() {
      const closing = Promise.all(budgets.map((budget) => budget.close()));
      await vi.advanceTimersByTimeAsync(5000);
      await closing;
    },
  };
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** For the last `forMs`: successful calls as a share of what the service allows. The count of 429s covers all answers. */
export function figuresOf({ answers }: Traffic, ratePerSecond: number, forMs: number) {
  const fromMs = performance.now() - forMs;
  const used = answers.filter(({ atMs, isRefused }) => atMs > fromMs && !isRefused).length;
  const refused = answers.filter(({ isRefused }) => isRefused).length / answers.length;
  return { use: used / ((forMs / 1000) * ratePerSecond), refused };
}
