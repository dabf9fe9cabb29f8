/**
 * The service sends no change notifications, so this job finds the changes: it reads all tasks, and subtasks and cards if
 * the options ask for them, compares them with the last scan of the sync, and puts every change into the outbox.
 */
import { endRun } from '../src/engine/ledger/run-status.ts';
import { addNote, movePhase, type Run } from '../src/engine/ledger/runs.ts';
import { keepScannedLists, scannedLists } from '../src/engine/ledger/tasks/task-lists.ts';
import { type Exclusive, exclusively } from '../src/engine/worker/exclusive.ts';
import { defineJob, type JobContext, type JobResult } from '../src/engine/worker/job.ts';
import { tellNotes } from '../src/mirror/inbound/notes.ts';
import { readsItems } from '../src/mirror/inbound/read-back.ts';
import { queueDeliveries, recipientsOf } from '../src/mirror/outbox/outbox.ts';
import { keepMissing } from '../src/mirror/tasks/missing-tasks.ts';
import { type TasksOptions, tasksRunOptions } from '../src/mirror/tasks/options.ts';
import { type CardsScanned, scanPipelines } from '../src/mirror/tasks/pipelines.ts';
import { beginScan, countUnchanged } from '../src/mirror/tasks/scan-rows.ts';
import { type Baseline, scanTasks, type TasksScanned } from '../src/mirror/tasks/scan-tasks.ts';
import { scanSubtasks } from '../src/mirror/tasks/subtasks.ts';
import type { Watching } from '../src/mirror/tasks/watching.ts';
import type { Queryable } from '../src/storage/queryable.ts';
import type { Transactional } from '../src/storage/transaction.ts';

const TASKS = 'tasks';
/** An unproven scan has ended. It may have missed tasks, so it is no baseline. */
const TASKS_IN_PART = 'tasks in part';

const BASELINE_NOTES = {
  none: 'the first scan is the baseline: its tasks are not delivered (to deliver them, set options.backfill: true)',
  'in part':
    'no scan has been complete yet: new tasks belong to the baseline and are not delivered (to deliver them, set options.backfill: true)',
};

type Context = JobContext<TasksOptions>;

export const scanTasksJob = defineJob({
  name: 'scan-tasks',
  options: tasksRunOptions,
  waitsInPlace: true,
  run: (context) => exclusively(context, (exclusive) => scanAll(context, exclusive)),
});

async function scanAll(context: Context, exclusive: Exclusive): Promise<JobResult> {
  const { pool, run, options } = context;
  const recipients = recipientsOf(options.targets, context.targets.filterOf);
  const watching: Watching = {
    pool,
    run,
    exclusive,
    enqueue: (db, changes) => queueDeliveries(db, recipients, changes),
    takeOrdinals: await beginScan(exclusive, run.id),
    seen: new Set(),
  };
  const before = await scannedLists(pool, run);
  const baseline = baselineOf(before);
  const tasks = await scanTasks(context, watching, { baseline });
  if (baseline !== 'whole' && !options.backfill) await addNote(pool, run.id, BASELINE_NOTES[baseline]);
  if (options.subtasks) await scanSubtasks(context, watching, { isFirstScan: baseline === 'none' });
  const cards = await scanPipelines(context, watching, before);
  return exclusive.transaction((db) => continueRun(db, watching, options, tasks, cards));
}

function baselineOf(lists: ReadonlySet<string>): Baseline {
  if (lists.has(TASKS)) return 'whole';
  return lists.has(TASKS_IN_PART) ? 'in part' : 'none';
}

/** Missing tasks are counted in the transaction that ends the scan, so that a scan that starts again counts them once. */
async function continueRun(
  db: Transactional,
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

async function end(db: Transactional, run: Run): Promise<JobResult> {
  await tellNotes(db, run);
  await endRun(db, run.id, 'done');
  return { status: 'finished' };
}

async function goTo(db: Queryable, run: Run, job: 'read-items' | 'deliver-status'): Promise<JobResult> {
  await movePhase(db, run.id, 'scan-tasks', job);
  return { status: 'next', job };
}
