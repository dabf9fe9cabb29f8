/**
 * Subtasks cost a call per task, so a scan reads only the subtasks of changed tasks and of a rotating share of the others. Each
 * answer is whole: a subtask is gone if two answers in a row do not hold it.
 */
import { plural } from '../../base/counts.ts';
import { readAhead } from '../../base/read-ahead.ts';
import { toWireId } from '../../client/call/dialect.ts';
import type { TaskState } from '../../contract/target.ts';
import type { RunFailed } from '../../engine/account/failure.ts';
import { type ListReader, listReader } from '../../engine/account/list-reader.ts';
import { addNote, recordProgress } from '../../engine/ledger/runs.ts';
import { noteAsked, type ParentTask, parentsToAsk } from '../../engine/ledger/tasks/task-lists.ts';
import { childrenOf } from '../../engine/ledger/tasks/task-versions.ts';
import type { JobContext } from '../../engine/worker/job.ts';
import { sourceIdOf } from '../links/item-links.ts';
import { keepMissing } from './missing-tasks.ts';
import type { TasksOptions } from './options.ts';
import { orRefused, readWhole, taskStateOf } from './read-lists.ts';
import { toSubtaskState } from './task-state.ts';
import { keepSeen, type Watching } from './watching.ts';

/** Calls in flight at most; the first ones are made one by one, because the service may refuse all. */
const MOST_AT_ONCE = 16;
/** After this many refusals without an answer between them, the service counts as one without subtasks. */
const REFUSALS = 5;

export async function scanSubtasks(
  context: JobContext<TasksOptions>,
  watching: Watching,
  { isFirstScan }: { isFirstScan: boolean },
): Promise<void> {
  const { pool, run, options } = context;
  const share = options.subtasksShare;
  const parents = await parentsToAsk(pool, run, { runId: run.id, isFirstScan, share });
  const readList = listReader(context, 'subtasks');
  let asked = 0;
  let answered = 0;
  let refused = 0;
  let refusal: RunFailed | undefined;
  const read = async (parent: ParentTask) => {
    asked++;
    // A task that is refused was most likely deleted after the scan saw it.
    return { parent, answer: await orRefused(() => subtasksOf(context, readList, parent)) };
  };
  for await (const { parent, answer } of readAhead(parents, read, () => Math.min(MOST_AT_ONCE, answered + 1))) {
    if (answer.status === 'read') {
      answered++;
      refused = 0;
      await keepSubtasks(watching, parent, answer, { isSilent: isBaseline(parent, options) });
    } else {
      refusal = answer.why;
      if (++refused === REFUSALS) break;
    }
  }
  if (asked > 0) await addNote(pool, run.id, `read the subtasks of ${plural(asked, 'task')}`);
  if (refusal !== undefined) await addNote(pool, run.id, `not all subtasks could be read: ${refusal.message}`);
}

/** The first read subtasks of a task count as being as old as the task. */
function isBaseline({ wasAsked, isNew }: ParentTask, { backfill }: TasksOptions): boolean {
  return !wasAsked && !isNew && !backfill;
}

interface Answer {
  readonly status: 'read';
  readonly subtasks: readonly TaskState[];
  readonly isWhole: boolean;
  readonly readAtMs: number;
}

async function subtasksOf(
  context: JobContext<TasksOptions>,
  readList: ListReader,
  { taskId }: ParentTask,
): Promise<Answer> {
  const { account } = context;
  const readAtMs = performance.now();
  const asked = { path: { task_id: toWireId(taskId) } };
  const { records, isWhole } = await readWhole(context, 'subtasks', readList, asked);
  const subtasks = records.map(
    (record) => taskStateOf(toSubtaskState(record, taskId, account.dialect), 'subtask', record, account).task,
  );
  return { status: 'read', subtasks, isWhole, readAtMs };
}

async function keepSubtasks(
  watching: Watching,
  { taskId }: ParentTask,
  { subtasks, isWhole, readAtMs }: Answer,
  { isSilent }: { isSilent: boolean },
): Promise<void> {
  const { pool, run, exclusive, seen } = watching;
  const ids = new Set(subtasks.map(({ id }) => id));
  for (const subtask of subtasks) seen.add(sourceIdOf(subtask));
  const known = await childrenOf(pool, run, [taskId]);
  const missing = isWhole ? known.map((child) => child.taskId).filter((id) => !ids.has(id)) : [];
  await keepSeen(watching, 'subtask', subtasks, { readAtMs, isSilent });
  await exclusive.transaction(async (db) => {
    // In the same transaction as `noteAsked`, so that one answer is never counted twice.
    await keepMissing(db, watching, 'subtask', missing, () => true);
    if (!run.dryRun) await noteAsked(db, run, taskId);
    if (subtasks.length > 0) await recordProgress(db, run.id, { rowsSeen: subtasks.length });
  });
}
