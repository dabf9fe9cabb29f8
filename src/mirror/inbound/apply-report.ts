/**
 * Applies one report: reads the item itself if possible, settles each task that is linked with it, and returns the
 * changes to write, in one transaction. After a crash it is repeated safely: completing a task twice has the effect of
 * completing it once, and a task that already has the item's state is only recorded.
 */
import type pg from 'pg';
import type { ItemRead, ItemState, Target } from '../../contract/target.ts';
import type { Accounts } from '../../engine/account/accounts.ts';
import { scopeNamed } from '../../engine/ledger/scopes/scopes.ts';
import type { TaskScope } from '../../engine/ledger/tasks/task-versions.ts';
import type { TargetAccess } from '../../engine/worker/job.ts';
import type { TasksSync } from '../../settings/settings.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';
import { ledgerMoment } from '../links/seen-items.ts';
import { stateWord } from '../targets/items/wanted-state.ts';
import { type Later, laterFor } from './at-service.ts';
import { leaveNote } from './notes.ts';
import { type Settled, settleTask } from './settle-task.ts';
import { type LinkedTask, REPORTED, readSides, type Since, tasksOf } from './sides.ts';
import {
  endReport,
  letGo,
  type PutOff,
  putOff,
  type Report,
  type ReportEnd,
  type ReportVerdict,
} from './waiting-reports.ts';

export interface ApplyNeeds {
  readonly pool: pg.Pool;
  readonly accounts: Pick<Accounts, 'use'>;
  readonly syncs: readonly TasksSync[];
  readonly target: (name: string) => Promise<Target>;
  readonly filterOf: TargetAccess['filterOf'];
  /** In [0, 1). */
  readonly random: () => number;
  readonly signal: AbortSignal;
}

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60 * 60 * 1000;
/** About a day. */
const MOST_ATTEMPTS = 30;

/** The state of the item, and since when it is certain. */
interface Looked {
  readonly status: 'looked';
  readonly item: { readonly isCompleted: boolean; readonly status: string };
  readonly since: Since;
}

type Ended = { readonly status: 'ended' } & ReportEnd;

type Keep = (db: Queryable) => Promise<void>;

/** The changes to write for a report: first `keeps`, one for each settled task. */
export type ReportOutcome = { readonly report: Report } & (
  | { readonly status: 'ended'; readonly end: ReportEnd; readonly keeps: readonly Keep[] }
  | { readonly status: 'put-off'; readonly wait: PutOff; readonly keeps: readonly Keep[] }
  /** It was processed, but not applied. */
  | { readonly status: 'unsent' }
);

/** Undefined if the hold was lost. */
export async function applyReport(needs: ApplyNeeds, report: Report): Promise<ReportOutcome | undefined> {
  const { pool } = needs;
  const syncs = needs.syncs.filter(({ targets }) => targets.includes(report.target));
  const scopes = await scopesOf(pool, syncs);
  const end = (ended: ReportEnd): ReportOutcome => ({ report, status: 'ended', end: ended, keeps: [] });
  const target = await needs.target(report.target).catch(laterFor);
  if ('status' in target) return afterLater(needs, report, scopes, target);
  const tasks = await tasksOf(pool, report, scopes, { own: target.readItem === undefined });
  if (tasks.length === 0) return end({ verdict: 'not-taken', reason: 'NOT_LINKED' });
  const looked = await look(needs, target, report, tasks);
  if (looked.status === 'later') return afterLater(needs, report, scopes, looked);
  if (looked.status === 'ended') return end(looked);
  const settled: Settled[] = [];
  for (const task of tasks) settled.push(await settleOne(needs, report, looked, task));
  if (settled.some(({ status }) => status === 'lost')) return undefined;
  const keeps = settled.flatMap((one) => (one.status === 'settled' && one.keep ? [one.keep] : []));
  const later = settled.find((one) => one.status === 'later');
  // A settled task stays settled: the next attempt finds it in the item's state.
  if (later !== undefined) return afterLater(needs, report, scopes, later, keeps);
  return { report, status: 'ended', end: { ...wholeOf(settled), seen: seenOf(looked, report) }, keeps };
}

/** Writes the outcome of a report, and nothing if the report is not held. */
export async function recordReport(pool: pg.Pool, outcome: ReportOutcome): Promise<void> {
  const { report } = outcome;
  if (outcome.status === 'unsent') return letGo(pool, [report]);
  await inTransaction(pool, async (db) => {
    const isWritten =
      outcome.status === 'ended' ? await endReport(db, report, outcome.end) : await putOff(db, report, outcome.wait);
    for (const keep of isWritten ? outcome.keeps : []) await keep(db);
  });
}

/**
 * A report only says where to look: it may be an echo of our own delivery, late, or a call that an eavesdropper repeats. So
 * an item that would change a task is read first, if its target can be read.
 */
