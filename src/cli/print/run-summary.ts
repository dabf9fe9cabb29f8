/** The summary of a run: the results of its rows, the rows that need a person, and what to do next. */
import { formatCount, plural } from '../../base/counts.ts';
import type { Difference } from '../../base/reasons/reason.ts';
import { shortLabel } from '../../base/texts.ts';
import { PROBLEMS, VERDICTS, type Verdict } from '../../engine/ledger/rows.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { ReportedRow } from '../../engine/ledger/views/row-pages.ts';
import { formatRate, formatShare, formatTime, formatTook } from '../../operator/format.ts';
import { hintsFor } from '../../operator/hints.ts';
import { watchesFolder } from '../../operator/phase-words.ts';
import { exportCommand } from '../../operator/problem-rows.ts';
import type { RunReport } from '../../operator/report.ts';
import { firstRows } from '../../operator/run-report.ts';
import {
  callWords,
  leftOutWords,
  notesBeside,
  SCAN_WORDS,
  styleOf,
  unconfirmedWords,
  unsentWords,
  verdictWords,
} from '../../operator/run-words.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { styled } from './colour.ts';
import { problemLines } from './problem-lines.ts';

const SHOWN_PLANS = 20;
const SHOWN_CHANGES = 5;

/** `Run X of SYNC is done after 12.3 s` */
export function headline(report: RunReport, title: string): string {
  const what = report.dryRun ? 'Dry run' : 'Run';
  const took = formatTook(report.durationMs);
  const when = report.state === 'running' ? `, for ${took} so far` : ` after ${took}`;
  return `${what} ${report.run} of ${title} ${styled(styleOf(report), headlineWords(report))}${when}.`;
}

function headlineWords({ state, stateWords: words }: RunReport): string {
  switch (state) {
    case 'done':
    case 'auditing':
      return 'is done';
    case 'failed':
      return 'failed';
    case 'cancelled':
      return 'was cancelled';
    case 'not-approved':
      return 'was not approved';
    case 'interrupted':
      return 'is interrupted';
    case 'awaiting-approval':
      return 'waits for approval';
    default:
      return `is ${words}`;
  }
}

/** Counts, calls and the proof of the scan, one per line. */
export function figures(
  report: RunReport,
  run: Pick<Run, 'type' | 'options' | 'notes' | 'failingSince'>,
): readonly string[] {
  const { counts, calls, budget, error } = report;
  const isOfFiles = watchesFolder(run);
  const lines: (readonly [string, string])[] = [
    [formatCount(counts.in), `${isOfFiles ? 'file' : 'row'}${counts.in === 1 ? '' : 's'} in all`],
  ];
  for (const verdict of VERDICTS) {
    if (verdict !== 'unknown' && counts[verdict] > 0)
      lines.push([formatCount(counts[verdict]), verdictWords(verdict, report)]);
  }
  const { sent = 0, neverSent = 0 } = report.unsettled ?? {};
  if (sent > 0) lines.push([formatCount(sent), unconfirmedWords(report)]);
  if (neverSent > 0) lines.push([formatCount(neverSent), unsentWords(report)]);
  const allowed =
    budget.allowedPerSecond === null || budget.used === null
      ? ''
      : `, ${formatShare(budget.used)} of the budget of ${formatRate(budget.allowedPerSecond)}`;
  const limited = budget.limited === 0 ? '' : `; the service said "slow down" ${plural(budget.limited, 'time')}`;
  const asked =
    budget.pausedUntil === undefined ? '' : `; calls wait for the rate limit until ${formatTime(budget.pausedUntil)}`;
  const made = [
    formatCount(calls),
    `${calls === 1 ? 'call' : 'calls'} ${callWords(report, run)}${allowed}${limited}${asked}`,
  ] as const;
  if (!isOfFiles) lines.push(made);
  const width = Math.max(...lines.map(([n]) => n.length));
  const scan = report.scan === null ? [] : [`The scan is ${SCAN_WORDS[report.scan]}.`];
  return [
    ...lines.map(([n, words]) => `  ${n.padStart(width)}  ${words}`),
    ...leftOutWords(report),
    ...scan,
    ...auditLines(report),
    ...notesBeside(run, [error?.message]).map((note) => `Note: ${note}.`),
  ];
}

