/** The rows of a run that need a person, grouped by reason, with what to do about each group. */
import { formatCount } from '../base/counts.ts';
import { grouped } from '../base/grouped.ts';
import type { Facts } from '../base/reasons/reason.ts';
import { type Hints, meaningOf, remedyFor, statementFor } from '../base/reasons/reasons.ts';
import { shortLabel } from '../base/texts.ts';
import { DECIDED_PROBLEMS, PROBLEMS, type Verdict } from '../engine/ledger/rows.ts';
import { type GroupExample, groupRows, type RowGroup } from '../engine/ledger/views/row-groups.ts';
import type { Queryable } from '../storage/queryable.ts';
import type { RunReport } from './report.ts';
import { unconfirmedWords, unsentWords, verdictWords } from './run-words.ts';

export interface ProblemSection {
  readonly verdict: Verdict;
  /** What its rows have in common, such as `never sent`. */
  readonly words: string;
  readonly count: number;
  /** The largest first. */
  readonly groups: readonly ProblemGroup[];
}

export interface ProblemGroup extends RowGroup {
  /** What people call each example. */
  readonly names: readonly string[];
  /** What is wrong with each example: one sentence if it is the same for all rows of the group. */
  readonly said: readonly string[];
  readonly remedy: string | undefined;
}

/** While a process works on the run, or is about to, a row without a verdict is no problem yet. */
function problemVerdicts({ state }: RunReport): readonly Verdict[] {
  const isWorking = ['receiving', 'queued', 'running', 'waiting'].includes(state);
  return isWorking ? DECIDED_PROBLEMS : PROBLEMS;
}

/** Sections per verdict. `of`: which verdicts; default: all that need a person. */
export async function problemSections(
  db: Queryable,
  report: RunReport,
  hints: Hints,
  of: readonly Verdict[] = problemVerdicts(report),
): Promise<readonly ProblemSection[]> {
  const there = of.filter((verdict) => report.counts[verdict] > 0);
  if (there.length === 0) return [];
  const groups = await groupRows(db, report.run, there);
  const sections = grouped(groups.map((group) => [wordsOf(group, report), worded(group, report, hints)]));
  return [...sections].map(([words, groups]) => ({
    words,
    groups,
    verdict: groups[0]?.verdict ?? 'unknown',
    count: groups.reduce((sum, { count }) => sum + count, 0),
  }));
}

const UNSENT: readonly string[] = ['NEVER_SENT', 'AWAITS_APPROVAL', 'NOT_APPROVED_YET'];

/** Rows without a verdict are either sent or not; the other verdicts have one name each. */
function wordsOf({ verdict, reason }: RowGroup, report: RunReport): string {
  if (verdict !== 'unknown') return verdictWords(verdict, report);
  return UNSENT.includes(reason ?? '') ? unsentWords(report) : unconfirmedWords(report);
}

/** The title of the section says that the rows were not sent. */
function statementOf({ verdict, reason }: RowGroup, facts: GroupExample['facts'], hints: Hints): string {
  return verdict === 'unknown' && reason === 'NEVER_SENT' ? '' : statementFor(reason, facts, hints);
}

function worded(group: RowGroup, report: RunReport, hints: Hints): ProblemGroup {
  const { reason, column, count, examples } = group;
  // About a cell, the column and the lines say all that differs.
  const said = examples.map(({ facts }) =>
    column === null ? statementOf(group, facts, hints) : (meaningOf(reason) ?? ''),
  );
  // Of rows that are no examples, it is known only if nothing of it differs from row to row.
  const isKnown = count === examples.length || said[0] === '' || said[0] === meaningOf(reason);
  const isSame = new Set(said).size === 1 && isKnown;
  return {
    ...group,
    names: exampleNames(group, report),
    said: isSame ? said.slice(0, 1) : said,
    remedy: unique(
      examples.map(({ facts }) => remedyFor(reason, count === 1 ? facts : { ...facts, ...ofSeveral(examples) }, hints)),
    ),
  };
}

/**
 * What a remedy says of one row only: its delivery (several are replayed by their target) and the other line. Its two amounts are
 * an example.
 */
function ofSeveral([first]: readonly GroupExample[]): Facts {
  return { delivery: null, other: null, either: first?.facts?.either ?? null, or: first?.facts?.or ?? null };
}

function unique(texts: readonly (string | undefined)[]): string | undefined {
  return [...new Set(texts.filter((text) => text !== undefined))].join(' ') || undefined;
}

/** Records of one name are told apart by their ids; rows of a file by their lines. An order may be called like anything, such as `7`. */
export function exampleNames(
  { examples }: Pick<RowGroup, 'examples'>,
  { type }: Pick<RunReport, 'type'>,
): readonly string[] {
  return examples.map(({ sourceId, label, facts }) => {
    const isOrder = type === 'orders' && /^\d+(-\d+)?$/.test(sourceId); // not a file of a folder
    const id = isOrder ? `${sourceId.includes('-') ? 'lines' : 'line'} ${sourceId}` : shortLabel(sourceId);
    if (!label) return id;
    const name = `${isOrder ? 'order ' : ''}${shortLabel(label)}`;
    const isShared = facts?.line === undefined && examples.filter((other) => other.label === label).length > 1;
    return isShared ? `${name} (${id})` : name;
  });
}

/** `line 4`, `e.g. lines 4 ("12,5"), 7 (order A-7), 9` */
export function examplesOf({ examples, names, count }: Pick<ProblemGroup, 'examples' | 'names' | 'count'>): string {
  const isFile = examples.every(({ facts }) => facts?.line !== undefined);
  const shown = isFile ? examples.map(lineName) : names;
  const words = isFile ? `${shown.length === 1 ? 'line' : 'lines'} ` : '';
  return `${count > examples.length ? 'e.g. ' : ''}${words}${shown.join(', ')}`;
}

function lineName({ facts }: GroupExample): string {
  const { line, order, cell } = facts ?? {};
  const about = [order && `order ${order}`, cell && JSON.stringify(cell)].filter(Boolean).join(': ');
  return `${line}${about === '' ? '' : ` (${about})`}`;
}

/** `… and 12 more`; nothing if all rows of the group are shown. */
export function moreOf({ examples, count }: Pick<RowGroup, 'examples' | 'count'>): readonly string[] {
  return count > examples.length ? [`… and ${formatCount(count - examples.length)} more`] : [];
}

/** The command that writes all rows of a verdict to a file, whose name no other run or export uses. */
export function exportCommand({ run }: Pick<RunReport, 'run'>, verdict: string, hint: Hints['command']): string {
  return hint(`runs export ${run} --verdict ${verdict} --out ${run}.${verdict}.csv`);
}