async function look(
  { pool, signal }: ApplyNeeds,
  target: Target,
  report: Report,
  tasks: readonly LinkedTask[],
): Promise<Looked | Ended | Later> {
  const { isCompleted, status } = report;
  if (target.readItem === undefined) {
    if (isCompleted === null) throw new TypeError('a target whose items cannot be read reports their states');
    return { status: 'looked', item: { isCompleted, status }, since: REPORTED };
  }
  if (!report.hasMoved && (await isKnownSo(pool, report, tasks))) return { status: 'ended', verdict: 'same' };
  const at = await ledgerMoment(pool);
  const read = await target.readItem(report.itemId, { signal });
  if (read.status !== 'found') return notRead(read, report);
  const { item } = read;
  if (item.isAlwaysOpen) {
    const detail = `${report.itemId} recurs, so it is open whether its task is completed or not`;
    return { status: 'ended', verdict: 'not-taken', reason: 'RECURRING', detail };
  }
  return isUnconfirmed(report, item) ? unconfirmed(report, item) : { status: 'looked', item, since: { at } };
}

/**
 * The first read shows another state than the call reports. Vendors send calls before all of their servers show the change
 * (https://github.com/probot/stale/issues/83), so the item is read again.
 */
function isUnconfirmed({ source, attempts, isCompleted }: Report, item: ItemState): boolean {
  return source === 'hook' && attempts === 0 && isCompleted !== null && isCompleted !== item.isCompleted;
}

function unconfirmed({ itemId, isCompleted }: Report, item: ItemState): Later {
  const detail = `the call says that ${itemId} is ${stateWord(isCompleted === true)}, but a read shows that it is ${stateWord(item.isCompleted)}; Lockstep reads it again`;
  return { status: 'later', reason: 'CALL_UNCONFIRMED', detail, isSpent: true };
}

async function isKnownSo(pool: pg.Pool, report: Report, tasks: readonly LinkedTask[]): Promise<boolean> {
  for (const task of tasks) {
    const { known } = await readSides(pool, report, task, REPORTED);
    if (known?.state.isCompleted !== report.isCompleted) return false;
  }
  return true;
}

function notRead(read: Exclude<ItemRead, { status: 'found' }>, { itemId }: Report): Ended | Later {
  switch (read.status) {
    case 'missing':
      return { status: 'ended', verdict: 'not-taken', reason: 'ITEM_MISSING', detail: `${itemId} was not found` };
    case 'refused':
      return { status: 'ended', verdict: 'not-taken', reason: read.reason, detail: read.detail };
    case 'disabled':
      return { status: 'later', reason: read.reason, detail: read.detail, isSpent: true };
    case 'later': {
      const { reason, detail, isLimited = false, retryAfterMs } = read;
      return { status: 'later', reason, detail, isSpent: !isLimited, afterMs: retryAfterMs };
    }
    default:
      return read satisfies never;
  }
}

async function settleOne(needs: ApplyNeeds, report: Report, looked: Looked, task: LinkedTask): Promise<Settled> {
  const { pool, filterOf, signal } = needs;
  const sync = needs.syncs.find(({ name }) => name === task.sync);
  if (sync === undefined) throw new Error('unreachable: the task was found by its sync');
  try {
    const account = () => needs.accounts.use(sync.account);
    const { item, since } = looked;
    return await settleTask({ pool, report, item, since, task, sync, account, filterOf, signal });
  } catch (error) {
    return laterFor(error);
  }
}

/** The accounts whose tasks these syncs mirror. */
async function scopesOf(db: Queryable, syncs: readonly TasksSync[]): Promise<readonly TaskScope[]> {
  const scopes: TaskScope[] = [];
  for (const { name, account } of syncs) scopes.push({ scope: await scopeNamed(db, account), sync: name });
  return scopes;
}

/** For several tasks, the most important verdict to show. */
const BY_WEIGHT: readonly ReportVerdict[] = ['sent-back', 'taken', 'not-taken', 'kept', 'same'];

function wholeOf(settled: readonly Settled[]): ReportEnd {
  const ends = settled.filter((one) => one.status === 'settled');
  const heaviest = BY_WEIGHT.map((verdict) => ends.find((end) => end.verdict === verdict)).find((end) => end);
  const details = ends.flatMap(({ detail }) => detail ?? []);
  return {
    verdict: heaviest?.verdict ?? 'same',
    reason: heaviest?.reason,
    detail: details.length === 0 ? undefined : details.join('; '),
  };
}

function seenOf({ item, since }: Looked, { reportedAt }: Report): ReportEnd['seen'] {
  return { isCompleted: item.isCompleted, at: 'at' in since ? since.at : reportedAt };
}

function afterLater(
  { random }: ApplyNeeds,
  report: Report,
  scopes: readonly TaskScope[],
  { reason, detail, isSpent, afterMs }: Later,
  keeps: readonly Keep[] = [],
): ReportOutcome {
  if (isSpent && report.attempts + 1 >= MOST_ATTEMPTS) {
    const note = `${report.target}: ${report.itemId}: given up after ${MOST_ATTEMPTS} attempts: ${detail}`;
    const tell: Keep = async (db) => {
      for (const scope of scopes) await leaveNote(db, scope, note);
    };
    return { report, status: 'ended', end: { verdict: 'not-taken', reason, detail }, keeps: [...keeps, tell] };
  }
  const backoffMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** report.attempts) * (0.75 + random() / 2);
  const wait: PutOff = { reason, detail, isSpent, afterMs: Math.max(afterMs ?? 0, isSpent ? backoffMs : 0) };
  return { report, status: 'put-off', wait, keeps };
}
