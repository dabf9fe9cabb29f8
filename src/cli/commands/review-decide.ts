/** `lockstep review decide` and `lockstep review undo`. */
import os from 'node:os';
import type { Command } from 'commander';
import {
  CHOICES,
  type Choice,
  chosenCustomers,
  decide,
  listDecisions,
  lockDecisions,
  type NewDecision,
  undoDecision,
} from '../../engine/ledger/decisions.ts';
import { type ReviewItem, reviewItems } from '../../engine/ledger/review-items.ts';
import { oneOf } from '../../settings/words.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';
import { wrongUse } from '../errors.ts';
import { choicesFor, itemNamed, optionsFor, recordsFor } from '../review.ts';
import type { Perform, Session } from '../session.ts';

interface Options {
  readonly use?: string;
  readonly create?: boolean;
  readonly ignore?: boolean;
  readonly later?: boolean;
  readonly note?: string;
}

export function addDecide(review: Command, perform: Perform): void {
  review
    .command('decide')
    .summary('decide what becomes of rows in review')
    .description(
      'Decides about items of `lockstep review`. A decision about a contact is applied by the next run of its sync, once, ' +
        'if its evidence is unchanged by then: the contact and the customers that it may belong to. A decision about an ' +
        'order is applied by `lockstep runs retry`; an ignored order is settled at once. To change a decision, undo it first.',
    )
    .argument('<id...>', 'ids of items, such as contact-14')
    .option('--use <record>', 'the customer that it is; for an order that differs, the order to overwrite')
    .option('--create', 'create a customer, although others may be the same person; send an order again')
    .option('--ignore', 'leave it as it is until the evidence changes')
    .option('--later', 'keep it in review')
    .option('--note <text>', 'why, for others to read')
    .action(perform(decideThem));
}

export function addUndo(review: Command, perform: Perform): void {
  review
    .command('undo')
    .summary('undo a decision that is not applied yet')
    .description(
      'Undoes a decision, so that its item is in review again. A decision to use or create a record can be undone until ' +
        'a run has applied it. A decision to ignore a row can be undone at any time.',
    )
    .argument('<id>', 'id of the item, such as contact-14')
    .action(perform(undo));
}

async function decideThem(session: Session, ids: readonly string[], options: Options): Promise<void> {
  const given = CHOICES.filter((choice) => options[choice] !== undefined);
  const [choice] = given;
  if (choice === undefined || given.length > 1)
    throw wrongUse('review decide needs exactly one of --use RECORD, --create, --ignore and --later');
  if (options.use?.trim() === '') throw wrongUse('--use needs the id of a record');
  const { out, hint } = session;
  const { pool } = await session.openLedger();
  const decisions = await inTransaction(pool, async (db) => {
    await lockDecisions(db);
    const items = await reviewItems(db);
    const remedy = `List all with: ${hint('review')}`;
    const chosen = [...new Set(ids.map((id) => itemNamed(items, id, remedy)))];
    const made = chosen.map((item) => ({ item, choice, record: options.use, note: options.note }));
    await refuseWrong(db, made);
    await decide(db, made, whoDecides());
    return made;
  });
  for (const { item } of decisions) out.say(`${nameOf(item)}: ${wordsFor(item, choice, options.use, hint)}`);
  out.result({ decided: decisions.map(({ item }) => nameOf(item)), choice, record: options.use ?? null });
}

const nameOf = ({ kind, subject, label }: ReviewItem) =>
  `${kind === 'contact' ? `Contact ${subject}` : `Order ${subject}`}${label === null ? '' : ` (${label})`}`;

function wordsFor(item: ReviewItem, choice: Choice, record: string | undefined, hint: Session['hint']): string {
  const { kind, run, sync } = item;
  if (choice === 'later') return 'stays in review.';
  if (choice === 'ignore' && kind === 'order') return 'ignored.';
  const then = kind === 'order' ? `Apply it with: ${hint(`runs retry ${run}`)}` : `The next run of ${sync} applies it.`;
  if (choice === 'ignore') return `ignored until its evidence changes. ${then}`;
  if (choice === 'create') return `${kind === 'order' ? 'sent again' : 'a customer is created for it'}. ${then}`;
  if (item.reason === 'DIFFERS') return `order ${record} is overwritten. ${then}`;
  const stranger = recordsFor(item).includes(record ?? '') ? '' : ', which was not among the candidates';
  return `${kind === 'order' ? 'belongs to' : 'linked with'} customer ${record}${stranger}. ${then}`;
}

/** The user and the host that decide. */
export function whoDecides(): string {
  return `${userName()}@${os.hostname()}`;
}

function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown'); // a user without a name
  }
}

/** @throws LockstepError CHOICE_NOT_POSSIBLE for the first decision that cannot be taken */
async function refuseWrong(db: Queryable, decisions: readonly NewDecision[]): Promise<void> {
  const [wrong] = await wrongDecisions(db, decisions);
  if (wrong) throw wrongUse(wrong.why, 'CHOICE_NOT_POSSIBLE');
}

interface Wrong {
  readonly at: number;
  readonly column: 'choice' | 'record';
  readonly why: string;
}

/** Decisions that cannot be taken, by their place in the list: a choice that is not possible, or a customer chosen twice. */
export async function wrongDecisions(db: Queryable, decisions: readonly NewDecision[]): Promise<readonly Wrong[]> {
  const chosen = new Map<string, Map<string, string>>();
  for (const scope of new Set(decisions.map(({ item }) => item.scope)))
    chosen.set(scope, new Map(await chosenCustomers(db, scope)));
  return decisions.flatMap(({ item, choice, record }, at): readonly Wrong[] => {
    if (!choicesFor(item).includes(choice)) {
      const why = `${nameOf(item)} is in review because of ${item.reason}: use ${oneOf(optionsFor(item))}.`;
      return [{ at, column: 'choice', why }];
    }
    if (choice !== 'use' || record === undefined) return [];
    if (item.reason === 'DIFFERS' && !recordsFor(item).includes(record)) {
      const why = `${nameOf(item)} differs from order ${recordsFor(item)}: name that order to overwrite it.`;
      return [{ at, column: 'record', why }];
    }
    if (item.kind === 'order') return [];
    const other = chosen.get(item.scope)?.get(record);
    chosen.get(item.scope)?.set(record, item.subject);
    if (other === undefined || other === item.subject) return [];
    const why = `Customer ${record} was chosen for contact ${other} already: a customer belongs to one contact.`;
    return [{ at, column: 'record', why }];
  });
}

async function undo(session: Session, id: string): Promise<void> {
  const { out, hint } = session;
  const { pool } = await session.openLedger();
  await inTransaction(pool, async (db) => {
    await lockDecisions(db);
    const all = await listDecisions(db);
    const live = all.filter(({ undoneAt, lapsedAt }) => undoneAt === null && lapsedAt === null);
    const newest = [...new Map([...live].reverse().map((one) => [`${one.scope} ${one.subject}`, one])).values()];
    const decision = itemNamed(newest, id, `List all decisions with: ${hint('review --decided')}`);
    if (await undoDecision(db, decision)) return;
    const { appliedBy, choice } = decision;
    throw wrongUse(
      `The decision to ${choice} was applied by run ${appliedBy}: it can no longer be undone.`,
      'DECISION_APPLIED',
    );
  });
  out.say(`The decision about ${id} is undone: it is in review again.`);
  out.result({ undone: id });
}
