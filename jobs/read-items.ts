/**
 * Reads the items of outside systems back where the settings, or who started the run, ask for it: what has changed there
 * is reported and brought in, what has come away from its task is repaired. Portion by portion, each kept with how far
 * the run has come.
 */

import { addNote, movePhase, type Queryable, recordProgress } from '../src/engine/ledger/runs.ts';
import { LockstepError } from '../src/errors.ts';
import {
  type Counted,
  countItems,
  type PortionRead,
  progress,
  readPortion,
  targetsToRead,
  wordsOf,
} from '../src/reports/read-back.ts';
import { isAnyUnderWay } from '../src/reports/waiting.ts';
import { type TasksOptions, tasksOptions } from '../src/tasks/options.ts';
import { type Exclusive, exclusively } from '../src/worker/exclusive.ts';
import { defineJob, type JobContext, type JobResult } from '../src/worker/job.ts';

const LOOK_MS = 200;
/** The run waits so long for what it has reported to be brought in. */
const PATIENCE_MS = 10_000;

type Context = JobContext<TasksOptions>;

export const readItems = defineJob({
  name: 'read-items',
  summary: 'reads outside items back, reports what changed there, and repairs what has diverged',
  options: tasksOptions,
  waitsInPlace: true,
  run: (context) => exclusively(context, (exclusive) => readAll(context, exclusive)),
});

async function readAll(context: Context, exclusive: Exclusive): Promise<JobResult> {
  const { run, options, pool, signal } = context;
  const names = targetsToRead(options);
  const items: Record<string, Counted> = { ...progress.parse(run.checkpoint).items };
  const keep = (name: string) => async (db: Queryable, counted: Counted) => {
    items[name] = counted;
    await recordProgress(db, run.id, { checkpoint: { ...run.checkpoint, items } });
  };
  for (const name of names) {
    if (items[name]?.isOver) continue;
    const result = await readTarget(context, exclusive, name, items[name], keep(name));
    if (result?.status === 'limited') return { status: 'again', inMs: result.afterMs };
    if (signal.aborted) return { status: 'again', inMs: 0 };
  }
  if (await isAnyUnderWay(pool, names, PATIENCE_MS)) return { status: 'again', inMs: LOOK_MS };
  return exclusive.transaction(async (db) => {
    for (const name of names) {
      const counted = items[name];
      if (counted !== undefined && counted.wanted > 0)
        for (const words of wordsOf(name, counted)) await addNote(db, run.id, words);
    }
    await movePhase(db, run.id, 'read-items', 'deliver-status');
    return { status: 'next', job: 'deliver-status' };
  });
}

/** Until all of its items that have their turn are read, or it asks for a pause. */
async function readTarget(
  { run, options, pool, targets, signal }: Context,
  exclusive: Exclusive,
  name: string,
  before: Counted | undefined,
  keep: (db: Queryable, counted: Counted) => Promise<void>,
): Promise<PortionRead | undefined> {
  let counted = before ?? (await countItems(pool, run, name, options));
  if (counted.isOver) return undefined; // nothing is linked: such as where there is nothing to link with
  const target = await targets.open(name).catch((error: unknown) => {
    if (error instanceof LockstepError) return error;
    throw error;
  });
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
