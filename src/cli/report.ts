/** The summary of a run: the results of its rows, the rows that need a person, and what to do next. */

import type { Hints } from '../base/reasons/reasons.ts';
import type { Verdict } from '../engine/ledger/rows.ts';
import type { Run } from '../engine/ledger/runs.ts';
import type { Queryable } from '../storage/queryable.ts';
import { hintsFor, remedyLines, rowLine } from './reasons.ts';
import { firstRows, PROBLEMS, problemsIn, type RunReport } from './run-report.ts';
import { formatCount, formatShare, formatTime, formatTook, plural } from './words.ts';

const SHOWN_PROBLEMS = 5;
const SHOWN_PLANS = 20;

const VERDICT_WORDS: Readonly<Record<Verdict, string>> = {
  created: 'created',
  updated: 'updated',
  unchanged: 'unchanged',
  existing: 'exist already',
  invalid: 'not valid, never sent',
  rejected: 'rejected',
  review: 'for a person to decide',
  unknown: 'not settled yet',
};
const PLANNED_WORDS: Partial<Record<Verdict, string>> = { created: 'would be created', updated: 'would be updated' };

const SCAN_WORDS = {
  proven: 'proven: no record that existed during the whole scan was missed',
  weak: 'weak: two passes agree, and this list allows no stronger proof',
  unproven: 'unproven: records may have been missed',
} as const;

/** `1,790 created, 180 existing, …`: the verdicts that occur, for one line of a list. */
export function countsLine({ counts, status }: Pick<RunReport, 'counts' | 'status'>): string {
  const parts = VERDICTS_IN_ORDER.filter((verdict) => counts[verdict] > 0).map(
    (verdict) => `${formatCount(counts[verdict])} ${verdict === 'unknown' && isUnfinished(status) ? 'open' : verdict}`,
  );
  return parts.join(', ') || 'nothing';
}

/** Rows without a verdict are normal while a run is unfinished. */
const isUnfinished = (status: RunReport['status']) => status === 'running' || status === 'paused';

const VERDICTS_IN_ORDER = Object.keys(VERDICT_WORDS) as readonly Verdict[]; // safe: the keys of a Record<Verdict, …>

/** `Run X of SYNC is done after 12.3 s` */
export function headline(report: RunReport, title: string): string {
  const status = {
    running: 'is not finished',
    paused: 'is paused',
    done: 'is done',
    failed: 'failed',
    cancelled: 'was cancelled',
  };
  const what = report.dryRun ? 'Dry run' : 'Run';
  return `${what} ${report.run} of ${title} ${status[report.status]} after ${formatTook(report.durationMs)}.`;
}

/** Counts, calls and the proof of the scan, one per line. */
export function figures(report: RunReport, notes: readonly string[]): readonly string[] {
  const { counts, calls, budget } = report;
  const lines: (readonly [string, string])[] = [
    [formatCount(counts.in), counts.in === 1 ? 'row in all' : 'rows in all'],
  ];
  for (const verdict of VERDICTS_IN_ORDER) {
    if (counts[verdict] > 0) lines.push([formatCount(counts[verdict]), wordsFor(verdict, report.dryRun)]);
  }
  const allowed =
    budget.allowedPerSecond === null || budget.used === null
      ? ''
      : `, ${formatShare(budget.used)} of the ${formatRate(budget.allowedPerSecond)} allowed`;
  const limited = budget.limited === 0 ? '' : `; the service said "slow down" ${plural(budget.limited, 'time')}`;
  lines.push([formatCount(calls), `${calls === 1 ? 'call' : 'calls'} made${allowed}${limited}`]);
  const width = Math.max(...lines.map(([n]) => n.length));
  const scan = report.scan === null ? [] : [`The scan is ${SCAN_WORDS[report.scan]}.`];
  return [
    ...lines.map(([n, words]) => `  ${n.padStart(width)}  ${words}`),
    ...scan,
    ...auditLines(report),
    ...notes.map((note) => `Note: ${note.replace(/\.+$/, '')}.`),
  ];
}

