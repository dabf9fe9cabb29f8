/** Orders of one load that wait for the same answer: which customer is meant. One decision can be about all of them. */
import { type Decision, listDecisions } from '../engine/ledger/decisions.ts';
import { type ReviewItem, reviewItems } from '../engine/ledger/views/review-items.ts';
import type { Queryable } from '../storage/queryable.ts';
import { canUndo } from './review-decisions.ts';

export function asksForCustomer({ kind, reason }: Pick<ReviewItem, 'kind' | 'reason'>): boolean {
  return kind === 'order' && ['AMBIGUOUS_CUSTOMER', 'CUSTOMER_UNCLEAR'].includes(reason);
}

/** The other orders of its load that name their customer as this one does, and may belong to the same customers; at most `limit`. */
export async function ordersOfSameCustomer(
  db: Queryable,
  item: ReviewItem,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly ReviewItem[]> {
  if (!asksForCustomer(item)) return [];
  const alike = await reviewItems(db, { alike: item }, { limit: limit + 1 });
  return alike.filter(({ n, version }) => n !== item.n && version === item.version).slice(0, limit);
}

/** The other decisions that chose the same for orders of its load, and can be undone. */
export async function decisionsLike(db: Queryable, decision: Decision): Promise<readonly Decision[]> {
  if (!asksForCustomer(decision)) return [];
  const choiceOf = ({ run, reason, choice, record }: Decision) => JSON.stringify([run, reason, choice, record]);
  const wanted = choiceOf(decision);
  const all = await listDecisions(db, { kind: 'order', account: decision.account });
  return all.filter((one) => one.entry !== decision.entry && canUndo(one) && choiceOf(one) === wanted);
}
