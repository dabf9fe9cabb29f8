/** The rows of a run that need a person, as lines. */
import { formatCount, plural } from '../../base/counts.ts';
import type { Hints } from '../../base/reasons/reasons.ts';
import type { Verdict } from '../../engine/ledger/rows.ts';
import type { GroupExample } from '../../engine/ledger/views/row-groups.ts';
import {
  examplesOf,
  exportCommand,
  moreOf,
  type ProblemGroup,
  type ProblemSection,
  problemSections,
} from '../../operator/problem-rows.ts';
import type { RunReport } from '../../operator/report.ts';
import { applyCommand } from '../../operator/run-report.ts';
import { undecidableWords } from '../../operator/run-words.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { styled } from './colour.ts';

/** Groups shown of each verdict. */
const SHOWN_GROUPS = 8;

/**
 * Lines per verdict: its groups, each with examples and its remedy, and the command that shows all of its rows. `of`: which
 * verdicts; default: all that need a person.
 */
export async function problemLines(
  db: Queryable,
  report: RunReport,
  hints: Hints,
  of?: readonly Verdict[],
): Promise<readonly string[]> {
  const sections = await problemSections(db, report, hints, of);
  return sections.flatMap((section, i) => [
    ...sectionLines(report, section, hints),
    // Rows without a verdict have two sections and one export.
    ...(sections[i + 1]?.verdict === section.verdict ? [] : [exportLine(report, section.verdict, hints)]),
  ]);
}

function exportLine(report: RunReport, verdict: Verdict, hints: Hints): string {
  return `  All of them: ${exportCommand(report, verdict, hints.command)}`;
}

function sectionLines(
  report: RunReport,
  { verdict, words, count, groups }: ProblemSection,
  hints: Hints,
): readonly string[] {
  const hidden = groups.slice(SHOWN_GROUPS);
  const hiddenRows = hidden.reduce((sum, { count }) => sum + count, 0);
  return [
    '',
    styled('strong', `${plural(count, 'row')} ${words}:`),
    ...groups.slice(0, SHOWN_GROUPS).flatMap(groupLines),
    ...(hidden.length === 0 ? [] : [`  ${formatCount(hiddenRows)} with ${plural(hidden.length, 'other reason')}`]),
    ...(verdict === 'review' ? decideLines(report, hints) : []),
  ];
}

/** The remedies of the groups say how rows are decided. */
function decideLines(report: RunReport, hints: Hints): readonly string[] {
  const { run: id, sync, type, counts, decided = 0 } = report;
  const notYet = undecidableWords(report);
  if (notYet !== undefined) return [`  ${notYet}`];
  if (decided < counts.review) return [];
  return [`  A person has decided. To apply it: ${hints.command(applyCommand({ id, type, sync }))}`];
}

/** The sentence about a line of a file begins with the line; it has no other name if its order has none. */
const positionIsSaid = ({ label, facts }: GroupExample) => (label ?? '') === '' && facts?.line !== undefined;

function groupLines(group: ProblemGroup): readonly string[] {
  const { reason, column, count, examples, names, said, remedy } = group;
  const fix = remedy === undefined ? [] : [`      ${styled('good', 'Fix:')} ${remedy}`];
  const title = `  ${formatCount(count)} × ${styled('warn', reason ?? 'NO_REASON')}`;
  if (said.length === 1) {
    const where = column === null ? '' : ` in column ${column}`;
    return [`${title}${where}, ${examplesOf(group)}`, ...(said[0] ? [`      ${said[0]}`] : []), ...fix];
  }
  const more = moreOf(group).map((words) => `      ${words}`);
  return [
    title,
    ...examples.map((one, i) => `      ${positionIsSaid(one) ? '' : `${names[i]}: `}${said[i]}`),
    ...more,
    ...fix,
  ];
}
