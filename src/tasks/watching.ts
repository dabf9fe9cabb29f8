/**
 * Keeps what a scan sees: tasks that differ from what is known get their next version, a row of the run and their place
 * in the outbox, in one transaction; the others are only counted.
 *
 * Versions are written batch by batch. A scan that breaks off has written true ones: the run begins to scan again, finds
 * those tasks unchanged, and has their rows and deliveries already.
 */
import type pg from 'pg';
import { addRows } from '../engine/ledger/inputs.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';
import {
  type KnownTask,
  keepVersions,
  knownTasks,
  type NewVersion,
  seenAgain,
  type TaskKind,
} from '../engine/ledger/task-versions.ts';
import type { TaskEvent, TaskState } from '../targets/target.ts';
import type { Exclusive } from '../worker/exclusive.ts';
import { waysOn } from '../worker/identity.ts';
import { RunPaused } from '../worker/trouble.ts';
import { eventOf } from './events.ts';
import type { TaskChange } from './task-change.ts';
import { hashOf } from './task-state.ts';

/** Hands changes to the outbox, in the transaction that writes their versions. */
export type Enqueue = (db: Queryable, changes: readonly TaskChange[]) => Promise<void>;

export interface Watching {
  readonly pool: pg.Pool;
  readonly run: Run;
  readonly exclusive: Exclusive;
  readonly enqueue: Enqueue;
  /** Gives the first of so many places among the run's rows. */
  readonly takePlaces: (count: number) => number;
  /** Subtasks and cards that were seen, as the run's rows call them. */
  readonly seen: Set<string>;
}

export interface SeenAt {
  /** When the read that showed them began, on the performance.now() scale: what was written since is newer than they are. */
  readonly readAtMs: number;
  /** Part of the baseline: kept, and no change; `new`: those are that were not known. */
  readonly isSilent: boolean | 'new';
}

/** What a row of the run is called. */
export function rowId({ kind, id }: Pick<TaskState, 'kind' | 'id'>): string {
  return `${kind}:${id}`;
}

/** Keeps what was seen of tasks of one kind. In a dry run only the rows are written that say what would be delivered. */
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
    const hash = hashOf(task);
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

/** So many of the known tasks of a page may become other ones between two scans. */
const FEW = 2;

/** @throws RunPaused IDENTITY_UNCLEAR where most known ids of a page belong to other tasks now, before anything is kept */
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
    `Of ${known.size} known tasks on a page of account "${account}", ${others.length} are other tasks than before: ` +
      `task ${task?.id} was "${known.get(task?.id ?? '')?.said?.[0] ?? ''}" and is "${task?.title}". It may be another tenant, or ` +
      `a service that was restored from a backup. Nothing was sent. ${waysOn(account)} Then go on with: lockstep runs resume ${id}`,
  );
}

function isAnother(
  { title, description, startDate, endDate }: TaskState,
  said: KnownTask['said'] | undefined,
): boolean {
  const says = [title, description, startDate, endDate];
  return said != null && says.every((text, i) => !text || text !== said[i]);
}

/** A change with what is kept of it. */
export interface Happened {
  readonly task: TaskState;
  readonly hash: string;
  readonly event: TaskEvent;
  readonly version: number;
}

/** Inside a transaction: writes versions, and tells of those that were written. */
export async function keepChanges(
  db: Queryable,
  watching: Pick<Watching, 'run' | 'enqueue' | 'takePlaces'>,
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

/** A row for each change: without a verdict until its deliveries are settled, or of a dry run with what it would be. */
async function keepRows(
  db: Queryable,
  { run, takePlaces }: Pick<Watching, 'run' | 'takePlaces'>,
  changes: readonly Happened[],
): Promise<void> {
  const first = takePlaces(changes.length);
  await addRows(
    db,
    run.id,
    changes.map(({ task, event }, i) => ({
      n: first + i,
      sourceId: rowId(task),
      label: task.title || rowId(task),
      fields: { event },
      ...(run.dryRun && { verdict: event === 'created' ? 'created' : 'updated', reason: 'PLANNED', facts: { event } }),
    })),
  );
}
