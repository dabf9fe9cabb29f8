/** What people decide in the console about rows in review. Nothing is decided about an item that another person decided first. */
import { createHash } from 'node:crypto';
import { plural } from '../../base/counts.ts';
import { LockstepError } from '../../base/errors.ts';
import { type Choice, type Decision, listDecisions, type NewDecision } from '../../engine/ledger/decisions.ts';
import { cursorOf, type ReviewFilter, type ReviewItem, reviewItems } from '../../engine/ledger/views/review-items.ts';
import { type AskNeeds, requirePossible } from '../../operator/check-decisions.ts';
import { longId, oneNamed, reviewUnknown, subjectOf } from '../../operator/review.ts';
import {
  choiceWords,
  decideAll,
  decidedName,
  isLive,
  undoAll,
  undoneWords,
  wordsFor,
} from '../../operator/review-decisions.ts';
import { decisionsLike, ordersOfSameCustomer } from '../../operator/same-customer.ts';
import { quote } from '../../settings/message-parts.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { type ActionNeeds, byWords, type Done, keeping, type Taking } from './actions.ts';

/** One item, and what was decided about it. */
export interface Reviewed {
  /** Undefined if it does not wait. */
  readonly item: ReviewItem | undefined;
  /** The newest first. */
  readonly decisions: readonly Decision[];
}

/** The item of an id as `longId` makes it. @throws LockstepError REVIEW_UNKNOWN if it neither waits nor was decided */
export async function readReviewed(db: Queryable, id: string): Promise<Reviewed> {
  const filter = subjectOf(id);
  const item = oneNamed(await reviewItems(db, filter), id);
  const decisions = await listDecisions(db, filter);
  if (item === undefined && decisions.length === 0)
    throw reviewUnknown(`There is no item ${quote(id)}. It may have been settled since: look at the list again.`);
  return { item, decisions: item ? decisions.filter(({ scope }) => scope === item.scope) : decisions };
}

/** Changes with the evidence and with each decision, so that a person decides about what the page showed. */
export function markOf(item: ReviewItem, decisions: readonly Decision[]): string {
  return `${item.version}-${decisions[0]?.entry ?? 0}`;
}

export interface Chosen {
  readonly choice: Choice;
  readonly record?: string | undefined;
  readonly note?: string | undefined;
  /** `markOf` what the person saw. */
  readonly mark: string;
  /** Decide equally about the other orders of its load that name the same customer. */
  readonly sameCustomer?: boolean | undefined;
}

type DecideNeeds = ActionNeeds & AskNeeds;

/** @throws LockstepError REVIEW_UNKNOWN, REVIEW_DECIDED, REVIEW_CHANGED, CHOICE_NOT_POSSIBLE, CONSOLE_NOT_ALLOWED */
export function decideItem(needs: DecideNeeds, taking: Taking, id: string, chosen: Chosen): Promise<Done> {
  const { choice, record, note, mark, sameCustomer } = chosen;
  const readDecisions = async (db: Queryable): Promise<readonly [NewDecision, ...NewDecision[]]> => {
    const { item, decisions } = await readReviewed(db, id);
    if (!item || markOf(item, decisions) !== mark) throw changedMeanwhile(id, { item, decisions }, mark);
    const others = sameCustomer ? await ordersOfSameCustomer(db, item) : [];
    const about = (one: ReviewItem) => ({ item: one, choice, record, note });
    return [about(item), ...others.map(about)];
  };
  return keeping(needs, taking, `decide-${choice}`, id, async () => {
    const { isUnasked } = await requirePossible(needs, await readDecisions(needs.pool));
    const [first, ...others] = await decideAll(needs.pool, byWords(taking), readDecisions);
    const also = others.length > 0 ? ` and ${plural(others.length, 'other order')} of the same customer` : '';
    return { said: `${decidedName(first.item)}${also}: ${wordsFor(first, isUnasked(first), needs.hint)}` };
  });
}

