/**
 * Reads items of outside systems back if the settings or the caller ask for it: reports and applies changes made there,
 * and repairs drifted items. It works in portions and saves a checkpoint with each.
 */
import { LockstepError } from '../src/base/errors.ts';
import { addNote, movePhase, recordProgress } from '../src/engine/ledger/runs.ts';
import { type Exclusive, exclusively } from '../src/engine/worker/exclusive.ts';
import { defineJob, type JobContext, type JobResult } from '../src/engine/worker/job.ts';
import {
  type Counted,
  countItems,
  type PortionRead,
  readBackNotes,
  readCheckpoint,
  readPortion,
  targetsToRead,
} from '../src/mirror/inbound/read-back.ts';
import { isAnyUnderWay } from '../src/mirror/inbound/waiting-reports.ts';
import { creationLog } from '../src/mirror/outbox/creations.ts';
import { createFromNewItems } from '../src/mirror/tasks/new-items.ts';
import { type TasksOptions, tasksRunOptions } from '../src/mirror/tasks/options.ts';
import type { Queryable } from '../src/storage/queryable.ts';

const LOOK_MS = 200;

type Context = JobContext<TasksOptions>;

export const readItems = defineJob({
  name: 'read-items',
  options: tasksRunOptions,
  waitsInPlace: true,
  run: (context) => exclusively(context, (exclusive) => readAll(context, exclusive)),
});

async function readAll(context: Context, exclusive: Exclusive): Promise<JobResult> {
  const { run, options, pool, signal } = context;
  const names = targetsToRead(options);
  const items: Record<string, Counted> = { ...readCheckpoint.parse(run.checkpoint).items };
  const keep = (name: string) => async (db: Queryable, counted: Counted) => {
    items[name] = counted;
    await recordProgress(db, run.id, { checkpoint: { job: 'tasks', items } });
  };
  let pauseMs: number | undefined;
  for (const name of names) {
    if (items[name]?.isOver) continue;
    const result = await readTarget(context, exclusive, name, items[name], keep(name));
    if (result?.status === 'limited') pauseMs = Math.min(pauseMs ?? result.afterMs, result.afterMs);
    if (signal.aborted) return { status: 'again', inMs: 0 };
  }
  if (pauseMs !== undefined) return { status: 'again', inMs: pauseMs };
  if (await isAnyUnderWay(pool, run.id, names)) return { status: 'again', inMs: LOOK_MS };
  await createTasks(context);
  if (signal.aborted) return { status: 'again', inMs: 0 };
  return exclusive.transaction(async (db) => {
    for (const name of names) {
      const counted = items[name];
      if (counted !== undefined && counted.wanted > 0)
        for (const words of readBackNotes(name, counted, options)) await addNote(db, run.id, words);
    }
    await movePhase(db, run.id, 'read-items', 'deliver-status');
    return { status: 'next', job: 'deliver-status' };
  });
}

/** From items that people have created at the targets that this sync polls. */
async function createTasks({ pool, run, account, options, targets, signal }: Context): Promise<void> {
  for (const name of options.poll) {
    const target = await opened(targets, name);
    if (target instanceof LockstepError) continue; // reading its items has reported it
    try {
      const log = creationLog(pool, name);
      await createFromNewItems({ pool, run, account, name, target, log, signal });
    } finally {
      await target.close();
    }
  }
}

type Opened = Awaited<ReturnType<Context['targets']['open']>> | LockstepError;

function opened(targets: Context['targets'], name: string): Promise<Opened> {
  return targets.open(name).catch((error: unknown) => {
    if (error instanceof LockstepError) return error;
    throw error;
  });
}

/** Reads the items that are due, until all are read or the target asks for a pause. */
async function readTarget(
  { run, options, pool, targets, signal }: Context,
  exclusive: Exclusive,
  name: string,
  before: Counted | undefined,
  keep: (db: Queryable, counted: Counted) => Promise<void>,
): Promise<PortionRead | undefined> {
  let counted = before ?? (await countItems(pool, run, name, options));
  if (counted.isOver) return undefined; // no item is linked
  const target = await opened(targets, name);
  if (target instanceof LockstepError) {
    const stopped = target.message;
    return void (await exclusive.transaction((db) => keep(db, { ...counted, stopped, isOver: true })));
  }
  try {
    while (!counted.isOver && !signal.aborted) {
      const read = await readPortion({ pool, run, options, exclusive, name, target, signal }, counted, keep);
      if (read.status === 'limited') return read;
      counted = read.counted;
    }
    return undefined;
  } finally {
    await target.close();
  }
}
