/**
 * Compares one task with its item: reads the task at the service, chooses (choose-side.ts), and updates the task if it
 * follows the item. The changes to the ledger are returned, and written together with the end of the report.
 */
import type pg from 'pg';
import type { TaskState } from '../../contract/target.ts';
import type { Account } from '../../engine/account/account.ts';
import type { TaskScope } from '../../engine/ledger/tasks/task-versions.ts';
import type { TargetAccess } from '../../engine/worker/job.ts';
import type { TasksSync } from '../../settings/settings.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { queueDeliveries, type Recipient, recipientsOf } from '../outbox/outbox.ts';
import { stateWord } from '../targets/items/wanted-state.ts';
import { type Noted, noteStateAgain, noteStateHere } from '../tasks/note-state.ts';
import { BUDGET_PATIENCE_MS, completeTask, findTask, type Later } from './at-service.ts';
import { choose } from './choose-side.ts';
import { leaveNote } from './notes.ts';
import { type LinkedTask, readSides, type Since, stateBefore } from './sides.ts';
import { keepHolding, type Report, type ReportEnd } from './waiting-reports.ts';

export interface Settling {
  readonly pool: pg.Pool;
  readonly report: Report;
  /** The state of the item, and since when it is certain. */
  readonly item: { readonly isCompleted: boolean; readonly status: string };
  readonly since: Since;
  readonly task: LinkedTask;
  readonly sync: TasksSync;
  readonly account: () => Promise<Account>;
  readonly filterOf: TargetAccess['filterOf'];
  readonly signal: AbortSignal;
}

export type Settled =
  | ({ readonly status: 'settled'; readonly keep?: (db: Queryable) => Promise<void> } & Omit<ReportEnd, 'seen'>)
  | Later
  /** The hold has expired, and another process may hold the report. */
  | { readonly status: 'lost' };

/** A delivery on its way has to arrive first: until then it is unknown which side moved. */
const ON_ITS_WAY_MS = 300;
/** A call that cannot be checked by a read may have been on its way for this long. */
const LATE_CALL_MS = 60 * 60 * 1000;
/** Added to the time that a call may take, so the hold lasts much longer than the call. */
const GUARD_MS = 20_000;

export async function settleTask(settling: Settling): Promise<Settled> {
  const { pool, report, item, since, task } = settling;
  if (task.kind !== 'task') {
    const detail = `${linkedTaskName(task)} is not a task: the service has no call that completes a ${task.kind}`;
    return { status: 'settled', verdict: 'not-taken', reason: 'ONLY_TASKS', detail };
  }
  const sides = await readSides(pool, report, task, since);
  const { known } = sides;
  if (known === undefined) return notScanned(task);
  if (known.state.isGone) return taskGone(task);
  if (sides.isSending || (sides.isToldSince && 'at' in since)) return onItsWay(task);
  if (known.state.isCompleted === item.isCompleted) return { status: 'settled', verdict: 'same' };
  const account = await settling.account();
  const found = await findTask(account, task.id, settling.signal);
  if (found.status === 'later') return found;
  if (found.status === 'missing') return notThere(settling);
  const here = found.isCompleted ?? known.state.isCompleted;
  if (here === item.isCompleted) return taken(settling);
  const lastSeen = stateBefore(sides, item.isCompleted);
  const choice = choose({
    item: item.isCompleted,
    known: known.state.isCompleted,
    lastSeen,
    isTelling: sides.isToldSince || sides.waiting.some((state) => state !== lastSeen),
    source: report.source,
  });
  switch (choice) {
    case 'take':
      return bringIn(settling, account);
    case 'keep':
      return {
        status: 'settled',
        verdict: 'kept',
        detail: `${linkedTaskName(task)} is ${stateWord(here)}, and a delivery sets the item to the same state`,
      };
    case 'conflict':
      return settling.sync.options.onConflict === 'target'
        ? bringIn(settling, account, conflictNote(settling, here))
        : sendBack(settling, here, sides.waiting.length > 0);
    default:
      return choice satisfies never;
  }
}

async function bringIn(settling: Settling, account: Account, note?: string): Promise<Settled> {
  const { pool, report, item, task, signal } = settling;
  const holdMs = BUDGET_PATIENCE_MS + account.timeoutMs + GUARD_MS;
  if ((await keepHolding(pool, [report], holdMs)).size === 0) return { status: 'lost' };
  const written = await completeTask(account, task.id, item.isCompleted, signal);
  switch (written.status) {
    case 'written':
      return taken(settling, note);
    case 'missing':
      return notThere(settling);
    case 'refused': {
      const detail = `the service refused to set ${linkedTaskName(task)} to ${stateWord(item.isCompleted)}: ${written.detail}`;
      const keep = (db: Queryable) => leaveNote(db, task, `${report.target}: ${report.itemId}: ${detail}`);
      return { status: 'settled', verdict: 'not-taken', reason: 'REFUSED_BY_SERVICE', detail, keep };
    }
    case 'later':
      return written;
    default:
      return written satisfies never;
  }
}

/** The task has the item's state: records that, and queues the change for the other targets. */
function taken(settling: Settling, note?: string): Settled {
  const { item, task, report } = settling;
  return {
    status: 'settled',
    verdict: 'taken',
    detail: note ?? `${linkedTaskName(task)} is ${stateWord(item.isCompleted)}, like ${report.itemId}`,
    async keep(db) {
      await noteTaken(db, settling);
      if (note !== undefined) await leaveNote(db, task, note);
    },
  };
}

