/** The summary of a run: the results of its rows, the rows that need a person, and what to do next. */

import { VERDICTS, type Verdict } from '../engine/ledger/rows.ts';
import type { Run } from '../engine/ledger/runs.ts';
import type { Unsettled } from '../engine/ledger/unsettled.ts';
import type { Queryable } from '../storage/queryable.ts';
import { type Style, styled } from './colour.ts';
import { exportCommand, problemLines } from './problems.ts';
import { hintsFor } from './reasons.ts';
import { firstRows, PROBLEMS, type RunReport, VERDICT_WORDS } from './run-result.ts';
import type { RunState } from './run-state.ts';
import { formatCount, formatRate, formatShare, formatTime, formatTook, plural } from './words.ts';

const SHOWN_PLANS = 20;

const PLANNED_WORDS: Partial<Record<Verdict, string>> = { created: 'would be created', updated: 'would be updated' };

const SCAN_WORDS = {
  proven: 'proven: no record that existed during the whole scan was missed',
  weak: 'weak: two passes agree, and this list allows no stronger proof',
  unproven: 'unproven: records may have been missed',
} as const;

/** `1,790 created, 180 existing, …`: the verdicts that occur, for one line of a list. */
export function countsLine({ counts, unsettled }: Pick<RunReport, 'counts' | 'unsettled'>): string {
  const parts = VERDICTS.filter((verdict) => verdict !== 'unknown' && counts[verdict] > 0).map(
    (verdict) => `${formatCount(counts[verdict])} ${verdict}`,
  );
  return [...parts, ...unsettledParts(unsettled)].join(', ') || 'nothing';
}

function unsettledParts({ sent = 0, neverSent = 0 }: Partial<Unsettled> = {}): readonly string[] {
  return [
    ...(sent > 0 ? [`${formatCount(sent)} sent, not confirmed`] : []),
    ...(neverSent > 0 ? [`${formatCount(neverSent)} never sent`] : []),
  ];
}

/** `Run X of SYNC is done after 12.3 s` */
export function headline(report: RunReport, title: string): string {
  const what = report.dryRun ? 'Dry run' : 'Run';
  return `${what} ${report.run} of ${title} ${styled(STYLE_OF[report.state], headlineWords(report))} after ${formatTook(report.durationMs)}.`;
}

export const STYLE_OF: Readonly<Record<RunState, Style>> = {
  queued: 'dim',
  running: 'good',
  interrupted: 'warn',
  waiting: 'dim',
  'awaiting-approval': 'warn',
  paused: 'warn',
  auditing: 'good',
  done: 'good',
  failed: 'bad',
  'not-approved': 'dim',
  cancelled: 'dim',
};

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
      return 'awaits approval';
    default:
      return `is ${words}`;
  }
}

/** Counts, calls and the proof of the scan, one per line. */
export function figures(report: RunReport, notes: readonly string[]): readonly string[] {
  const { counts, calls, budget } = report;
  const lines: (readonly [string, string])[] = [
    [formatCount(counts.in), counts.in === 1 ? 'row in all' : 'rows in all'],
  ];
  for (const verdict of VERDICTS) {
    if (verdict !== 'unknown' && counts[verdict] > 0)
      lines.push([formatCount(counts[verdict]), wordsFor(verdict, report.dryRun)]);
  }
  const { sent = 0, neverSent = 0 } = report.unsettled ?? {};
  if (sent > 0) lines.push([formatCount(sent), 'sent, not confirmed']);
  if (neverSent > 0) lines.push([formatCount(neverSent), report.status === 'running' ? 'not sent yet' : 'never sent']);
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

function auditLines(report: RunReport): readonly string[] {
  const { open = 0, violations = 0, dueAt } = report.audit ?? {};
  const rows = (n: number) => `${plural(n, 'row')} ${n === 1 ? 'was' : 'were'}`;
  return [
    ...(violations > 0
      ? [`An audit after the run: ${rows(violations)} found more than once or not found any more.`]
      : []),
    ...(open > 0
      ? [
          `The audit of the run is due${dueAt ? ` at ${formatTime(dueAt)}` : ''}: ${rows(open)} sent again after an unknown outcome. A worker (\`lockstep start\`) ` +
            'checks them then, and so does the next command that writes to the account.',
        ]
      : []),
  ];
}

function wordsFor(verdict: Verdict, isDryRun: boolean): string {
  return (isDryRun ? PLANNED_WORDS[verdict] : undefined) ?? VERDICT_WORDS[verdict];
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

/** The whole summary of a run that has ended or that this command stopped following. `told`: its rows were listed before. */
export async function summaryLines(
  db: Queryable,
  run: Run,
  report: RunReport,
  hint: (command: string) => string,
  told: readonly Verdict[] = [],
): Promise<readonly string[]> {
  // The plan of a load has its own lines.
  const hasPlan = report.dryRun && report.status === 'done' && run.job !== 'orders';
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
  return [headline(report, run.title), ...figures(report, run.notes), ...plans, ...problems];
}
