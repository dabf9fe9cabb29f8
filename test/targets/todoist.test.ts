import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Delivery, Target } from '../../src/targets/target.ts';
import { openTodoist, todoistItemsIn } from '../../src/targets/todoist.ts';
import { context, deliveryOf, needsOf } from '../support/item-bed.ts';
import { startTodoist, type TodoistBed, todoistSettings } from '../support/todoist-standin.ts';
import { itemSuite } from './item-suite.ts';

itemSuite('a task of Todoist', startTodoist);

let bed: TodoistBed;
let target: Target;

beforeEach(async () => {
  bed = await startTodoist();
  target = openTodoist(todoistSettings({ columns: { Shipped: 'completed' } }), needsOf(bed.vendor));
});

afterEach(async () => {
  await target.close();
  await bed.vendor.close();
  expect(bed.vendor.complaints).toEqual([]);
});

const deliver = (isCompleted: boolean, itemId?: string, given: Partial<Delivery> = {}) =>
  target.deliver(deliveryOf({ isCompleted }, { itemId, ...given }), context());

function putRecurring(): string {
  const itemId = bed.put(false);
  const task = bed.tasks.at(-1);
  if (task) task.due = { is_recurring: true, string: 'every monday' };
  return itemId;
}

test('a completed task, which is not answered by its id, is found among those that were completed', async () => {
  for (let count = 0; count < 250; count++) bed.put(true);
  const itemId = bed.put(true);
  expect(await target.readItem?.(itemId, context())).toMatchObject({ status: 'found', item: { isCompleted: true } });
  expect(await deliver(false, itemId)).toMatchObject({ detail: `${itemId}: completed → open` });
});

test('the search among completed tasks reaches back less than three months', async () => {
  await deliver(true, bed.put(true));
  const { query } = bed.vendor.requests.at(-1) ?? { query: new URLSearchParams() };
  expect([query.get('since'), query.get('until')]).toEqual(['2025-12-02T12:00:00Z', '2026-03-01T12:00:00Z']);
});

test('closing a recurring task moves it to its next date, and the outcome says so', async () => {
  const itemId = putRecurring();
  const outcome = await deliver(true, itemId);
  expect(outcome).toMatchObject({
    status: 'delivered',
    detail: expect.stringMatching('next date.*every monday.*only moved it on'),
  });
  expect(bed.tasks[0]).toMatchObject({ moves: 1, checked: false });
});

test('a recurring task is moved once by one delivery, though its answer was lost, and again by the next completion', async () => {
  const itemId = putRecurring();
  bed.vendor.next('lose', bed.isWrite);
  expect(await deliver(true, itemId)).toMatchObject({ status: 'later' });
  expect(await deliver(true, itemId)).toMatchObject({ status: 'delivered' });
  expect(bed.tasks[0]?.moves).toBe(1);
  await deliver(true, itemId, { id: 'msg_another' });
  expect(bed.tasks[0]?.moves).toBe(2);
});

test('a recurring task is not moved by a change of the title of its completed task', async () => {
  const outcome = await deliver(true, putRecurring(), { event: 'changed' });
  expect(outcome).toMatchObject({ status: 'skipped', reason: 'RECURRING' });
  expect(bed.tasks[0]?.moves).toBe(0);
});

test('a task that was reopened by hand is closed by a replay of the same delivery', async () => {
  const itemId = bed.put(false);
  await deliver(true, itemId);
  if (bed.tasks[0]) bed.tasks[0].checked = false;
  await deliver(true, itemId);
  expect(bed.isCompleted(itemId)).toBe(true);
});

test('a creation that Todoist has seen before is discarded, even where the search does not show the task', async () => {
  bed.vendor.next('lose', bed.isCreation);
  await deliver(false);
  bed.vendor.next({ body: { results: [], next_cursor: null } });
  expect(await deliver(false)).toMatchObject({ status: 'later', reason: 'UNREADABLE' });
  expect(await deliver(false)).toMatchObject({ status: 'already', itemId: bed.tasks[0]?.id });
  expect(bed.count()).toBe(1);
});

test('a created task has the words of the task as description that ends with its marker', async () => {
  await deliver(false);
  expect(bed.tasks[0]).toMatchObject({
    content: 'Call the printer',
    description: expect.stringMatching(/^About the invoice\n\nlockstep-[\da-f]{12}$/),
  });
});

test.each([
  [{ error: 'Too many requests', error_extra: { retry_after: 45 } }, {}, 45_000],
  [{ error: 'Too many requests' }, { 'retry-after': '8' }, 8_000],
  ['slow down', {}, 60_000],
])('a limit is told by %j and %j', async (body, headers, retryAfterMs) => {
  bed.vendor.next({ status: 429, body, headers });
  const outcome = await deliver(true, bed.put(false));
  expect(outcome).toMatchObject({ status: 'later', reason: 'LIMITED', isLimited: true, retryAfterMs });
});

test('what Todoist says of a refused write is in the dead letter', async () => {
  bed.vendor.next({ status: 400, body: { error: 'Invalid argument value' } }, bed.isWrite);
  const outcome = await deliver(true, bed.put(false));
  expect(outcome).toMatchObject({ status: 'refused', detail: expect.stringContaining('Invalid argument value') });
});

test.each([
  ['https://app.todoist.com/app/task/call-the-printer-6X7rM8997g3RQmvh', ['6X7rM8997g3RQmvh']],
  ['https://app.todoist.com/app/task/6X7rM8997g3RQmvh.', ['6X7rM8997g3RQmvh']],
  ['https://todoist.com/showTask?id=2995104339', ['2995104339']],
  ['TODOIST: 6X7rM8997g3RQmvh todoist.com/app/task/x', ['6X7rM8997g3RQmvh']],
  ['https://todoist.example/app/task/6X7rM8997g3RQmvh', []],
])('the text %j names tasks', (text, expected) => {
  expect(todoistItemsIn(text)).toEqual(expected);
});
