/** Reads what is reported of runs. */
import { safeLimits } from '../client/budget/safe-limits.ts';
import { type Audit, auditsOf } from '../engine/ledger/audit-debts.ts';
import { decidedRows } from '../engine/ledger/decisions.ts';
import { type Counts, countRows, countsOf, PROBLEMS, type Verdict } from '../engine/ledger/rows.ts';
import { type Calls, callsWithParts } from '../engine/ledger/run-parts.ts';
import { isUnfinished, type Run } from '../engine/ledger/runs.ts';
import { pausesAsked } from '../engine/ledger/scopes/budget-minutes.ts';
import { splitUnsettled } from '../engine/ledger/views/row-groups.ts';
import { type ReportedRow, reportRows } from '../engine/ledger/views/row-pages.ts';
import { type AccountSettings, budgetLimits, type Settings } from '../settings/settings.ts';
import type { Queryable } from '../storage/queryable.ts';
import { formatRate } from './format.ts';
import type { RunReport, RunState } from './report.ts';
import { runStateOf, stateWords } from './run-state.ts';

/** Reads at the same time, so `db` is no single connection. */
export async function reportRun(db: Queryable, run: Run, settings: Settings): Promise<RunReport> {
  const [reported] = await reportRuns(db, [run], settings);
  return (reported as NonNullable<typeof reported>).report; // safe: one for each run
}

/** These runs, each with its report. Reads at the same time, so `db` is no single connection. */
export async function reportRuns(
  db: Queryable,
  runs: readonly Run[],
  settings: Settings,
): Promise<readonly { readonly run: Run; readonly report: RunReport }[]> {
  const ids = runs.map(({ id }) => id);
  const running = runs.filter(({ status }) => status === 'running').map(({ account }) => account);
  const [audits, calls, counted, pauses] = await Promise.all([
    auditsOf(db, ids),
    callsWithParts(db, ids),
    countedOf(db, runs),
    running.length === 0 ? new Map<string, Date>() : pausesAsked(db, [...new Set(running)]),
  ]);
  return Promise.all(
    runs.map(async (run) => {
      const pausedUntil = run.status === 'running' ? pauses.get(run.account) : undefined;
      const ofRun = {
        audit: audits.get(run.id),
        pausedUntil,
        ...(calls.get(run.id) ?? { calls: 0, callsMissed: false }),
      };
      return { run, report: await report(db, run, settings, { ...ofRun, ...(counted.get(run.id) as Counted) }) }; // safe: one for each run
    }),
  );
}

interface KnownOfReport {
  readonly audit: Audit | undefined;
  readonly pausedUntil: Date | undefined;
}

async function report(
  db: Queryable,
  run: Run,
  settings: Settings,
  { audit, pausedUntil, calls, callsMissed, counts, decided }: Calls & Counted & KnownOfReport,
): Promise<RunReport> {
  const allowedPerSecond = allowedFor(run, settings);
  const [state, unsettled] = await Promise.all([
    runStateOf(db, run, audit),
    counts.unknown === 0 ? undefined : splitUnsettled(db, run, counts.unknown),
  ]);
  const durationMs = workedMs(run, state);
  return {
    run: run.id,
    sync: run.sync,
    type: run.type,
    status: run.status,
    state,
    stateWords: stateWords(state, run, audit, pausedUntil !== undefined),
    dryRun: run.dryRun,
    counts,
    unsettled,
    decided,
    calls,
    callsMissed,
    durationMs,
    budget: {
      allowedPerSecond: allowedPerSecond ?? null,
      used: allowedPerSecond === undefined || callsMissed ? null : shareUsed(calls, allowedPerSecond, durationMs),
      limited: run.limited,
      pausedUntil,
    },
    scan: run.scan ?? null,
    leftOut: run.leftOut,
    results: {},
    audit,
    plan: state === 'awaiting-approval' ? run.planId : undefined,
    error: run.error === undefined ? undefined : { code: run.errorCode ?? 'RUN_FAILED', message: run.error },
  };
}

/** The command that applies what people decided about rows of a run. */
export function applyCommand({ id, type, sync }: Pick<Run, 'id' | 'type' | 'sync'>): string {
  return type === 'orders' ? `runs retry ${id}` : `run ${sync}`;
}

export interface Counted {
  readonly counts: Counts;
  /** Of its rows in review: how many a person has decided. Undefined if nothing in it can be decided. */
  readonly decided: number | undefined;
}

/**
 * The rows of these runs, by run. An ended run has its counts saved, because unchanged rows of older runs are deleted; the rows
 * of any other run are counted.
 */
export async function countedOf(db: Queryable, runs: readonly Run[]): Promise<ReadonlyMap<string, Counted>> {
  const count = async (run: Run) => (isUnfinished(run) ? countRows(db, run.id) : countsOf(run.counts));
  const each = await Promise.all(runs.map(async (run) => ({ run, counts: await count(run) })));
  const inReview = each.filter(({ run, counts }) => counts.review > 0 && run.type !== 'tasks' && !run.dryRun);
  const decided = await decidedRows(
    db,
    inReview.map(({ run }) => run),
  );
  return new Map(each.map(({ run, counts }) => [run.id, { counts, decided: decided.get(run.id) }]));
}

/** While a process works on the run, until now. */
function workedMs(run: Run, state: RunState): number {
  const isNow = state === 'receiving' || (run.status === 'running' && (state === 'running' || state === 'waiting'));
  const until = run.endedAt ?? (isNow ? new Date() : (run.attendedAt ?? run.createdAt));
  return Math.max(0, Math.round(until.getTime() - run.createdAt.getTime() - run.idleMs));
}

/** Calls a second that the account of a run is allowed; undefined if the settings do not say, or if it is discovered. */
export function allowedFor(run: Run, settings: Settings): number | undefined {
  const account = settings.accounts[run.account];
  return account === undefined || account.budget.mode === 'discover' ? undefined : budgetLimits(account).ratePerSecond;
}

/** What an account is allowed. `lastRate`: calls a second when it was last used, which the service may have lowered. */
export function budgetWords(account: AccountSettings, lastRate: number | undefined): string {
  const limits = budgetLimits(account);
  const full = safeLimits(limits).pace.ratePerSecond;
  const isLower = lastRate !== undefined && lastRate < full && formatRate(lastRate) !== formatRate(full);
  const isUnknown = limits.mode === 'discover' && !isLower;
  const most = `${isUnknown ? 'found by trying, ' : ''}at most ${formatRate(limits.ratePerSecond)}`;
  return isLower ? `${formatRate(lastRate)} when last used (${most})` : most;
}

/** At most 1: a burst after a pause may exceed the rate. */
function shareUsed(calls: number, allowedPerSecond: number, durationMs: number): number {
  const allowed = (allowedPerSecond * durationMs) / 1_000;
  return allowed === 0 ? 0 : Math.min(1, Math.round((calls / allowed) * 1_000) / 1_000);
}

/** How many rows need a person. */
export function problemsIn(counts: Counts): number {
  return PROBLEMS.reduce((sum, verdict) => sum + counts[verdict], 0);
}

/** The first rows of a run, or the first ones with the given verdict. */
export async function firstRows(
  db: Queryable,
  runId: string,
  limit: number,
  verdict?: Verdict,
): Promise<readonly ReportedRow[]> {
  const rows: ReportedRow[] = [];
  if (limit <= 0) return rows;
  for await (const row of reportRows(db, runId, verdict)) {
    rows.push(row);
    if (rows.length === limit) break;
  }
  return rows;
}