/** `auditing until 2026-11-21 02:03:05`, for a list of runs; empty if no audit is due. */
export function auditingUntil({ audit }: Pick<RunReport, 'audit'>): string {
  return audit?.dueAt ? `auditing until ${formatTime(audit.dueAt)}` : '';
}

function auditLines(report: RunReport): readonly string[] {
  const { open = 0, violations = 0 } = report.audit ?? {};
  const rows = (n: number) => `${plural(n, 'row')} ${n === 1 ? 'was' : 'were'}`;
  return [
    ...(violations > 0
      ? [`An audit after the run: ${rows(violations)} found more than once or not found any more.`]
      : []),
    ...(open > 0
      ? [
          `The run is ${auditingUntil(report)}: ${rows(open)} sent again after an unknown outcome. A worker (lockstep start) ` +
            'checks them then, and so does the next command that writes to the account.',
        ]
      : []),
  ];
}

function wordsFor(verdict: Verdict, isDryRun: boolean): string {
  return (isDryRun ? PLANNED_WORDS[verdict] : undefined) ?? VERDICT_WORDS[verdict];
}

function formatRate(perSecond: number): string {
  return perSecond >= 1 ? `${formatCount(perSecond)} a second` : `${formatCount(perSecond * 60)} a minute`;
}

/** The first rows that need a person, and the commands that show all of them. */
export async function problemLines(db: Queryable, report: RunReport, hints: Hints): Promise<readonly string[]> {
  if (problemsIn(report.counts) === 0) return [];
  const lines: string[] = [];
  for (const verdict of PROBLEMS.filter((one) => report.counts[one] > 0)) {
    const rows = await firstRows(db, report.run, SHOWN_PROBLEMS, verdict);
    const count = report.counts[verdict];
    lines.push('', `${plural(count, 'row')} ${VERDICT_WORDS[verdict]}:`, ...rows.map((row) => rowLine(row, hints)));
    const more = count > rows.length ? `${formatCount(count - rows.length)} more; ` : '';
    lines.push(`  ${more}to see all: ${exportCommand(report, verdict, hints.command)}`, ...remedyLines(rows, hints));
  }
  return lines;
}

/** The first rows that a dry run would write. */
export async function plannedLines(
  db: Queryable,
  report: RunReport,
  hint: (command: string) => string,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const verdict of ['created', 'updated'] as const) {
    const count = report.counts[verdict];
    const rows = await firstRows(db, report.run, count === 0 ? 0 : SHOWN_PLANS - lines.length, verdict);
    lines.push(...rows.map((row) => `  ${row.action ?? verdict}  ${row.label ?? row.sourceId}`));
  }
  const planned = report.counts.created + report.counts.updated;
  if (planned === 0) return ['', 'Nothing would be written.'];
  const more = planned > lines.length ? [`  … and ${formatCount(planned - lines.length)} more`] : [];
  const verdict = report.counts.created > 0 ? 'created' : 'updated';
  return ['', 'It would write:', ...lines, ...more, `To see all: ${exportCommand(report, verdict, hint)}`];
}

function exportCommand(report: RunReport, verdict: Verdict, hint: (command: string) => string): string {
  return hint(`runs export ${report.run} --verdict ${verdict} --out ${verdict}.csv`);
}

/** The whole summary of a run that has ended or that this command stopped following. */
export async function summaryLines(
  db: Queryable,
  run: Run,
  report: RunReport,
  hint: (command: string) => string,
): Promise<readonly string[]> {
  const plans = report.dryRun && report.status === 'done' ? await plannedLines(db, report, hint) : [];
  const problems = report.status === 'running' ? [] : await problemLines(db, report, hintsFor(hint, run));
  return [headline(report, run.title), ...figures(report, run.notes), ...plans, ...problems];
}
