/** `lockstep review …`: lists what waits for a person, and takes decisions about it. */
import { formatCount, plural } from '../../base/counts.ts';
import { wrongUse } from '../../base/errors.ts';
import { grouped } from '../../base/grouped.ts';
import { CHOICES, type Decision, listDecisions, type NewDecision } from '../../engine/ledger/decisions.ts';
import { type ReviewItem, type ReviewPage, reviewItems, reviewPage } from '../../engine/ledger/views/review-items.ts';
import { requirePossible } from '../../operator/check-decisions.ts';
import { formatTime } from '../../operator/format.ts';
import {
  idMeant,
  itemResult,
  longId,
  oneNamed,
  reviewIds,
  reviewUnknown,
  subjectOf,
  waitWords,
} from '../../operator/review.ts';
import {
  choiceWords,
  decideAll,
  decidedName,
  decisionState,
  isLive,
  itemNamed,
  newestOf,
  undoAll,
  undoneWords,
  wordsFor,
} from '../../operator/review-decisions.ts';
import { asksForCustomer, decisionsLike, ordersOfSameCustomer } from '../../operator/same-customer.ts';
import { quote } from '../../settings/message-parts.ts';
import { accountNamed } from '../../settings/settings.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { Command } from '../command.ts';
import { groupLines } from '../print/review-lines.ts';
import type { Perform, Session } from '../session.ts';
import { thisPerson } from '../this-person.ts';
import { wholeNumber } from './arguments.ts';
import { addExport, addImport, askNeeds, type FilterOptions, withFilters } from './review-file.ts';

const DEFAULT_LIMIT = 20;

interface Options extends FilterOptions {
  readonly limit: number;
  readonly decided?: boolean;
}

export function define(review: Command, perform: Perform): void {
  withFilters(review)
    .description(
      'Lists the rows that wait for a person, by reason, each from the newest run of its contact or order, with the ' +
        'evidence side by side. The next run of a sync applies decisions about its contacts, and `lockstep runs retry` ' +
        'applies decisions about orders.',
    )
    .option('--limit <n>', 'how many to list', wholeNumber, DEFAULT_LIMIT)
    .option('--decided', 'list the decisions instead, with who made them and what became of them')
    .examples(`
  $ lockstep review
  $ lockstep review decide contact-14 --use 15
  $ lockstep review decide contact-17 contact-18 --ignore --note "test data"
  $ lockstep review export --out review.csv
  $ lockstep review import review.csv --dry-run`)
    .action(perform(list));
  addDecide(review, perform);
  addUndo(review, perform);
  addExport(review, perform);
  addImport(review, perform);
}

async function list(session: Session, { limit, decided, ...filter }: Options): Promise<void> {
  const { pool } = await session.openLedger();
  const { account } = filter;
  if (decided) return listDecided(session, await listDecisions(pool, { account }), limit);
  const page = await reviewPage(pool, filter, { limit });
  const { items, total, isMore, accounts } = page;
  if (account !== undefined && total === 0) accountNamed(await session.settings(), account);
  const { out, hint } = session;
  const named = [...reviewIds(items, accounts)];
  for (const [reason, group] of grouped(named.map((one) => [one[1].reason, one])))
    out.say(...groupLines(reason, page.groups[reason] ?? group.length, group, hint));
  out.say(total === 0 ? 'No row of a run that has ended waits for a decision.' : summary(page));
  out.result({
    items: named.map(([id, item]) => itemResult(id, item, hint)),
    total,
    isMore,
  });
}

function summary(page: ReviewPage): string {
  const { total, isMore, items } = page;
  if (items.length === total && !isMore) return waitWords(page);
  const more = isMore ? '--limit N lists more' : `--limit ${total} lists all`;
  return `${waitWords(page)} These are the first ${formatCount(items.length)}: ${more}.`;
}

function listDecided({ out }: Session, all: readonly Decision[], limit: number): void {
  const shown = all.slice(0, limit);
  const ids = new Map([...reviewIds(shown)].map(([id, decision]) => [decision.subject, id]));
  const idOf = (one: Decision) => ids.get(one.subject) ?? one.subject;
  const titles = ['ID', 'DECISION', 'BY', 'AT', 'STATE', 'REASON', 'NOTE'];
  const rows = shown.map((one) => [
    idOf(one),
    choiceWords(one),
    one.decidedBy,
    formatTime(one.decidedAt),
    decisionState(one),
    one.reason,
    one.note ?? '',
  ]);
  out.table(titles, rows, { none: 'There is no decision yet.' });
  const result = shown.map((decision) => {
    const { scope: _, entry: __, ...one } = decision;
    return { id: idOf(decision), ...one, state: decisionState(decision) };
  });
  out.result({ decisions: result, total: all.length });
}

interface Options {
  readonly use?: string;
  readonly create?: boolean;
  readonly ignore?: boolean;
  readonly later?: boolean;
  readonly note?: string;
  readonly sameCustomer?: boolean;
}

function addDecide(review: Command, perform: Perform): void {
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

function addUndo(review: Command, perform: Perform): void {
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
  const decisions = await decideAll(pool, thisPerson(), chosenIn);
  const said = options.sameCustomer ? decisions.slice(0, new Set(ids).size) : decisions;
  for (const one of said) out.say(`${decidedName(one.item)}: ${wordsFor(one, isUnasked(one), hint)}`);
  const others = decisions.length - said.length;
  if (others > 0) out.say(`${plural(others, 'other order')} with the same customer: the same.`);
  out.result({ decided: decisions.map(({ item }) => decidedName(item)), choice, record: options.use ?? null });
}

function requireOrder(item: ReviewItem): ReviewItem {
  if (asksForCustomer(item)) return item;
  throw wrongUse(
    `--same-customer is for orders whose customer is not clear, and ${decidedName(item)} is not one of them.`,
  );
}

async function undoIt(session: Session, id: string, { sameCustomer }: Pick<Options, 'sameCustomer'>): Promise<void> {
  const { out, hint } = session;
  const { pool } = await session.openLedger();
  const [first, ...others] = await undoAll(pool, async (db) => {
    const live = newestOf((await listDecisions(db)).filter(isLive));
    const decision = oneNamed(live, id);
    const remedy = `List all decisions with: ${hint('review --decided')}`;
    if (!decision) throw reviewUnknown(`There is no decision about ${quote(id)} to undo${idMeant(id, live)} ${remedy}`);
    return [decision, ...(sameCustomer ? await decisionsLike(db, decision) : [])] as const;
  });
  out.say(`The decision about ${id} is undone: ${undoneWords(first)}.`);
  if (others.length > 0) out.say(`${plural(others.length, 'equal decision')} about other orders: the same.`);
  out.result({ undone: id, others: others.length });
}
