/** `lockstep review …`: lists what waits for a person, and takes decisions about it. */

import { formatCount } from '../../base/counts.ts';
import { type Decision, listDecisions } from '../../engine/ledger/decisions.ts';
import { type ReviewItem, type ReviewPage, reviewPage } from '../../engine/ledger/views/review-items.ts';
import { formatTime } from '../../operator/format.ts';
import { idsOf, itemResult, waitWords } from '../../operator/review.ts';
import { choiceWords, stateOf } from '../../operator/review-decisions.ts';
import { accountNamed } from '../../settings/settings.ts';
import type { Command } from '../command.ts';
import { groupLines } from '../print/review-lines.ts';
import type { Perform, Session } from '../session.ts';
import { wholeNumber } from './arguments.ts';
import { addDecide, addUndo } from './review-decide.ts';
import { addExport, addImport, type FilterOptions, withFilters } from './review-file.ts';

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
  const named = [...idsOf(items, accounts)];
  for (const [reason, group] of byReason(named))
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

function byReason(named: readonly (readonly [string, ReviewItem])[]): ReadonlyMap<string, [string, ReviewItem][]> {
  const groups = new Map<string, [string, ReviewItem][]>();
  for (const [id, item] of named) groups.set(item.reason, [...(groups.get(item.reason) ?? []), [id, item]]);
  return groups;
}

function listDecided({ out }: Session, all: readonly Decision[], limit: number): void {
  const shown = all.slice(0, limit);
  const ids = new Map([...idsOf(shown)].map(([id, decision]) => [decision.subject, id]));
  const idOf = (one: Decision) => ids.get(one.subject) ?? one.subject;
  const titles = ['ID', 'DECISION', 'BY', 'AT', 'STATE', 'REASON', 'NOTE'];
  const rows = shown.map((one) => [
    idOf(one),
    choiceWords(one),
    one.decidedBy,
    formatTime(one.decidedAt),
    stateOf(one),
    one.reason,
    one.note ?? '',
  ]);
  out.table(titles, rows, { none: 'There is no decision yet.' });
  const result = shown.map(({ scope: _, entry: __, ...one }) => ({
    id: idOf(one as Decision),
    ...one,
    state: stateOf(one as Decision),
  }));
  out.result({ decisions: result, total: all.length });
}
