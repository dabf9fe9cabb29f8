/** Takes and undoes decisions of people about what waits for them, and says what becomes of them. */
import type pg from 'pg';
import { wrongUse } from '../base/errors.ts';
import { shortLabel } from '../base/texts.ts';
import {
  chosenCustomers,
  type Decision,
  decide,
  linkedCustomers,
  listDecisions,
  lockDecisions,
  type NewDecision,
  undoDecision,
} from '../engine/ledger/decisions.ts';
import { type ReviewItem, reviewItems } from '../engine/ledger/views/review-items.ts';
import { oneOf, quote } from '../settings/message-parts.ts';
import type { Queryable } from '../storage/queryable.ts';
import { inTransaction } from '../storage/transaction.ts';
import { formatTime } from './format.ts';
import { choicesFor, idMeant, oneNamed, optionsFor, recordsFor, reviewUnknown, subjectOf } from './review.ts';

type Hint = (command: string) => string;

export const decidedName = ({ kind, subject, label }: Pick<ReviewItem, 'kind' | 'subject' | 'label'>) =>
  `${kind === 'contact' ? `Contact ${subject}` : `Order ${subject}`}${label === null ? '' : ` (${shortLabel(label)})`}`;

/** What becomes of the item, for the person who decided. */
export function wordsFor({ item, choice, record }: NewDecision, isUnasked: boolean, hint: Hint): string {
  const { kind, run, sync } = item;
  if (choice === 'later') return 'stays in review.';
  if (choice === 'ignore' && kind === 'order') return 'ignored.';
  const then =
    kind === 'order' ? `Apply it with: \`${hint(`runs retry ${run}`)}\`` : `The next run of ${sync} applies it.`;
  if (choice === 'ignore') return `will be ignored until its evidence changes. ${then}`;
  if (choice === 'create')
    return `${kind === 'order' ? 'will be sent again' : 'a customer will be created for it'}. ${then}`;
  const unsure = isUnasked
    ? 'The service could not be asked whether it has this record, so that is checked when the decision is applied. '
    : '';
  if (item.reason === 'DIFFERS') return `order ${record} will be overwritten. ${unsure}${then}`;
  if (
    kind === 'contact' &&
    ['CONTACT_REPLACED', 'LINK_DISAGREES'].includes(item.reason) &&
    item.facts?.customer === record
  )
    return `stays linked with customer ${record}, and an update that was held back is sent. ${unsure}${then}`;
  const stranger = recordsFor(item).includes(record ?? '') ? '' : ', which was not among the candidates';
  return `will ${kind === 'order' ? 'belong to' : 'be linked with'} customer ${record}${stranger}. ${unsure}${then}`;
}

/** Items among which an id is suggested that was meant. */
const MOST_MEANT = 1_000;

/**
 * The item of an id; `among`: the items that may have it. @throws LockstepError REVIEW_DECIDED if a person has decided it,
 * REVIEW_UNKNOWN
 */
export async function itemNamed(
  db: Queryable,
  among: readonly ReviewItem[],
  id: string,
  hint: Hint,
): Promise<ReviewItem> {
  const item = oneNamed(among, id);
  if (item) return item;
  const newest = await decisionNamed(db, id);
  if (newest === undefined)
    throw reviewUnknown(
      `No row ${quote(id)} waits for a decision${idMeant(id, await reviewItems(db, {}, { limit: MOST_MEANT }))} List all with: ${hint('review')}`,
    );
  const { decidedBy, decidedAt } = newest;
  const state = `${decidedBy} has decided about ${id}: ${choiceWords(newest)}, ${formatTime(decidedAt)}, ${decisionState(newest)}.`;
  const next = canUndo(newest)
    ? `To decide it again, undo that: ${hint(`review undo ${id}`)}`
    : `See: ${hint('review --decided')}`;
  throw wrongUse(`${state} ${next}`, 'REVIEW_DECIDED');
}

/** The decision that holds for the item of an id, if there is one. */
export async function decisionNamed(db: Queryable, id: string): Promise<Decision | undefined> {
  const newest = oneNamed(newestOf(await listDecisions(db, subjectOf(id))), id);
  return newest !== undefined && isLive(newest) && newest.choice !== 'later' ? newest : undefined;
}

/** The newest decision about each item; `decisions`: the newest first. */
export function newestOf(decisions: readonly Decision[]): readonly Decision[] {
  return [...new Map(decisions.toReversed().map((one) => [`${one.scope} ${one.kind} ${one.subject}`, one])).values()];
}

/** `use 15`, `ignore`. */
export function choiceWords({ choice, record }: Pick<Decision, 'choice' | 'record'>): string {
  return record === null ? choice : `${choice} ${record}`;
}

/**
 * Stores the decisions that are read while no one else decides; `by`: who decides.
 * @throws LockstepError CHOICE_NOT_POSSIBLE for the first decision that cannot be taken
 */
