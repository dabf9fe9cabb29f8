/**
 * The problems that exist now, derived from the ledger: what `lockstep status` shows as "needs a person", and what alerts
 * report.
 */
import { formatCount, plural } from '../base/counts.ts';
import { meaningOf } from '../base/reasons/reasons.ts';
import { type Audit, auditsOf } from '../engine/ledger/audit-debts.ts';
import { PROBLEMS } from '../engine/ledger/rows.ts';
import { runRemedy } from '../engine/ledger/run-remedy.ts';
import type { Run } from '../engine/ledger/runs.ts';
import { downServices } from '../engine/ledger/scopes/down-services.ts';
import { suspendedAccounts } from '../engine/ledger/scopes/suspensions.ts';
import { groupRows, splitUnsettled } from '../engine/ledger/views/row-groups.ts';
import { emptyRuns, lateSyncs, runsInNeed, supersededLoads } from '../engine/ledger/views/runs-in-need.ts';
import { type TargetState, targetStates } from '../mirror/outbox/target-states.ts';
import type { Settings } from '../settings/settings.ts';
import type { Queryable } from '../storage/queryable.ts';
import { lasting, type Problem } from './alerts/problem.ts';
import { openAlerts, PASSING_MS } from './alerts/report-changes.ts';
import { watchesFolder } from './phase-words.ts';
import type { RunState } from './report.ts';
import { applyCommand, type Counted, countedOf, problemsIn } from './run-report.ts';
import { runStateOf, stateWords } from './run-state.ts';
import { countsLine } from './run-words.ts';
import { targetProblems } from './target-problems.ts';

/** Reasons that the detail of a message names. */
const MOST_REASONS = 5;

export interface States {
  readonly targets: readonly TargetState[];
  /** By account. */
  readonly suspended: Awaited<ReturnType<typeof suspendedAccounts>>;
}

export async function readStates(db: Queryable, { accounts }: Pick<Settings, 'accounts'>): Promise<States> {
  const [targets, suspended] = await Promise.all([targetStates(db), suspendedAccounts(db, Object.keys(accounts))]);
  return { targets, suspended };
}

/**
 * The newest runs come first, then syncs, accounts and targets. Runs with an open alert count however long ago they ended. Reads
 * at the same time, so `db` is no single connection.
 */
export async function findProblems(db: Queryable, settings: Settings, known?: States): Promise<readonly Problem[]> {
  const { targets, suspended } = known ?? (await readStates(db, settings));
  const each = await Promise.all([
    runProblems(db),
    syncProblems(db),
    ofAccounts(db, settings, suspended),
    targetProblems(db, settings, targets),
  ]);
  return each.flat();
}

async function runProblems(db: Queryable): Promise<readonly Problem[]> {
  const kept = (await openAlerts(db)).flatMap(({ message: { run } }) => run ?? []);
  const runs = await runsInNeed(db, { verdicts: PROBLEMS, kept });
  const done = runs.filter(({ status }) => status === 'done');
  const [audits, counted, superseded] = await Promise.all([
    auditsOf(
      db,
      runs.map(({ id }) => id),
    ),
    countedOf(db, done),
    supersededLoads(db, done, PROBLEMS),
  ]);
  const known = ({ id }: Run) => ({
    audit: audits.get(id),
    counted: counted.get(id),
    isSuperseded: superseded.has(id),
  });
  const each = await Promise.all(runs.map((run) => ofRun(db, run, known(run))));
  return each.flat();
}

interface KnownOfRun {
  readonly audit: Audit | undefined;
  /** Undefined unless it is done. */
  readonly counted: Counted | undefined;
  /** Later loads have its rows. */
  readonly isSuperseded: boolean;
}

async function syncProblems(db: Queryable): Promise<readonly Problem[]> {
  const [empty, late] = await Promise.all([emptyRuns(db), lateSyncs(db, PASSING_MS)]);
  const ofEmpty = empty.map(({ sync, run, scope, endedAt, before }) => {
    const why = `found no contacts; an earlier run found ${formatCount(before)}`;
    const about = { event: 'no-rows', sync, run, since: endedAt, cause: 'NO_ROWS', why } as const;
    return lasting({
      ...about,
      ...subjectOf(sync, sync, scope),
      what: whatRun(run, sync),
      command: `runs show ${run}`,
    });
  });
  const ofLate = late.map(({ sync, dueAt, waitsFor }) => {
    const about = { event: 'sync-late', subject: sync, sync, since: dueAt, what: `sync ${sync}` } as const;
    if (waitsFor === null) {
      const why = 'it was due and has not started: no scheduler runs, or the log of lockstep start says why';
      return lasting({ ...about, cause: 'LATE', why, command: 'syncs' });
    }
    const why = `it was due and waits until run ${waitsFor}, which writes the same records, has ended`;
    return lasting({ ...about, cause: 'RUN_IN_THE_WAY', why, command: `runs show ${waitsFor}` });
  });
  return [...ofEmpty, ...ofLate];
}

