/** Why a budget cannot be taken from. */
import { LockstepError, messageOf } from '../../base/errors.ts';
import { inTime } from '../../base/in-time.ts';
import type { BudgetStore } from './budget.ts';

export function closedError(key: string): LockstepError {
  const why = 'its account was opened again with other settings, or this process is shutting down';
  return new LockstepError('BUDGET_CLOSED', `The budget of "${key}" is closed: ${why}. The work is retried later.`);
}

/** Throws BUDGET_COST. */
export function assertCost(key: string, cost: number, burst: number): void {
  if (Number.isInteger(cost) && cost >= 1 && cost <= burst) return;
  const message = `A call that counts as ${cost} does not fit the budget of "${key}": expected a whole number from 1 to its burst, ${burst}.`;
  throw new LockstepError('BUDGET_COST', message);
}

/**
 * The store's answer. Throws BUDGET_STORE_AWAY for any error and after `timeoutMs` without an answer: the budget fails
 * closed.
 */
export async function orStoreAway<T>(
  answer: Promise<T>,
  key: string,
  store: BudgetStore,
  timeoutMs: number,
): Promise<T> {
  try {
    return await inTime(answer, timeoutMs);
  } catch (cause) {
    const what = `The rate budget of "${key}" cannot be read, so nothing is sent`;
    const message = `${what}: ${store.name} is unavailable (${messageOf(cause)}). Remedy: ${store.remedy}.`;
    throw new LockstepError('BUDGET_STORE_AWAY', message, { cause });
  }
}
