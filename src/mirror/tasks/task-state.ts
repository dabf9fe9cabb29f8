/**
 * The service's tasks and subtasks as targets receive them. Records are in the contract's names
 * (client/call/contract-record.ts). Pure.
 */
import { createHash } from 'node:crypto';
import { unescaped } from '../../base/texts.ts';
import { unreadIn } from '../../client/call/contract-record.ts';
import { type Dialect, flagOf, idOf, isJsonObject } from '../../client/call/dialect.ts';
import { type Json, type JsonObject, textOf } from '../../client/call/json.ts';
import { singular } from '../../contract/kinds.ts';
import type { TaskEvent, TaskState } from '../../contract/target.ts';
import type { KnownTask, TaskScope } from '../../engine/ledger/tasks/task-versions.ts';
import { stateWord } from '../targets/items/wanted-state.ts';
import type { TaskRead } from '../targets/service/service.ts';

const DONE_WORDS = new Set('completed, complete, done, closed, finished, resolved'.split(', '));
const OPEN_WORDS = new Set(
  `open, opened, reopened, incomplete, not completed, new, to do, todo, pending, started, not started, in progress, active,
  on hold`.split(/,\s+/),
);

export function toTaskState(record: Json, dialect: Dialect): TaskRead {
  return toState(record, { kind: 'tasks', id: idOf(record, 'tasks', dialect), title: 'taskName' }, dialect);
}

export function toSubtaskState(record: Json, taskId: string, dialect: Dialect): TaskRead {
  const id = idOf(record, 'subtasks', dialect);
  return toState(record, { kind: 'subtasks', id, title: 'item_name', parentId: taskId }, dialect);
}

/** Equal if targets would receive the same. */
export function taskHash(task: TaskState): string {
  const { title, description, status, isCompleted, startDate, endDate, parentId } = task;
  const told = [title, description, status, isCompleted, startDate ?? null, endDate ?? null, parentId ?? null];
  return createHash('sha256').update(JSON.stringify(told)).digest('base64url').slice(0, 22);
}

/** The common part of tasks, subtasks and cards; `title` is the field with the title. */
export function commonFields(
  record: JsonObject,
  title: string,
): Pick<TaskState, 'title' | 'description' | 'startDate' | 'endDate'> {
  return {
    title: unescaped(textOf(record[title])), // unlike the description, no HTML
    description: textOf(record.description),
    startDate: textOf(record.startDate) || undefined,
    endDate: textOf(record.endDate) || undefined,
  };
}

interface Reading {
  readonly kind: 'tasks' | 'subtasks';
  readonly id: string | undefined;
  readonly title: string;
  readonly parentId?: string;
}

function toState(record: Json, { kind, id, title, parentId }: Reading, dialect: Dialect): TaskRead {
  if (id === undefined || !isJsonObject(record)) return { status: 'no-id' };
  const completion = completionOf(record, kind, dialect);
  if (completion.status === 'unreadable') return completion;
  const isCompleted = completion.status === 'completed';
  const task: TaskState = {
    kind: singular(kind),
    id,
    ...commonFields(record, title),
    status: stateWord(isCompleted),
    isCompleted,
    isGone: false,
    parentId,
  };
  return { status: 'read', task, saysCompletion: completion.status !== 'unsaid' };
}

type Completion = { readonly status: 'completed' | 'open' | 'unsaid' } | Extract<TaskRead, { status: 'unreadable' }>;

/** The flag; without one, a word for its state; without either, whether it has a time of completion. */
function completionOf(record: JsonObject, kind: Reading['kind'], dialect: Dialect): Completion {
  const { isCompleted: value, status, completed_at: completedAt } = record;
  if (value !== undefined) {
    if (value === null || value === '') return { status: 'open' };
    const isCompleted = flagOf(value) ?? wordFlag(value);
    if (isCompleted === undefined) return { status: 'unreadable', value };
    return { status: stateWord(isCompleted) };
  }
  // Any other word is a stage on the way there.
  if (typeof status === 'string' && status.trim() !== '') return { status: stateWord(wordFlag(status) === true) };
  if (completedAt !== undefined) return { status: textOf(completedAt) === '' ? 'open' : 'completed' };
  const [unread] = ['isCompleted', 'status'].flatMap((field) => unreadIn(record, kind, field, dialect));
  return unread === undefined ? { status: 'unsaid' } : { status: 'unreadable', value: record[unread] ?? null };
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

export interface TaskChange extends TaskScope {
  /** Undefined: no run has seen it; a target has reported it. */
  readonly runId: string | undefined;
  readonly task: TaskState;
  readonly event: TaskEvent;
  /** Ascending per task. */
  readonly version: number;
  readonly seenAt: Date;
}

type KnownState = Pick<KnownTask, 'isCompleted' | 'isGone' | 'hash'>;

/**
 * Undefined if nothing has changed. Completing and reopening take precedence over other changes: the delivered state holds all
 * of them. A task that was gone and is back is reopened or, if it came back completed, created.
 */
export function eventOf(
  before: KnownState | undefined,
  now: Pick<TaskState, 'isCompleted'>,
  hash: string,
): TaskEvent | undefined {
  if (before === undefined) return now.isCompleted ? 'completed' : 'created';
  if (before.isGone) return now.isCompleted ? 'created' : 'reopened';
  if (now.isCompleted !== before.isCompleted) return now.isCompleted ? 'completed' : 'reopened';
  return hash === before.hash ? undefined : 'changed';
}