function auditLines(report: RunReport): readonly string[] {
  const { open = 0, violations = 0, dueAt } = report.audit ?? {};
  const rows = (n: number) => `${plural(n, 'row')} ${n === 1 ? 'was' : 'were'}`;
  return [
    ...(violations > 0
      ? [`An audit after the run: ${rows(violations)} found more than once or not found any more.`]
      : []),
    ...(open > 0
      ? [
          `The audit of the run is due${dueAt ? ` at ${formatTime(dueAt)}` : ''}: it checks if ${plural(open, 'row')} got a second record. A worker (\`lockstep start\`) ` +
            'makes it then, and so does the next command that writes to the account.',
        ]
      : []),
  ];
}

/** The first rows that a dry run would write, and what it would change in the first ones. */
export async function plannedLines(
  db: Queryable,
  report: RunReport,
  hint: (command: string) => string,
): Promise<readonly string[]> {
  const rows: ReportedRow[] = [];
  for (const verdict of ['created', 'updated'] as const)
    rows.push(
      ...(await firstRows(db, report.run, report.counts[verdict] === 0 ? 0 : SHOWN_PLANS - rows.length, verdict)),
    );
  const detailed = rows.filter(({ facts }) => facts?.changes !== undefined).slice(0, SHOWN_CHANGES);
  const lines = rows.flatMap((row) => [
    `  ${row.action ?? row.verdict}  ${shortLabel(row.label ?? row.sourceId)}`,
    ...(detailed.includes(row) ? changeLines(row) : []),
  ]);
  const planned = report.counts.created + report.counts.updated;
  if (planned === 0) return ['', 'Nothing would be written.'];
  if (rows.length === 0) return []; // they were deleted, and the counts say so
  const more = planned > rows.length ? [`  … and ${formatCount(planned - rows.length)} more`] : [];
  const verdicts = (['created', 'updated'] as const).filter((verdict) => report.counts[verdict] > 0);
  const exports = verdicts.map((verdict) => {
    const which = verdicts.length > 1 ? ` that would be ${verdict}` : '';
    return `To see all${which}: ${exportCommand(report, verdict, hint)}`;
  });
  return ['', 'It would write:', ...lines, ...more, ...exports];
}

/** `phone_number: "030 555" → "+4930555"` */
function changeLines({ facts }: ReportedRow): readonly string[] {
  const changes = (facts?.changes ?? []) as readonly Difference[]; // safe: the decision writes them so
  if (changes.length === 0) return ['    the customer has these values already'];
  const shown = (value: string | number = '') => (value === '' ? '(empty)' : JSON.stringify(value));
  return changes.map(({ field, is, expected }) => `    ${field}: ${shown(is)} → ${shown(expected)}`);
}

/** The whole summary of a run that has ended or that this command stopped following. `told`: its rows were listed before. */
export async function summaryLines(
  db: Queryable,
  run: Run,
  report: RunReport,
  hint: (command: string) => string,
  told: readonly Verdict[] = [],
): Promise<readonly string[]> {
  // The plan of a load has its own lines.
  const hasPlan = report.dryRun && report.status === 'done' && run.type !== 'orders';
  const plans = hasPlan ? await plannedLines(db, report, hint) : [];
  const problems =
    report.status === 'running'
      ? []
      : await problemLines(
          db,
          report,
          hintsFor(hint, run),
          PROBLEMS.filter((verdict) => !told.includes(verdict)),
        );
  return [headline(report, run.title), ...figures(report, run), ...plans, ...problems];
}
