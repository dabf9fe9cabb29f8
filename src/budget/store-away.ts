/** The store's answer within a time, or a clear error: the budget fails closed. */
import { LockstepError, messageOf } from '../errors.ts';
import type { BudgetStore } from './budget.ts';

/** Waits for `answer`; what goes wrong, and silence after `timeoutMs`, is thrown as BUDGET_STORE_AWAY. */
export async function orStoreAway<T>(
  answer: Promise<T>,
  key: string,
  store: BudgetStore,
  timeoutMs: number,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([answer, silence]);
  } catch (cause) {
    const what = `The rate budget of "${key}" cannot be asked, so nothing is sent`;
    const message = `${what}: ${store.name} is away (${messageOf(cause)}). Remedy: ${store.remedy}.`;
    throw new LockstepError('BUDGET_STORE_AWAY', message, { cause });
  } finally {
    clearTimeout(timer);
  }
}