export function decideAll<D extends readonly NewDecision[]>(
  pool: pg.Pool,
  by: string,
  read: (db: Queryable) => Promise<D>,
) {
  return inTransaction(pool, async (db) => {
    await lockDecisions(db);
    const decisions = await read(db);
    refuseWrong(await wrongDecisions(db, decisions));
    await decide(db, decisions, by);
    return decisions;
  });
}

/** @throws LockstepError CHOICE_NOT_POSSIBLE for the first */
export function refuseWrong([wrong]: readonly Wrong[]): void {
  if (wrong) throw wrongUse(wrong.why, 'CHOICE_NOT_POSSIBLE');
}

export interface Wrong {
  readonly at: number;
  readonly column: 'choice' | 'record';
  readonly why: string;
}

/** Decisions that cannot be taken, by their place in the list: a choice that is not possible, or a customer chosen twice. */
export async function wrongDecisions(db: Queryable, decisions: readonly NewDecision[]): Promise<readonly Wrong[]> {
  const chosen = new Map<string, Map<string, string>>();
  const linked = new Map<string, ReadonlyMap<string, string>>();
  for (const scope of new Set(decisions.map(({ item }) => item.scope))) {
    const records = decisions.flatMap(({ item, record }) => (item.scope === scope && record ? [record] : []));
    chosen.set(scope, new Map(await chosenCustomers(db, scope)));
    linked.set(scope, await linkedCustomers(db, scope, records));
  }
  return decisions.flatMap(({ item, choice, record }, at): readonly Wrong[] => {
    if (!choicesFor(item).includes(choice)) {
      const why = `${decidedName(item)} is in review because of ${item.reason}: choose ${oneOf(optionsFor(item))}.`;
      return [{ at, column: 'choice', why }];
    }
    if (choice !== 'use' || record === undefined) return [];
    if (item.reason === 'DIFFERS' && !recordsFor(item).includes(record)) {
      const why = `${decidedName(item)} differs from order ${recordsFor(item)}: name that order to overwrite it.`;
      return [{ at, column: 'record', why }];
    }
    if (item.kind === 'order') return [];
    const owner = linked.get(item.scope)?.get(record);
    if (owner !== undefined && owner !== item.subject) {
      const why = `Customer ${record} belongs to contact ${owner}, and a customer belongs to one contact. Choose another customer, or decide otherwise.`;
      return [{ at, column: 'record', why }];
    }
    const other = chosen.get(item.scope)?.get(record);
    chosen.get(item.scope)?.set(record, item.subject);
    if (other === undefined || other === item.subject) return [];
    const why = `Customer ${record} was already chosen for contact ${other}, and a customer belongs to one contact. Choose another customer, or decide otherwise.`;
    return [{ at, column: 'record', why }];
  });
}

/** Undoes the decisions that are read while no one else decides. @throws LockstepError DECISION_APPLIED */
export function undoAll<D extends readonly Decision[]>(pool: pg.Pool, read: (db: Queryable) => Promise<D>) {
  return inTransaction(pool, async (db) => {
    await lockDecisions(db);
    const decisions = await read(db);
    for (const one of decisions) {
      if (await undoDecision(db, one)) continue;
      const { appliedBy, choice } = one;
      const message = `The decision to ${choice} was applied by run ${appliedBy}: it can no longer be undone.`;
      throw wrongUse(message, 'DECISION_APPLIED');
    }
    return decisions;
  });
}

/** What follows once a decision is undone. An ignored contact is no row in review until the next run. */
export function undoneWords({ kind, choice, appliedAt }: Decision): string {
  const isLater = kind === 'contact' && choice === 'ignore' && appliedAt !== null;
  return isLater ? 'the next run of its sync reviews it again' : 'it is in review again';
}

/** Whether it can be undone: no run has applied it, or it ignores the row. */
export function canUndo(decision: Decision): boolean {
  const { choice, appliedAt } = decision;
  return isLive(decision) && choice !== 'later' && (appliedAt === null || choice === 'ignore');
}

/** Whether it was neither undone nor has it lapsed. */
export function isLive({ undoneAt, lapsedAt }: Decision): boolean {
  return undoneAt === null && lapsedAt === null;
}

const LAPSED_WORDS: Readonly<Record<NonNullable<Decision['lapsedBecause']>, string>> = {
  'not needed': 'no longer needed',
  'evidence changed': 'lapsed: the evidence changed',
  'record missing': 'lapsed: the customer is not in the list',
  'record taken': 'lapsed: the customer belongs to another contact',
};

export function decisionState({ kind, run, choice, appliedBy, undoneAt, lapsedAt, lapsedBecause }: Decision): string {
  if (undoneAt !== null) return 'undone';
  if (lapsedAt !== null) return LAPSED_WORDS[lapsedBecause ?? 'not needed'];
  if (appliedBy !== null) return `applied by ${appliedBy}`;
  if (choice === 'later') return 'still to decide';
  return kind === 'order' ? `waits for a retry of ${run}` : 'waits for the next run';
}