function changedMeanwhile(id: string, { item, decisions: [newest] }: Reviewed, mark: string): LockstepError {
  const isNew = newest !== undefined && String(newest.entry) !== mark.slice(mark.lastIndexOf('-') + 1);
  if (!isNew) {
    const what = item
      ? `The evidence about ${id} has changed since you opened it`
      : `A run has settled ${id} since you opened it`;
    const message = `${what}, so nothing was decided. Look at it again.`;
    return new LockstepError('REVIEW_CHANGED', message);
  }
  const message = `${newest.decidedBy} decided about ${id} meanwhile: ${choiceWords(newest)}. Your decision was not taken. Look at it again; to decide otherwise, undo that decision first.`;
  return new LockstepError('REVIEW_DECIDED', message);
}

export interface Undoing {
  readonly entry: number;
  /** Undo the equal decisions about other orders of its load too. */
  readonly sameCustomer?: boolean | undefined;
}

/** @throws LockstepError DECISION_APPLIED, REVIEW_DECIDED, REVIEW_UNKNOWN, CONSOLE_NOT_ALLOWED */
export function undoItem(needs: ActionNeeds, taking: Taking, id: string, undoing: Undoing): Promise<Done> {
  const { entry, sameCustomer } = undoing;
  return keeping(needs, taking, 'undo-decision', id, async () => {
    const [first, ...others] = await undoAll(needs.pool, async (db) => {
      const { decisions } = await readReviewed(db, id);
      const decision = decisions.find(isLive);
      if (decision?.entry !== entry) {
        const message = `The decision about ${id} was undone or replaced meanwhile. Look at it again.`;
        throw new LockstepError('REVIEW_DECIDED', message);
      }
      return [decision, ...(sameCustomer ? await decisionsLike(db, decision) : [])] as const;
    });
    if (others.length === 0)
      return { said: `The decision about ${decidedName(first)} is undone: ${undoneWords(first)}.` };
    const about = `${decidedName(first)} and ${plural(others.length, 'other order')}`;
    return { said: `The decisions about ${about} are undone: they are in review again.` };
  });
}

export const GROUP_CHOICES = ['ignore', 'later'] as const;
export type GroupChoice = (typeof GROUP_CHOICES)[number];

type GroupChosen = Pick<Chosen, 'note' | 'mark'> & { readonly choice: GroupChoice };

/** A reason, of one account or sync, or of all. */
export type Group = Pick<ReviewFilter, 'reason' | 'account' | 'sync'>;

/** The items of a group that a choice is about, and a mark that changes with them. */
export async function readGroup(db: Queryable, group: Group, choice: GroupChoice) {
  const items = (await reviewItems(db, group)).filter(({ isLater }) => choice !== 'later' || !isLater);
  const seen = items.map((item) => [item.scope, item.kind, item.subject, item.version, item.isLater]);
  return { items, mark: createHash('sha256').update(JSON.stringify(seen)).digest('base64url').slice(0, 16) };
}

/** @throws LockstepError REVIEW_CHANGED if the group is not as the person saw it, CONSOLE_NOT_ALLOWED */
export function decideGroup(needs: ActionNeeds, taking: Taking, group: Group, chosen: GroupChosen): Promise<Done> {
  const { choice, note, mark } = chosen;
  const about = Object.values(group).filter(Boolean).join(' ') || 'all';
  return keeping(needs, taking, `decide-${choice}`, about, async () => {
    const made = await decideAll(needs.pool, byWords(taking), async (db) => {
      const { items, mark: now } = await readGroup(db, group, choice);
      if (now !== mark) {
        const message = `The rows have changed since you looked: ${plural(items.length, 'row')} now. Nothing was decided. Look at them again.`;
        throw new LockstepError('REVIEW_CHANGED', message);
      }
      return items.map((item) => ({ item, choice, record: undefined, note }));
    });
    if (choice === 'later') return { said: `${plural(made.length, 'row is', 'rows are')} kept for later.` };
    const contacts = made.filter(({ item }) => item.kind === 'contact').length;
    const orders = made.length - contacts;
    const said = [
      orders > 0 && `${plural(orders, 'order is', 'orders are')} ignored.`,
      contacts > 0 &&
        `${plural(contacts, 'contact')} will be ignored until the evidence changes. The next run of the sync applies it.`,
    ];
    return { said: said.filter(Boolean).join(' ') };
  });
}

/** The id of the item that follows in the list; undefined after the last. */
export async function nextAfter(db: Queryable, item: ReviewItem): Promise<string | undefined> {
  const [next] = await reviewItems(db, {}, { limit: 1, after: cursorOf(item) });
  return next && longId(next);
}
