/**
 * The service's tasks and subtasks as targets receive them. The contract shows the fields of requests and none of answers, so
 * names, flags and ids are searched for under each spelling that they may have. Pure.
 */
import { createHash } from 'node:crypto';
import { type Dialect, flagOf, idOf, isJsonObject } from '../../client/call/dialect.ts';
import { type Json, type JsonObject, textOf } from '../../client/call/json.ts';
import type { TaskState } from '../../contract/target.ts';
import type { TaskRead } from '../targets/service.ts';

const TASK_TITLES = ['taskName', 'task_name', 'title', 'name'];
const SUBTASK_TITLES = ['item_name', 'itemName', 'title', 'name', 'taskName'];
const DESCRIPTIONS = ['description', 'details', 'notes'];
const STARTS = ['startDate', 'start_date', 'startsAt', 'starts_at'];
const ENDS = ['endDate', 'end_date', 'dueDate', 'due_date', 'endsAt', 'ends_at'];
const FLAGS = ['isCompleted', 'is_completed', 'completed', 'isComplete', 'is_complete', 'isDone', 'is_done', 'done'];
const STATUSES = ['status', 'taskStatus', 'task_status', 'state'];
const DONE_WORDS = new Set('completed, complete, done, closed, finished, resolved'.split(', '));
const OPEN_WORDS = new Set(
  `open, opened, reopened, incomplete, not completed, new, to do, todo, pending, started, not started, in progress, active,
  on hold`.split(/,\s+/),
);

export function toTaskState(record: Json, dialect: Dialect): TaskRead {
  return toState('task', record, { id: idOf(record, 'tasks', dialect), titles: TASK_TITLES });
}

export function toSubtaskState(record: Json, taskId: string, dialect: Dialect): TaskRead {
  return toState('subtask', record, {
    id: idOf(record, 'subtasks', dialect),
    titles: SUBTASK_TITLES,
    parentId: taskId,
  });
}

/** Equal if targets would receive the same. */
export function taskHash(task: TaskState): string {
  const { title, description, status, isCompleted, startDate, endDate, parentId } = task;
  const told = [title, description, status, isCompleted, startDate ?? null, endDate ?? null, parentId ?? null];
  return createHash('sha256').update(JSON.stringify(told)).digest('base64url').slice(0, 22);
}

/** The common part of tasks, subtasks and cards. */
export function commonFields(
  record: JsonObject,
  titles: readonly string[],
): Pick<TaskState, 'title' | 'description' | 'startDate' | 'endDate'> {
  return {
    title: firstText(record, titles) ?? '',
    description: firstText(record, DESCRIPTIONS) ?? '',
    startDate: firstText(record, STARTS),
    endDate: firstText(record, ENDS),
  };
}

interface Reading {
  readonly id: string | undefined;
  readonly titles: readonly string[];
  readonly parentId?: string;
}

function toState(kind: 'task' | 'subtask', record: Json, { id, titles, parentId }: Reading): TaskRead {
  if (id === undefined || !isJsonObject(record)) return { status: 'no-id' };
  const completion = completionOf(record);
  if (completion.status === 'unreadable') return completion;
  const isCompleted = completion.status === 'completed';
  const task: TaskState = {
    kind,
    id,
    ...commonFields(record, titles),
    status: isCompleted ? 'completed' : 'open',
    isCompleted,
    isGone: false,
    parentId,
  };
  return { status: 'read', task, saysCompletion: completion.status !== 'unsaid' };
}

type Completion = { readonly status: 'completed' | 'open' | 'unsaid' } | Extract<TaskRead, { status: 'unreadable' }>;

/** The flag, under the contract's name or another; without one, a word for its state. */
function completionOf(record: JsonObject): Completion {
  const flag = FLAGS.find((name) => Object.hasOwn(record, name));
  if (flag !== undefined) {
    const value = record[flag] ?? null;
    if (value === null || value === '') return { status: 'open' };
    const isCompleted = flagOf(value) ?? wordFlag(value);
    if (isCompleted === undefined) return { status: 'unreadable', member: flag, value };
    return { status: isCompleted ? 'completed' : 'open' };
  }
  const status = firstUnder(record, STATUSES, (value) =>
    typeof value === 'string' && value.trim() !== '' ? value : undefined,
  );
  if (status === undefined) return { status: 'unsaid' };
  return { status: wordFlag(status) === true ? 'completed' : 'open' }; // any other word is a stage on the way there
}

function wordFlag(value: Json): boolean | undefined {
  if (typeof value !== 'string') return undefined;
  const word = value
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ');
  if (DONE_WORDS.has(word)) return true;
  return OPEN_WORDS.has(word) ? false : undefined;
}

export function firstText(record: JsonObject, names: readonly string[]): string | undefined {
  return firstUnder(record, names, (value) => textOf(value) || undefined);
}

/** The value of the first of these members that `read` can read. */
export function firstUnder<T>(
  record: JsonObject,
  names: readonly string[],
  read: (value: Json) => T | undefined,
): T | undefined {
  for (const name of names) {
    const found = Object.hasOwn(record, name) ? read(record[name] ?? null) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
