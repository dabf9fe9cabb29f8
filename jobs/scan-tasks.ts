/**
 * The service tells of no changes, so this is where they come from: reads all tasks, and the subtasks and cards that are
 * wished for, compares them with what the sync has last seen, and hands every change to the outbox.
 */
import { queueDeliveries } from '../src/deliveries/outbox.ts';
import { addNote, endRun, movePhase, type Queryable, type Run } from '../src/engine/ledger/runs.ts';
import { keepScannedLists, scannedLists } from '../src/engine/ledger/task-lists.ts';
import { tellNotes } from '../src/reports/notes.ts';
import { readsItems } from '../src/reports/read-back.ts';
import { keepMissing } from '../src/tasks/missing.ts';
import { type TasksOptions, tasksOptions } from '../src/tasks/options.ts';
import { type CardsScanned, scanPipelines } from '../src/tasks/pipelines.ts';
import { beginScan, countUnchanged } from '../src/tasks/scan-rows.ts';
import { type Baseline, scanTasks, type TasksScanned } from '../src/tasks/scan-tasks.ts';
import { scanSubtasks } from '../src/tasks/subtasks.ts';
import type { Watching } from '../src/tasks/watching.ts';
import { type Exclusive, exclusively } from '../src/worker/exclusive.ts';
import { defineJob, type JobContext, type JobResult } from '../src/worker/job.ts';

const TASKS = 'tasks';
/** An unproven scan has ended: what it has not seen may have been there, so that it is no baseline. */
const TASKS_IN_PART = 'tasks in part';

const BASELINE_NOTES = {
  none: 'the first scan is the baseline: nothing of it is delivered (options.backfill: true does)',
  'in part':
    'no scan has been complete yet: tasks that are new to it belong to the baseline and are not delivered (options.backfill: true does)',
};

type Context = JobContext<TasksOptions>;

export const scanTasksJob = defineJob({
  name: 'scan-tasks',
  summary: 'reads tasks, and queues what has changed for each target',
  options: tasksOptions,
  waitsInPlace: true,
  run: (context) => exclusively(context, (exclusive) => scanAll(context, exclusive)),
});

async function scanAll(context: Context, exclusive: Exclusive): Promise<JobResult> {
  const { pool, run, options } = context;
  const watching: Watching = {
    pool,
    run,
    exclusive,
    enqueue: (db, changes) => queueDeliveries(db, options.targets, changes),
    takePlaces: await beginScan(exclusive, run.id),
    seen: new Set(),
  };
  const before = await scannedLists(pool, run);
  const baseline = baselineOf(before);
  const tasks = await scanTasks(context, watching, { baseline });
  if (baseline !== 'whole' && !options.backfill) await addNote(pool, run.id, BASELINE_NOTES[baseline]);
  if (options.subtasks) await scanSubtasks(context, watching, { isFirstScan: baseline === 'none' });
  const cards = await scanPipelines(context, watching, before);
  return exclusive.transaction((db) => goOn(db, watching, options, tasks, cards));
}

function baselineOf(lists: ReadonlySet<string>): Baseline {
  if (lists.has(TASKS)) return 'whole';
  return lists.has(TASKS_IN_PART) ? 'in part' : 'none';
}

/** What is missing is counted with the end of the scan, so that a scan that begins again counts it once. */
async function goOn(
  db: Queryable,
  watching: Watching,
  options: TasksOptions,
  tasks: TasksScanned,
  { lists, missing }: CardsScanned,
): Promise<JobResult> {
  const { run } = watching;
  await keepMissing(db, watching, 'task', tasks.missing, tasks.isAbsent);
  await keepMissing(db, watching, 'card', missing, () => true);
  if (!run.dryRun) await keepScannedLists(db, run, [tasks.proof === 'unproven' ? TASKS_IN_PART : TASKS, ...lists]);
  const { changed } = await countUnchanged(db, watching, tasks.seen);
  if (run.dryRun) return end(db, run);
  if (readsItems(options)) return goTo(db, run, 'read-items');
  return changed === 0 ? end(db, run) : goTo(db, run, 'deliver-status');
}

async function end(db: Queryable, run: Run): Promise<JobResult> {
  await tellNotes(db, run);
  await endRun(db, run.id, 'done');
  return { status: 'finished' };
}

async function goTo(db: Queryable, run: Run, job: 'read-items' | 'deliver-status'): Promise<JobResult> {
  await movePhase(db, run.id, 'scan-tasks', job);
  return { status: 'next', job };
}
