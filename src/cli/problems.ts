/** The rows of a run that need a person, grouped by reason, with what to do about each group. */
import { type Hints, meaningOf, remedyFor, statementFor } from '../base/reasons/reasons.ts';
import { type GroupExample, groupRows, type RowGroup } from '../engine/ledger/row-groups.ts';
import type { Verdict } from '../engine/ledger/rows.ts';
import type { Queryable } from '../storage/queryable.ts';
import { styled } from './colour.ts';
import { PROBLEMS, problemsIn, type RunReport, VERDICT_WORDS } from './run-result.ts';
import { formatCount, plural } from './words.ts';

/** Groups shown of each verdict. */
const SHOWN_GROUPS = 8;

type Hint = Hints['command'];

/**
 * Lines per verdict: its groups, each with examples and its remedy, and the command that shows all of its rows. `of`: which
 * verdicts; default: all that need a person.
 */
export async function problemLines(
  db: Queryable,
  report: RunReport,
  hints: Hints,
  of: readonly Verdict[] = PROBLEMS,
): Promise<readonly string[]> {
  if (problemsIn(report.counts) === 0) return [];
  const groups = await groupRows(db, report.run, of);
  const sections = new Map<string, RowGroup[]>();
  for (const group of groups) {
    const words = wordsOf(group);
    sections.set(words, [...(sections.get(words) ?? []), group]);
  }
  return [...sections].flatMap(([words, of]) => sectionLines(report, words, of, hints));
}

/** Rows without a verdict are either sent or not; the other verdicts have one name each. */
function wordsOf({ verdict, reason }: RowGroup): string {
  if (verdict !== 'unknown') return VERDICT_WORDS[verdict];
  return reason === 'NEVER_SENT' ? 'never sent' : 'sent, not confirmed';
}

function sectionLines(report: RunReport, words: string, groups: readonly RowGroup[], hints: Hints): readonly string[] {
  const verdict = groups[0]?.verdict ?? 'unknown';
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  const hidden = groups.slice(SHOWN_GROUPS);
  const hiddenRows = hidden.reduce((sum, { count }) => sum + count, 0);
  return [
    '',
    styled('strong', `${plural(total, 'row')} ${words}:`),
    ...groups.slice(0, SHOWN_GROUPS).flatMap((group) => groupLines(group, hints)),
    ...(hidden.length === 0 ? [] : [`  ${formatCount(hiddenRows)} with ${formatCount(hidden.length)} other reasons`]),
    ...(verdict === 'review' && !report.dryRun ? [`  To decide them: ${hints.command('review')}`] : []),
    `  All of them: ${exportCommand(report, verdict, hints.command)}`,
  ];
}

function groupLines({ reason, column, count, examples }: RowGroup, hints: Hints): readonly string[] {
  const first = examples[0]?.facts ?? null;
  const remedy = remedyFor(reason, first, hints);
  const fix = remedy === undefined ? [] : [`      ${styled('good', 'Fix:')} ${remedy}`];
  const title = `  ${formatCount(count)} × ${styled('warn', reason ?? 'NO_REASON')}`;
  // About a cell, the column and the lines say all that differs.
  const said = examples.map(({ facts }) => (column === null ? statementFor(reason, facts, hints) : meaningOf(reason)));
  if (new Set(said).size === 1) {
    const where = column === null ? '' : ` in column ${column}`;
    return [`${title}${where}, ${examplesOf(examples, count)}`, ...(said[0] ? [`      ${said[0]}`] : []), ...fix];
  }
  const more = count > examples.length ? [`      … and ${formatCount(count - examples.length)} more`] : [];
  return [title, ...examples.map((one, i) => `      ${nameOf(one)}: ${said[i]}`), ...more, ...fix];
}

function nameOf({ sourceId, label }: GroupExample): string {
  return label === null || label === '' ? sourceId : label;
}

/** `line 4`, `e.g. lines 4, 7, 9` */
function examplesOf(examples: RowGroup['examples'], count: number): string {
  const isFile = examples.every(({ facts }) => facts?.line !== undefined);
  const names = examples.map((one) => (isFile ? String(one.facts?.line) : nameOf(one)));
  const words = isFile ? `${names.length === 1 ? 'line' : 'lines'} ` : '';
  return `${count > examples.length ? 'e.g. ' : ''}${words}${names.join(', ')}`;
}

/** The command that writes all rows of a verdict to a file. */
export function exportCommand(report: RunReport, verdict: string, hint: Hint): string {
  return hint(`runs export ${report.run} --verdict ${verdict} --out ${verdict}.csv`);
}
