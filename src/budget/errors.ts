/** What a budget says when it cannot be taken from. */
import { LockstepError } from '../errors.ts';

export function closedError(key: string): LockstepError {
  return new LockstepError('BUDGET_CLOSED', `The budget of "${key}" is closed: this process is shutting down.`);
}

/** Throws BUDGET_COST. */
export function assertCost(key: string, cost: number, burst: number): void {
  if (Number.isInteger(cost) && cost >= 1 && cost <= burst) return;
  const message = `A call of cost ${cost} does not fit the budget of "${key}": expected a whole number from 1 to its burst, ${burst}.`;
  throw new LockstepError('BUDGET_COST', message);
}
