import { describe, expect, test } from 'vitest';
import { contractRecord } from '../../../src/client/call/contract-record.ts';
import { autoDialect } from '../../../src/client/call/dialect.ts';
import type { Json, JsonObject } from '../../../src/client/call/json.ts';
import * as states from '../../../src/mirror/tasks/task-state.ts';
import { eventOf } from '../../../src/mirror/tasks/task-state.ts';

const { taskHash, toSubtaskState } = states;
/** As a list gives it. */
const toTaskState = (record: Json) => states.toTaskState(contractRecord(record, 'tasks', autoDialect), autoDialect);

describe('a task as targets receive it', () => {
  test('has what the service says, dates as they are written', () => {
    const record = {
      id: 7,
      taskName: ' Call Lee &amp; Co ',
      description: '<p>now</p>',
      startDate: '2026-11-02T09:00:00',
      endDate: '',
      isCompleted: true,
      updated_at: 'x',
    };
    expect(toTaskState(record)).toEqual({
      status: 'read',
      saysCompletion: true,
      task: {
        kind: 'task',
        id: '7',
        title: 'Call Lee & Co',
        description: '<p>now</p>',
        status: 'completed',
        isCompleted: true,
        isGone: false,
        startDate: '2026-11-02T09:00:00',
        endDate: undefined,
        parentId: undefined,
      },
    });
  });

  test.each([
    [{ isCompleted: true }, true],
    [{ isCompleted: 0 }, false],
    [{ isCompleted: '1' }, true],
    [{ isCompleted: 'False' }, false],
    [{ is_completed: 'DONE' }, true],
    [{ completed: 'in_progress' }, false],
    [{ isCompleted: null }, false],
    [{ Completed: 'Y' }, true],
    [{ completed_at: null }, false],
    [{ completedAt: '2026-11-02T09:00:00Z' }, true],
    [{ status: 'Completed' }, true],
    [{ status: 'In review' }, false],
    [{ status: { id: 3, name: 'Done' } }, true],
    [{ state: { label: 'To do' } }, false],
    [{ isCompleted: false, status: 'completed' }, false],
  ])('%o is completed: %s', (fields, isCompleted) => {
    expect(toTaskState({ id: 1, ...fields })).toMatchObject({
      status: 'read',
      saysCompletion: true,
      task: { isCompleted, status: isCompleted ? 'completed' : 'open' },
    });
  });

  test.each(['perhaps', 7, ['x']])('isCompleted: %o is not guessed at', (value) => {
    expect(toTaskState({ id: 1, isCompleted: value })).toEqual({
      status: 'unreadable',
      value,
    });
  });

  test.each<[JsonObject, Json]>([
    [{ done: { checkbox: true } }, { checkbox: true }],
    [{ status: ['Done'] }, ['Done']],
    [{ state: { stage: 'Done' } }, { stage: 'Done' }],
  ])('%o is not guessed at, because it may be completed', (fields, value) => {
    expect(toTaskState({ id: 1, ...fields })).toEqual({ status: 'unreadable', value });
  });

  test('without a word about its completion counts as open, and says so', () => {
    expect(toTaskState({ id: 1 })).toMatchObject({ saysCompletion: false, task: { status: 'open' } });
  });

  test.each<Json>([{ taskId: '7' }, { task_id: 7 }, { _id: ' 7 ' }])('is known by %o', (fields) => {
    expect(toTaskState(fields)).toMatchObject({ task: { id: '7' } });
  });

  test.each<Json>([{}, { id: null }, { id: 1.5 }, 'seven', null])('%o has no id', (record) => {
    expect(toTaskState(record)).toEqual({ status: 'no-id' });
  });

  test('of a task is a subtask with its parent', () => {
    const read = toSubtaskState({ id: 3, item_name: 'Measure', isCompleted: 1 }, '7', autoDialect);
    expect(read).toMatchObject({ task: { kind: 'subtask', title: 'Measure', parentId: '7', isCompleted: true } });
  });

  test('is kept as Postgres can hold it', () => {
    expect(toTaskState({ id: 1, title: 'a\0b\ud83d' })).toMatchObject({ task: { title: 'ab\ufffd' } });
  });
});

describe('the content hash', () => {
  const hash = (record: Record<string, string | boolean | number>) => {
    const read = toTaskState({ id: 1, taskName: 'A', ...record });
    return read.status === 'read' ? taskHash(read.task) : '';
  };

  test('is the same for changes that targets do not receive', () => {
    expect(hash({ isCompleted: 1, updated_at: 'now' })).toBe(hash({ isCompleted: true, local_date: 'then' }));
  });

  test.each<Record<string, string | boolean>>([
    { taskName: 'B' },
    { description: 'x' },
    { isCompleted: true },
    { startDate: 'x' },
    { endDate: 'x' },
  ])('differs with %o', (changes) => expect(hash(changes)).not.toBe(hash({})));
});

test.each([
  [undefined, { isCompleted: false }, 'created'],
  [undefined, { isCompleted: true }, 'completed'],
  [{ isCompleted: false, isGone: false, hash: 'a' }, { isCompleted: true }, 'completed'],
  [{ isCompleted: true, isGone: false, hash: 'a' }, { isCompleted: false }, 'reopened'],
  [{ isCompleted: true, isGone: false, hash: 'a' }, { isCompleted: true }, 'changed'],
  [{ isCompleted: true, isGone: false, hash: 'b' }, { isCompleted: true }, undefined],
  [{ isCompleted: false, isGone: true, hash: 'b' }, { isCompleted: false }, 'reopened'],
  [{ isCompleted: true, isGone: true, hash: 'b' }, { isCompleted: true }, 'created'],
])('from %o to %o is %s', (before, now, event) => {
  expect(eventOf(before, now, 'b')).toBe(event);
});
