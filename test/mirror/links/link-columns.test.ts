import { expect, test } from 'vitest';
import { type LinkField, mapLinkColumns } from '../../../src/mirror/links/link-columns.ts';
import { parseSource } from '../../../src/mirror/links/read-links.ts';

function mapped(names: readonly string[], told: readonly (readonly [LinkField, string])[] = [], isGiven = true) {
  const { task_id: task, item_id: item } = mapLinkColumns({ names, isGiven, line: 1 }, new Map(told));
  return [task.index, item.index];
}

test.each([
  [
    ['task_id', 'item_id'],
    [0, 1],
  ],
  [
    ['Issue Key', 'Title', 'Task ID'],
    [2, 0],
  ],
  [
    ['taskId', 'URL'],
    [0, 1],
  ],
  [
    ['id', 'key'],
    [0, 1],
  ],
  [
    ['id', 'task'],
    [1, 0],
  ],
  [
    ['id', 'task_id', 'issue'],
    [1, 2],
  ],
  [
    ['Aufgabe', 'Vorgang'],
    [0, 1],
  ],
  [
    ['task', 'task_id', 'url', 'item id'],
    [1, 3],
  ],
  [
    ['__proto__', 'task', 'constructor', 'issue'],
    [1, 3],
  ],
])('of %j the columns are %j', (names, expected) => {
  expect(mapped(names)).toEqual(expected);
});

test('--map goes before the names, by header or by number', () => {
  expect(mapped(['task', 'issue', 'url'], [['item_id', 'url']])).toEqual([0, 2]);
  expect(
    mapped(
      ['column_1', 'column_2'],
      [
        ['task_id', '2'],
        ['item_id', '1'],
      ],
      false,
    ),
  ).toEqual([1, 0]);
});

test.each([
  ['two that could be it', ['task', 'issue', 'url'], [], /"issue", "url" all look like item_id.*--map item_id=issue/],
  [
    'none',
    ['a', 'b'],
    [],
    /its task \(task_id\) and its item \(item_id\).*none of the columns "a", "b".*--map task_id=/,
  ],
  ['no item', ['task', 'b'], [], /its item \(item_id\), but none of.*--map item_id=/],
  ['two of one name', ['task', 'task'], [], /columns 1 and 2 are both called "task"/],
  [
    'a name that is not there',
    ['task', 'issue'],
    [['item_id', 'Ticket']],
    /--map item_id=Ticket: the file has no such/,
  ],
  ['one column for both', ['task', 'b'], [['item_id', 'task']], /its task \(task_id\)/],
] as const)('%s is refused with the remedy', (_what, names, told, message) => {
  expect(() => mapped(names, told)).toThrow(message);
});

test('refuses a file without a header with both remedies', () => {
  expect(() => mapped(['column_1', 'column_2'], [], false)).toThrow(/no header\. Add a first line .*--map task_id=1/);
});

test.each([
  ['12', 'task:12'],
  ['task:12', 'task:12'],
  ['Subtask:12', 'subtask:12'],
  ['card:7', 'card:7'],
  ['00012', 'task:00012'],
  ['orders:7', undefined],
  ['task:', undefined],
  ['1 2', undefined],
  ['12\u200b', undefined],
])('%j is the task %j', (text, expected) => {
  expect(parseSource(text)).toBe(expected);
});
