/** `lockstep review decide` and `lockstep review undo`. */

import type { Command } from 'commander';
import { wrongUse } from '../../base/errors.ts';
import { CHOICES, listDecisions, lockDecisions, type NewDecision } from '../../engine/ledger/decisions.ts';
import { type ReviewItem, reviewItems } from '../../engine/ledger/views/review-items.ts';
import { type AskNeeds, requirePossible } from '../../operator/check-decisions.ts';
import { idMeant, oneNamed, reviewUnknown } from '../../operator/review.ts';
import {
  decideAll,
  isLive,
  itemNamed,
  nameOf,
  newestOf,
  undo,
  undoneWords,
  wordsFor,
} from '../../operator/review-decisions.ts';
import { quote } from '../../settings/message-parts.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';
import type { Perform, Session } from '../session.ts';
import { thisPerson } from '../this-person.ts';

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
      'Decides about rows of `lockstep review`. A decision about a contact is applied by the next run of its sync, once, ' +
        'if its evidence is unchanged by then: the contact and the customers that it may belong to. A decision about an ' +
        'order is applied by `lockstep runs retry`; an ignored order is settled at once. To change a decision, undo it first.',
    )
    .argument('<id...>', 'ids of rows, such as contact-14')
    .option('--use <record>', 'the customer that the row belongs to; for an order that differs, the order to overwrite')
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
      'Undoes a decision, so that its row is in review again. A decision to use or create a record can be undone until ' +
        'a run has applied it. A decision to ignore a row can be undone at any time.',
    )
    .argument('<id>', 'id of the row, such as contact-14')
    .action(perform(undoIt));
}

async function decideThem(session: Session, ids: readonly string[], options: Options): Promise<void> {
  const given = CHOICES.filter((choice) => options[choice] !== undefined);
  const [choice] = given;
  if (choice === undefined || given.length > 1)
    throw wrongUse('review decide needs exactly one of --use RECORD, --create, --ignore and --later');
  if (options.use?.trim() === '') throw wrongUse('--use needs the id of a record');
  const { out, hint } = session;
  const { pool } = await session.openLedger();
  const chosenIn = async (db: Queryable): Promise<readonly NewDecision[]> => {
    const items = await reviewItems(db);
    const chosen = new Set<ReviewItem>();
    for (const id of ids) chosen.add(await itemNamed(db, items, id, hint));
    return [...chosen].map((item) => ({ item, choice, record: options.use, note: options.note }));
  };
  const { isUnasked } = await requirePossible(askNeeds(session, pool), await chosenIn(pool));
  const decisions = await inTransaction(pool, async (db) => {
    await lockDecisions(db);
    const made = await chosenIn(db);
    await decideAll(db, made, thisPerson());
    return made;
  });
  for (const one of decisions) out.say(`${nameOf(one.item)}: ${wordsFor(one, isUnasked(one), hint)}`);
  out.result({ decided: decisions.map(({ item }) => nameOf(item)), choice, record: options.use ?? null });
}

/** The workspace, with the embedded service, is opened only if a record is asked for. */
export function askNeeds(session: Session, pool: Queryable, signal?: AbortSignal): AskNeeds {
  let opening: ReturnType<Session['openWorkspace']> | undefined;
  return {
    pool,
    async openAccount(name) {
      opening ??= session.openWorkspace();
      return (await opening).accounts.open(name);
    },
    ...(signal && { signal }),
  };
}

async function undoIt(session: Session, id: string): Promise<void> {
  const { out, hint } = session;
  const { pool } = await session.openLedger();
  const undone = await inTransaction(pool, async (db) => {
    await lockDecisions(db);
    const live = newestOf((await listDecisions(db)).filter(isLive));
    const decision = oneNamed(live, id);
    const remedy = `List all decisions with: ${hint('review --decided')}`;
    if (!decision) throw reviewUnknown(`There is no decision about ${quote(id)} to undo${idMeant(id, live)} ${remedy}`);
    await undo(db, decision);
    return decision;
  });
  out.say(`The decision about ${id} is undone: ${undoneWords(undone)}.`);
  out.result({ undone: id });
}
