/** `lockstep review decide` and `lockstep review undo`. */

import type { Command } from '../command.ts';
import { plural } from '../../base/counts.ts';
import { wrongUse } from '../../base/errors.ts';
import { CHOICES, listDecisions, lockDecisions, type NewDecision } from '../../engine/ledger/decisions.ts';
import { type ReviewItem, reviewItems } from '../../engine/ledger/views/review-items.ts';
import { type AskNeeds, requirePossible } from '../../operator/check-decisions.ts';
import { idMeant, longId, oneNamed, reviewUnknown, subjectOf } from '../../operator/review.ts';
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
import { asksForCustomer, decisionsLike, ordersOfSameCustomer } from '../../operator/same-customer.ts';
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
  readonly sameCustomer?: boolean;
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
    .option('--same-customer', 'decide equally about the other orders of the load that name the same customer')
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
    .option('--same-customer', 'undo the equal decisions about other orders of the load too')
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
    const chosen = new Map<string, ReviewItem>();
    for (const id of ids) {
      const item = await itemNamed(db, await reviewItems(db, subjectOf(id)), id, hint);
      chosen.set(longId(item), item);
    }
    if (options.sameCustomer)
      for (const item of [...chosen.values()])
        for (const one of await ordersOfSameCustomer(db, requireOrder(item))) chosen.set(longId(one), one);
    return [...chosen.values()].map((item) => ({ item, choice, record: options.use, note: options.note }));
  };
  const { isUnasked } = await requirePossible(askNeeds(session, pool), await chosenIn(pool));
  const decisions = await inTransaction(pool, async (db) => {
    await lockDecisions(db);
    const made = await chosenIn(db);
    await decideAll(db, made, thisPerson());
    return made;
  });
  const said = options.sameCustomer ? decisions.slice(0, new Set(ids).size) : decisions;
  for (const one of said) out.say(`${nameOf(one.item)}: ${wordsFor(one, isUnasked(one), hint)}`);
  const others = decisions.length - said.length;
  if (others > 0) out.say(`${plural(others, 'other order')} with the same customer: the same.`);
  out.result({ decided: decisions.map(({ item }) => nameOf(item)), choice, record: options.use ?? null });
}

function requireOrder(item: ReviewItem): ReviewItem {
  if (asksForCustomer(item)) return item;
  throw wrongUse(`--same-customer is for orders whose customer is not clear, and ${nameOf(item)} is not one of them.`);
}

/** The workspace, with the embedded service, is opened only if a record is asked for. */
export function askNeeds(session: Session, pool: Queryable, signal?: AbortSignal): AskNeeds {
  let opening: ReturnType<Session['openWorkspace']> | undefined;
  return {
    pool,
    async openAccount(name) {
      opening ??= session.openWorkspace();
      return (await opening).accounts.use(name);
    },
    ...(signal && { signal }),
  };
}

async function undoIt(session: Session, id: string, { sameCustomer }: Pick<Options, 'sameCustomer'>): Promise<void> {
  const { out, hint } = session;
  const { pool } = await session.openLedger();
  const undone = await inTransaction(pool, async (db) => {
    await lockDecisions(db);
    const live = newestOf((await listDecisions(db)).filter(isLive));
    const decision = oneNamed(live, id);
    const remedy = `List all decisions with: ${hint('review --decided')}`;
    if (!decision) throw reviewUnknown(`There is no decision about ${quote(id)} to undo${idMeant(id, live)} ${remedy}`);
    const all = [decision, ...(sameCustomer ? await decisionsLike(db, decision) : [])];
    for (const one of all) await undo(db, one);
    return all;
  });
  const [first] = undone;
  if (first) out.say(`The decision about ${id} is undone: ${undoneWords(first)}.`);
  if (undone.length > 1) out.say(`${plural(undone.length - 1, 'equal decision')} about other orders: the same.`);
  out.result({ undone: id, others: undone.length - 1 });
}
