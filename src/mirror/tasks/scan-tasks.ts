/** Scans the list of tasks of a sync, and stores what has changed in it. */
import { formatCount } from '../../base/counts.ts';
import { isJsonObject } from '../../client/call/dialect.ts';
import type { Json } from '../../client/call/json.ts';
import { RunFailed } from '../../engine/account/failure.ts';
import { listReader } from '../../engine/account/list-reader.ts';
import type { LookedUp } from '../../engine/account/look-up.ts';
import { addNote, recordProgress } from '../../engine/ledger/runs.ts';
import { missedAtLeast } from '../../engine/ledger/tasks/task-versions.ts';
import type { JobContext } from '../../engine/worker/job.ts';
import { FEW_TASKS, lookUpTasks, missingFrom } from './missing-tasks.ts';
import type { TasksOptions } from './options.ts';
import { taskStateOf } from './read-lists.ts';
import { type ListScanned, lookUpsFor, type ScannedTask, type Seen, scanTaskList } from './scan-list.ts';
import { taskHash, toTaskState } from './task-state.ts';
import { keepSeen, type Watching } from './watching.ts';

/**
 * What earlier scans have seen of the list: `in part` if none of them was complete. Then a task that is new to the
 * ledger may have been missed before, so only changes of known tasks are delivered.
 */
export type Baseline = 'none' | 'in part' | 'whole';

const SILENT = { none: true, 'in part': 'new', whole: false } as const;

export interface TasksScanned extends ListScanned {
  /** Whether the service was asked for a missing task by its id, and does not have it. */
  readonly isAbsent: (id: string) => boolean;
}

export async function scanTasks(
  context: JobContext<TasksOptions>,
  watching: Watching,
  { baseline }: { baseline: Baseline },
): Promise<TasksScanned> {
  const { pool, run, account, options } = context;
  const isSilent = options.backfill ? false : SILENT[baseline];
  const readPage = listReader(context, 'tasks');
  let lookedUp: ReadonlyMap<string, LookedUp> = new Map();
  let unsaid = 0;
  let said = 0;
  let unknown: string | undefined;

  const scanned = (record: Json, readAtMs: number): ScannedTask => {
    const { task, saysCompletion } = taskStateOf(toTaskState(record, account.dialect), 'task', record, account);
    if (saysCompletion) said++;
    else {
      unsaid++;
      unknown ??= flagLikeDone(record);
    }
    return { id: task.id, hash: taskHash(task), task, readAtMs };
  };
  const keep = (tasks: readonly ScannedTask[]) => {
    const readAtMs = tasks[0]?.readAtMs ?? performance.now();
    const states = tasks.map(({ task }) => task);
    return keepSeen(watching, 'task', states, { readAtMs, isSilent });
  };
  /** False if the service cannot read tasks by their ids. */
  const lookUp = async (ids: readonly string[], seen: Seen): Promise<boolean> => {
    const found = await lookUpTasks(context, ids, seen.witnesses);
    if (found === undefined) return false;
    lookedUp = found;
    for (const [id, answer] of found) {
      if (answer.status === 'not-found') continue;
      await keep([scanned(answer.record, answer.readAtMs)]);
      seen.add(id);
    }
    return true;
  };
  const list = await scanTaskList({
    firstPage: account.dialect.firstTaskPage,
    hasBaseline: baseline === 'whole',
    read: async (page, instead) => {
      const readAtMs = performance.now();
      const { records, beside } = await readPage({ query: instead ?? { [account.dialect.pageParam]: page } });
      const tasks = records.map((record) => scanned(record, readAtMs));
      if (said === 0 && unknown !== undefined) throw completionNotFound(account.name, unknown);
      return { records: tasks, beside };
    },
    keep: async (tasks, newInAll) => {
      await keep(tasks);
      if (newInAll > 0) await recordProgress(pool, run.id, { rowsSeen: newInAll });
    },
    missing: (seen) => missingFrom(pool, run, 'task', seen),
    lookUp,
  });
  await recordProgress(pool, run.id, { scan: list.proof });
  await addNote(pool, run.id, `the scan of tasks is ${list.proof}: ${list.reason}`);
  if (list.seen.size === 0 && list.missing.length > FEW_TASKS)
    await addNote(pool, run.id, emptyList(list.missing.length));
  if (unsaid > 0) await addNote(pool, run.id, 'some tasks have no completion flag, and count as open');
  const late = lookedUp.size === 0 ? await missedBefore(context, list) : [];
  if (late.length > 0) await lookUp(late, list.seen);
  return {
    ...list,
    missing: list.missing.filter((id) => !list.seen.has(id)),
    isAbsent: (id) => lookedUp.get(id)?.status === 'not-found',
  };
}

function emptyList(count: number): string {
  return `the list of tasks is empty, and ${formatCount(count)} tasks were in it before: none of them is treated as gone until the list shows a task again`;
}

const LIKE_DONE = /done|clos|complet|finish|resolv|check/i;

/** A member whose name and value make it look like a completion flag. */
function flagLikeDone(record: Json): string | undefined {
  if (!isJsonObject(record)) return undefined;
  return Object.keys(record).find((name) => LIKE_DONE.test(name) && typeof record[name] === 'boolean');
}

function completionNotFound(account: string, member: string): RunFailed {
  const setting = `accounts.${account}.dialect.members.tasks.isCompleted`;
  return new RunFailed(
    'SERVICE_UNREADABLE',
    `The tasks of account "${account}" have no completion flag under a name that Lockstep knows, but "${member}" looks like one. ` +
      `If it is one, set ${setting} to ${member}; if not, to isCompleted: then tasks without a flag count as open.`,
  );
}

/** If many tasks are missing, first the ones that were missing before: as many as a scan reads by id. */
async function missedBefore(
  { pool, run }: JobContext<TasksOptions>,
  { missing, pages }: ListScanned,
): Promise<readonly string[]> {
  const before = await missedAtLeast(pool, run, 'task', missing, 1);
  return before.slice(0, lookUpsFor(pages)).map(({ taskId }) => taskId);
}
