import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Delivery, Target } from '../../../src/contract/target.ts';
import { TODOIST } from '../../../src/mirror/targets/item-naming.ts';
import { openTodoist } from '../../../src/mirror/targets/todoist.ts';
import { context, deliveryOf, needsOf } from '../../support/item-vendor.ts';
import { startTodoist, type TodoistVendor, todoistSettings } from '../../support/todoist-standin.ts';
import { itemSuite } from './item-suite.ts';

itemSuite('a task of Todoist', startTodoist);

let harness: TodoistVendor;
let target: Target;

beforeEach(async () => {
  harness = await startTodoist();
  target = openTodoist(todoistSettings({ columns: { Shipped: 'completed' } }), needsOf(harness.vendor));
});

afterEach(async () => {
  await target.close();
  await harness.vendor.close();
  expect(harness.vendor.complaints).toEqual([]);
});

const deliver = (isCompleted: boolean, itemId?: string, given: Partial<Delivery> = {}) =>
  target.deliver(deliveryOf({ isCompleted }, { itemId, ...given }), context());

function putRecurring(): string {
  const itemId = harness.put(false);
  const task = harness.tasks.at(-1);
  if (task) task.due = { is_recurring: true, string: 'every monday' };
  return itemId;
}

test('a completed task, which is not answered by its id, is found among those that were completed', async () => {
  for (let count = 0; count < 250; count++) harness.put(true);
  const itemId = harness.put(true);
  expect(await target.readItem?.(itemId, context())).toMatchObject({ status: 'found', item: { isCompleted: true } });
  expect(await deliver(false, itemId)).toMatchObject({ detail: `${itemId}: completed → open` });
});

test('the search among completed tasks reaches back less than three months', async () => {
  await deliver(true, harness.put(true));
  const { query } = harness.vendor.requests.at(-1) ?? { query: new URLSearchParams() };
  expect([query.get('since'), query.get('until')]).toEqual(['2025-12-02T12:00:00Z', '2026-03-01T12:00:00Z']);
});

test('closing a recurring task moves it to its next date, and the outcome says so', async () => {
  const itemId = putRecurring();
  const outcome = await deliver(true, itemId);
  expect(outcome).toMatchObject({
    status: 'delivered',
    detail: expect.stringMatching('open on its next date.*every monday.*only moved it to its next date'),
  });
  expect(harness.tasks[0]).toMatchObject({ moves: 1, checked: false });
});

test('a recurring task is moved once by one delivery, though its answer was lost, and again by the next completion', async () => {
  const itemId = putRecurring();
  harness.vendor.next('lose', harness.isWrite);
  expect(await deliver(true, itemId)).toMatchObject({ status: 'later' });
  expect(await deliver(true, itemId)).toMatchObject({ status: 'delivered' });
  expect(harness.tasks[0]?.moves).toBe(1);
  await deliver(true, itemId, { id: 'msg_another' });
  expect(harness.tasks[0]?.moves).toBe(2);
});

test('a recurring task is not moved by a change of the title of its completed task', async () => {
  const outcome = await deliver(true, putRecurring(), { event: 'changed' });
  expect(outcome).toMatchObject({ status: 'skipped', reason: 'RECURRING' });
  expect(harness.tasks[0]?.moves).toBe(0);
});

test('a task that was reopened by hand is closed by a replay of the same delivery', async () => {
  const itemId = harness.put(false);
  await deliver(true, itemId);
  if (harness.tasks[0]) harness.tasks[0].checked = false;
  await deliver(true, itemId);
  expect(harness.isCompleted(itemId)).toBe(true);
});

test('a creation that Todoist has seen before is discarded, even where the search does not show the task', async () => {
  harness.vendor.next('lose', harness.isCreation);
  await deliver(false);
  harness.vendor.next({ body: { results: [], next_cursor: null } });
  expect(await deliver(false)).toMatchObject({ status: 'later', reason: 'UNREADABLE' });
  expect(await deliver(false)).toMatchObject({ status: 'already', itemId: harness.tasks[0]?.id });
  expect(harness.count()).toBe(1);
});

test('a created task has the words of the task as description that ends with its marker', async () => {
  await deliver(false);
  expect(harness.tasks[0]).toMatchObject({
    content: 'Call the printer',
    description: expect.stringMatching(/^About the invoice\n\nlockstep-[\da-f]{12}$/),
  });
});

test.each([
  [{ error: 'Too many requests', error_extra: { retry_after: 45 } }, {}, 45_000],
  [{ error: 'Too many requests' }, { 'retry-after': '8' }, 8_000],
  ['slow down', {}, 60_000],
])('a limit is told by %j and %j', async (body, headers, retryAfterMs) => {
  harness.vendor.next({ status: 429, body, headers });
  const outcome = await deliver(true, harness.put(false));
  expect(outcome).toMatchObject({ status: 'later', reason: 'LIMITED', isLimited: true, retryAfterMs });
});

test('what Todoist says of a refused write is in the dead letter', async () => {
  harness.vendor.next({ status: 400, body: { error: 'Invalid argument value' } }, harness.isWrite);
  const outcome = await deliver(true, harness.put(false));
  expect(outcome).toMatchObject({ status: 'refused', detail: expect.stringContaining('Invalid argument value') });
});

test.each([
  ['https://app.todoist.com/app/task/call-the-printer-6X7rM8997g3RQmvh', ['6X7rM8997g3RQmvh']],
  ['https://app.todoist.com/app/task/6X7rM8997g3RQmvh.', ['6X7rM8997g3RQmvh']],
  ['https://todoist.com/showTask?id=2995104339', ['2995104339']],
  ['TODOIST: 6X7rM8997g3RQmvh todoist.com/app/task/x', ['6X7rM8997g3RQmvh']],
  ['https://todoist.example/app/task/6X7rM8997g3RQmvh', []],
])('the text %j names tasks', (text, expected) => {
  expect(TODOIST.itemsIn(text)).toEqual(expected);
});