async function ofRun(db: Queryable, run: Run, known: KnownOfRun): Promise<readonly Problem[]> {
  const { audit } = known;
  const state = await runStateOf(db, run, audit);
  const about = {
    ...subjectOf(run.title, run.sync, run.scope),
    what: whatRun(run.id, run.title),
    sync: run.sync,
    run: run.id,
    account: run.account,
    command: `runs show ${run.id}`,
    cause: run.errorCode ?? state.toUpperCase(),
  };
  const words = stateWords(state, run, audit);
  const detail = async () => run.error ?? meaningOf(run.errorCode ?? null) ?? '';
  switch (state) {
    case 'awaiting-approval': {
      const why = 'waits for approval: nothing is sent until then';
      return [lasting({ ...about, event: 'awaits-approval', why, since: run.attendedAt, detail })];
    }
    case 'interrupted': {
      const since = run.attendedAt ?? run.createdAt;
      const why = 'interrupted: no process works on it. A worker continues it';
      return [{ ...about, event: 'run-paused', why, since, command: 'start', isPassing: true }];
    }
    case 'paused':
      return [
        lasting({
          ...about,
          event: 'run-paused',
          why: words,
          since: run.attendedAt,
          command: runRemedy(run).command,
          detail,
        }),
      ];
    case 'failed':
      return [lasting({ ...about, event: 'run-failed', why: words, since: run.endedAt, detail })];
    case 'done':
    case 'auditing': {
      const ended = { ...about, since: run.endedAt };
      return [...(await ofRows(db, run, known, ended, state)), ...ofAudit(audit, ended)];
    }
    default:
      return [];
  }
}

type AboutRun = Omit<Problem, 'isPassing' | 'event' | 'why'>;

/** Without the rows that `ofAudit` reports. */
async function ofRows(
  db: Queryable,
  run: Run,
  { audit, counted, isSuperseded }: KnownOfRun,
  about: AboutRun,
  state: RunState,
): Promise<readonly Problem[]> {
  // What became of a change of a task is known from its delivery: a run ends before its retries do.
  if (counted === undefined || run.type === 'tasks' || isSuperseded || run.isAcknowledged) return [];
  const { decided } = counted;
  const counts = { ...counted.counts, review: counted.counts.review - (audit?.inReview ?? 0) };
  if (problemsIn(counts) === 0) return [];
  const unsettled = counts.unknown === 0 ? undefined : await splitUnsettled(db, run, counts.unknown);
  const inReview = counts.review - (decided ?? 0);
  const problem = lasting({
    ...about,
    event: 'needs-review',
    why: countsLine({ counts, unsettled, decided, state }),
    cause: 'REVIEW',
    ...(watchesFolder(run) && { key: run.id }), // each has its own files
    ...(counts.review > 0 &&
      decided !== undefined && { inReview, command: inReview > 0 ? 'review' : applyCommand(run) }),
    detail: () => reasonsOf(db, run.id),
  });
  return [problem];
}

function ofAudit(audit: Audit | undefined, about: AboutRun): readonly Problem[] {
  const { undecided: violations = 0, inReview = 0 } = audit ?? {};
  if (violations === 0) return [];
  const why = `its audit found ${plural(violations, 'violation')}: a record exists twice, or is gone`;
  const command = inReview > 0 ? 'review' : about.command;
  return [lasting({ ...about, event: 'audit-violation', why, cause: 'VIOLATION', inReview, command })];
}

/** `2 × SEVERAL_CUSTOMERS: meaning.` for each reason. It names no row, because messages hold no content of records. */
async function reasonsOf(db: Queryable, run: string): Promise<string> {
  const counts = new Map<string, number>();
  for (const { reason, count } of await groupRows(db, run, PROBLEMS))
    counts.set(reason ?? 'NO_REASON', (counts.get(reason ?? 'NO_REASON') ?? 0) + count);
  const words = [...counts].map(([reason, n]) => `${formatCount(n)} × ${reason}: ${meaningOf(reason) ?? ''}`.trim());
  const more = words.length > MOST_REASONS ? [`And ${plural(words.length - MOST_REASONS, 'other reason')}.`] : [];
  return [...words.slice(0, MOST_REASONS), ...more].join(' ');
}

async function ofAccounts(
  db: Queryable,
  { accounts }: Settings,
  suspended: States['suspended'],
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  const down = new Map((await downServices(db)).map((service) => [service.account, service]));
  for (const account of Object.keys(accounts)) {
    const about = { subject: `account ${account}`, account, command: `doctor --account ${account}` };
    const suspension = suspended.get(account);
    if (suspension) {
      const { code: cause, message: why, since } = suspension;
      const command = cause === 'KEY_REFUSED' ? about.command : `accounts resume ${account}`;
      problems.push(
        lasting({ ...about, event: 'account-suspended', what: `account ${account}`, why, since, cause, command }),
      );
    }
    const service = down.get(account);
    if (service) {
      const { message: why, since } = service;
      const what = `service of account ${account}`;
      problems.push({ ...about, event: 'service-down', what, why, since, cause: 'SERVICE_DOWN', isPassing: true });
    }
  }
  return problems;
}

/** A sync that worked on another tenant before has the problems of both. */
function subjectOf(subject: string, sync: string, scope: string) {
  return { subject, key: `${sync}:${scope}` };
}

function whatRun(run: string, title: string): string {
  return `run ${run} of ${title}`;
}