/**
 * The target that the change came from does not receive it, unless that target may have been sent another state
 * meanwhile: a delivery that waits, is on its way, or has arrived since the read would otherwise overwrite it. If the
 * item cannot be read, the call may be older than a delivery that arrived before it. Then the target receives its own
 * state, and nothing more follows.
 */
async function noteTaken(db: Queryable, { report, item, since, task, sync, filterOf }: Settling): Promise<void> {
  const state = await lockState(db, task);
  if (state === undefined || state.isGone) return;
  const now = inState(state, item.isCompleted);
  const noted = await noteStateHere(db, task, now, report.target);
  if (noted.status === 'unchanged') return;
  const sides = await readSides(db, report, task, 'at' in since ? since : { beforeReportMs: LATE_CALL_MS });
  const isToldOtherwise = sides.waiting.length > 0 || sides.isToldSince;
  const targets = sync.targets.filter((name) => name !== report.target || isToldOtherwise);
  await tell(db, recipientsOf(targets, filterOf), task, now, noted);
}

/** `onConflict` is the service: its state is sent again, unless a delivery of it waits already. */
function sendBack(settling: Settling, here: boolean, isOpen: boolean): Settled {
  const { report, task, sync, filterOf } = settling;
  const note = conflictNote(settling, here);
  return {
    status: 'settled',
    verdict: 'sent-back',
    detail: note,
    async keep(db) {
      await leaveNote(db, task, note);
      const state = await lockState(db, task);
      if (state === undefined || state.isGone) return;
      const now = inState(state, here);
      const noted = await noteStateHere(db, task, now, undefined);
      if (noted.status === 'noted') return tell(db, recipientsOf(sync.targets, filterOf), task, now, noted);
      if (isOpen) return;
      const again = await noteStateAgain(db, task, now);
      if (again.status === 'noted') await tell(db, recipientsOf([report.target], filterOf), task, now, again);
    },
  };
}

/** The state that is known now, locked until the transaction ends. */
async function lockState(db: Queryable, { scope, sync, kind, id }: LinkedTask): Promise<TaskState | undefined> {
  const found = await db.query<{ state: TaskState }>(
    'select state from ledger.tasks where scope = $1 and sync = $2 and kind = $3 and task_id = $4 for update',
    [scope, sync, kind, id],
  );
  return found.rows[0]?.state;
}

function inState(state: TaskState, isCompleted: boolean): TaskState {
  return { ...state, isCompleted, status: stateWord(isCompleted) };
}

async function tell(
  db: Queryable,
  recipients: readonly Recipient[],
  { scope, sync }: LinkedTask,
  task: TaskState,
  { event, version }: Extract<Noted, { status: 'noted' }>,
): Promise<void> {
  const runId = await readingRun(db, { scope, sync });
  await queueDeliveries(db, recipients, [{ scope, sync, runId, task, event, version, seenAt: new Date() }]);
}

/** The run of the sync that reads items, or delivers, at this moment; it then also waits for the deliveries to the other targets. */
async function readingRun(db: Queryable, { scope, sync }: TaskScope): Promise<string | undefined> {
  const found = await db.query<{ id: string }>(
    `select id from ledger.runs where scope = $1 and sync = $2 and status = 'running' and phase in ('read-items', 'deliver-status')`,
    [scope, sync],
  );
  return found.rows[0]?.id;
}

function conflictNote({ report, item, task, sync }: Settling, here: boolean): string {
  const there = `${report.itemId} is ${stateWord(item.isCompleted)} at ${report.target}`;
  const rule =
    sync.options.onConflict === 'target'
      ? `the task is set to ${stateWord(item.isCompleted)} (onConflict: target)`
      : `the item is set to ${stateWord(here)} (onConflict: service)`;
  return `both sides have changed: ${linkedTaskName(task)} is ${stateWord(here)} here, and ${there}; ${rule}`;
}

function notScanned(task: LinkedTask): Later {
  const detail = `no scan of sync "${task.sync}" has seen ${linkedTaskName(task)} yet`;
  return { status: 'later', reason: 'NOT_SCANNED', detail, isSpent: true };
}

function onItsWay(task: LinkedTask): Later {
  const detail = `a delivery of ${linkedTaskName(task)} is on its way`;
  return { status: 'later', reason: 'ON_ITS_WAY', detail, isSpent: false, afterMs: ON_ITS_WAY_MS };
}

function taskGone(task: LinkedTask): Settled {
  const detail = `${linkedTaskName(task)} is no longer at the service`;
  return { status: 'settled', verdict: 'not-taken', reason: 'TASK_GONE', detail };
}

function notThere({ report, task, item }: Settling): Settled {
  const detail = `the service does not find ${linkedTaskName(task)}, which should be ${stateWord(item.isCompleted)} like ${report.itemId}`;
  const keep = (db: Queryable) => leaveNote(db, task, `${report.target}: ${detail}`);
  return { status: 'settled', verdict: 'not-taken', reason: 'TASK_MISSING', detail, keep };
}

export function linkedTaskName({ kind, id }: Pick<LinkedTask, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}
