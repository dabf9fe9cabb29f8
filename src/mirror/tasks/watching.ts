/**
 * Stores what a scan sees: tasks that differ from their known state get their next version, a row of the run and their
 * deliveries in the outbox, in one transaction; the others are only counted.
 *
 * Versions are written batch by batch. If a scan is interrupted, its versions stay valid: the run scans again, finds those
 * tasks unchanged, and has their rows and deliveries already.
 */
import type pg from 'pg';
import type { TaskEvent, TaskKind, TaskState } from '../../contract/target.ts';
import { RunPaused } from '../../engine/account/failure.ts';
import { waysOn } from '../../engine/account/identity.ts';
import { addRows } from '../../engine/ledger/inputs.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import {
  type KnownTask,
  keepVersions,
  knownTasks,
  type NewVersion,
  seenAgain,
} from '../../engine/ledger/tasks/task-versions.ts';
import type { Exclusive } from '../../engine/worker/exclusive.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { sourceIdOf } from '../links/item-links.ts';
import { eventOf, type TaskChange, taskHash } from './task-state.ts';

/** Writes changes to the outbox, in the transaction that writes their versions. */
export type Enqueue = (db: Queryable, changes: readonly TaskChange[]) => Promise<void>;

export interface Watching {
  readonly pool: pg.Pool;
  readonly run: Run;
  readonly exclusive: Exclusive;
  readonly enqueue: Enqueue;
  /** Returns the first of this many ordinals among the run's rows. */
  readonly takeOrdinals: (count: number) => number;
  /** Seen subtasks and cards, by their names in the run's rows. */
  readonly seen: Set<string>;
}

export interface SeenAt {
  /** When the read that showed them began, on the performance.now() scale: versions written since are newer. */
  readonly readAtMs: number;
  /**
   * Whether the tasks are part of the baseline: stored, but not a change. `new`: only tasks that were not known are
   * part of it.
   */
  readonly isSilent: boolean | 'new';
}

/** Stores the seen tasks of one kind. A dry run writes only the rows that say what would be delivered. */
export async function keepSeen(
  watching: Watching,
  kind: TaskKind,
  tasks: readonly TaskState[],
  { readAtMs, isSilent }: SeenAt,
): Promise<void> {
  const { pool, run, exclusive } = watching;
  const distinct = [...new Map(tasks.map((task) => [task.id, task])).values()];
  const known = await knownTasks(
    pool,
    run,
    kind,
    distinct.map(({ id }) => id),
  );
  if (kind === 'task') checkSameTasks(run, distinct, known);
  const sinceReadMs = performance.now() - readAtMs;
  const changes: Happened[] = [];
  const back: string[] = [];
  for (const task of distinct) {
    const before = known.get(task.id);
    if (before !== undefined && before.ageMs < sinceReadMs) continue;
    const hash = taskHash(task);
    const event = eventOf(before, task, hash);
    if (event !== undefined) changes.push({ task, hash, event, version: (before?.version ?? 0) + 1 });
    else if (before !== undefined && before.missed > 0) back.push(task.id);
  }
  if (changes.length === 0 && (back.length === 0 || run.dryRun)) return;
  await exclusive.transaction(async (db) => {
    if (!run.dryRun) await seenAgain(db, run, kind, back);
    const isQuiet = ({ version }: Happened) => isSilent === true || (isSilent === 'new' && version === 1);
    await keepChanges(db, watching, kind, changes.filter(isQuiet), { isSilent: true });
    const told = changes.filter((change) => !isQuiet(change));
    await keepChanges(db, watching, kind, told, { isSilent: false });
  });
}

/** At most this many known tasks of a page may become other tasks between two scans. */
const FEW = 2;

/** @throws RunPaused IDENTITY_UNCLEAR if most known ids of a page belong to other tasks now, before anything is stored */
function checkSameTasks(
  { account, id }: Run,
  tasks: readonly TaskState[],
  known: ReadonlyMap<string, KnownTask>,
): void {
  const others = tasks.filter((task) => isAnother(task, known.get(task.id)?.said));
  if (others.length <= FEW || others.length * 2 <= known.size) return;
  const [task] = others;
  throw new RunPaused(
    'IDENTITY_UNCLEAR',
    `${others.length} of ${known.size} known tasks on a page of account "${account}" are now different tasks: ` +
      `task ${task?.id} was "${known.get(task?.id ?? '')?.said?.[0] ?? ''}" and is "${task?.title}". It may be another tenant, or ` +
      `a service that was restored from a backup. Nothing was sent. ${waysOn(account)} Then resume with: \`lockstep runs resume ${id}\``,
  );
}

function isAnother(
  { title, description, startDate, endDate }: TaskState,
  said: KnownTask['said'] | undefined,
): boolean {
  const says = [title, description, startDate, endDate];
  if (said == null || says.every((text, i) => !text && !said[i])) return false; // says nothing that could differ
  return says.every((text, i) => !text || text !== said[i]);
}

/** A change with the state that is stored for it. */
export interface Happened {
  readonly task: TaskState;
  readonly hash: string;
  readonly event: TaskEvent;
  readonly version: number;
}

/** Inside a transaction: writes versions, and queues deliveries of the versions that were written. */
export async function keepChanges(
  db: Queryable,
  watching: Pick<Watching, 'run' | 'enqueue' | 'takeOrdinals'>,
  kind: TaskKind,
  changes: readonly Happened[],
  { isSilent }: { isSilent: boolean },
): Promise<void> {
  const { run, enqueue } = watching;
  if (changes.length === 0) return;
  if (run.dryRun) return isSilent ? undefined : keepRows(db, watching, changes);
  const kept = await keepVersions(db, run, kind, changes.map(toVersion));
  const told = isSilent ? [] : changes.filter(({ task }) => kept.has(task.id));
  if (told.length === 0) return;
  const { sync, scope, id: runId } = run;
  const seenAt = new Date();
  await keepRows(db, watching, told);
  await enqueue(
    db,
    told.map(({ task, event, version }): TaskChange => ({ sync, scope, runId, task, event, version, seenAt })),
  );
}

export function toVersion({ task, hash, version }: Omit<Happened, 'event'>): NewVersion {
  return { taskId: task.id, parentId: task.parentId, version, state: task, hash, isGone: task.isGone };
}

/** A row for each change: without a verdict until its deliveries are settled, or in a dry run with the expected one. */
async function keepRows(
  db: Queryable,
  { run, takeOrdinals }: Pick<Watching, 'run' | 'takeOrdinals'>,
  changes: readonly Happened[],
): Promise<void> {
  const first = takeOrdinals(changes.length);
  await addRows(
    db,
    run.id,
    changes.map(({ task, event }, i) => ({
      n: first + i,
      sourceId: sourceIdOf(task),
      label: task.title || sourceIdOf(task),
      fields: { event },
      ...(run.dryRun && { verdict: event === 'created' ? 'created' : 'updated', reason: 'PLANNED', facts: { event } }),
    })),
  );
}
