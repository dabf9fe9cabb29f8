import { expect, test, vi } from 'vitest';
import type { Target } from '../../../src/contract/target.ts';
import { openTodoist } from '../../../src/mirror/targets/todoist/todoist.ts';
import { context, deliveryOf, needsOf, SEEN_AT } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';
import { startTodoist, todoistSettings } from '../../support/todoist-standin.ts';
import { itemSuite } from './item-suite.ts';
import { manyItemsSuite } from './many-items-suite.ts';
import { VendorBed } from './vendor-bed.ts';

itemSuite('a task of Todoist', startTodoist);
manyItemsSuite('a task of Todoist', startTodoist);

const bed = new VendorBed(startTodoist, (needs) =>
  openTodoist(todoistSettings({ columns: { Shipped: 'completed' } }), needs),
);
const { deliver } = bed;

function putRecurring(): string {
  const itemId = bed.harness.put(false);
  const task = bed.harness.tasks.at(-1);
  if (task) task.due = { is_recurring: true, string: 'every monday', date: '2026-03-02' };
  return itemId;
}

test('a project that cannot be read has created nothing, so the next attempt creates the task at once', async () => {
  bed.harness.vendor.next({ status: 503, body: {} }, ({ path }) => path.includes('/projects/'));
  const failed = await deliver(false);
  expect(failed).toMatchObject({ status: 'later', reason: 'SERVER_ERROR' });
  expect(JSON.stringify(failed)).not.toContain('may have been created');
  expect(await deliver(false)).toMatchObject({ status: 'delivered' });
});

test('a completed task, which is not answered by its id, is found among those that were completed', async () => {
  for (let count = 0; count < 250; count++) bed.harness.put(true);
  const itemId = bed.harness.put(true);
  expect(await bed.target.readItem?.(itemId, context())).toMatchObject({
    status: 'found',
    item: { isCompleted: true },
  });
  expect(await deliver(false, itemId)).toMatchObject({ detail: `${itemId}: completed → open` });
});

test('a task is not found while the list of completed tasks is not shown, and found after that', async () => {
  const itemId = bed.harness.put(true);
  for (const status of [400, 401, 403, 404, 429]) {
    bed.harness.vendor.next({ status, body: {} }, ({ path }) => path.includes('/completed/'));
    expect(await deliver(false, itemId)).toMatchObject({ status: expect.stringMatching(/^(later|refused|disabled)$/) });
  }
  expect(await deliver(false, itemId)).toMatchObject({ status: 'delivered' });
});

test('the list of completed tasks is read once for many tasks, and then only its end', async () => {
  for (let count = 0; count < 250; count++) bed.harness.put(true);
  const lists = () => bed.harness.vendor.requests.filter(({ path }) => path.includes('/completed/'));
  const ids = bed.harness.tasks.map(({ id }) => id);
  await Promise.all(ids.slice(0, 4).map((id) => bed.target.readItem?.(id, context())));
  for (const id of ids.slice(4, 9))
    expect(await bed.target.readItem?.(id, context())).toMatchObject({ status: 'found' });
  expect(lists()).toHaveLength(2);
  const later = bed.harness.put(true);
  expect(await bed.target.readItem?.(later, context())).toMatchObject({ item: { isCompleted: true } });
  expect(lists().at(2)?.query.get('since')).toBe('2026-02-28T12:00:00Z');
});

test('a task that is completed while the list of completed tasks is read is found', async () => {
  const earlier = bed.harness.put(true);
  let later = '';
  let read: ReturnType<NonNullable<Target['readItem']>> | undefined;
  bed.harness.vendor.next(
    async () => {
      later = bed.harness.put(true);
      read = bed.target.readItem?.(later, context());
      await vi.waitFor(() => expect(bed.harness.vendor.requests.at(-1)?.path).toContain(later));
      return { body: { items: [], next_cursor: null } };
    },
    ({ path }) => path.includes('/completed/'),
  );
  await bed.target.readItem?.(earlier, context());
  expect(await read).toMatchObject({ status: 'found', item: { itemId: later, isCompleted: true } });
});

test.each([-1, 1])('a task that was just completed is found though this clock is off by %i hours', async (hours) => {
  const clock = { now: new Date(SEEN_AT.getTime() + hours * 3_600_000) };
  const own = openTodoist(todoistSettings(), { ...bed.needs, now: () => clock.now });
  const first = bed.harness.put(true);
  expect(await own.readItem?.(first, context())).toMatchObject({ status: 'found' });
  clock.now = SEEN_AT; // and when it is set right
  const second = bed.harness.put(true);
  expect(await own.readItem?.(second, context())).toMatchObject({ status: 'found' });
});

test('the search among completed tasks reaches back less than three months', async () => {
  await deliver(true, bed.harness.put(true));
  const { query } = bed.harness.vendor.requests.at(-1) ?? { query: new URLSearchParams() };
  expect([query.get('since'), query.get('until')]).toEqual(['2025-12-03T12:00:00Z', '2026-03-02T12:00:00Z']);
});

test('a task whose creation was not answered is found after a person has completed it', async () => {
  bed.harness.vendor.next('lose', bed.harness.isCreation);
  expect(await bed.target.deliver(deliveryOf(), context())).toMatchObject({ status: 'later' });
  const [task] = bed.harness.tasks;
  if (task) task.checked = true;
  expect(await bed.target.deliver(deliveryOf(), context())).toMatchObject({ status: 'delivered', itemId: task?.id });
  expect(bed.harness.vendor.requests.filter((request) => bed.harness.isCreation(request))).toHaveLength(1);
});

test('closing a recurring task moves it to its next date, and the outcome says so', async () => {
  const itemId = putRecurring();
  const outcome = await deliver(true, itemId);
  expect(outcome).toMatchObject({
    status: 'delivered',
    detail: expect.stringMatching('open on its next date.*every monday.*only moved it to its next date'),
  });
  expect(bed.harness.tasks[0]).toMatchObject({ moves: 1, checked: false });
});

test('a recurring task is moved once by one delivery, though its answer was lost, and again by the next completion', async () => {
  const itemId = putRecurring();
  bed.harness.vendor.next('lose', bed.harness.isWrite);
  expect(await deliver(true, itemId)).toMatchObject({ status: 'later' });
  expect(await deliver(true, itemId)).toMatchObject({ status: 'delivered' });
  expect(bed.harness.tasks[0]?.moves).toBe(1);
  await deliver(true, itemId, { id: 'msg_another' });
  expect(bed.harness.tasks[0]?.moves).toBe(2);
});

test('a recurring task is not moved by a change of the title of its completed task', async () => {
  const outcome = await deliver(true, putRecurring(), { event: 'changed' });
  expect(outcome).toMatchObject({ status: 'skipped', reason: 'RECURRING' });
  expect(bed.harness.tasks[0]?.moves).toBe(0);
});

test('a change that replaced a completion moves a recurring task, and not again if the completion was not answered', async () => {
  const itemId = putRecurring();
  bed.log.delivered = { id: 'msg_before', task: deliveryOf({ isCompleted: false }).task };
  bed.harness.vendor.next('lose', bed.harness.isWrite);
  expect(await deliver(true, itemId, { id: 'msg_completed', event: 'completed' })).toMatchObject({ status: 'later' });
  const changed = { id: 'msg_changed', event: 'changed' } as const;
  expect(await deliver(true, itemId, changed)).toMatchObject({
    status: 'delivered',
    detail: expect.stringContaining('moved it to its next date'),
  });
  expect(bed.harness.tasks[0]?.moves).toBe(1);
  const another = putRecurring();
  bed.log.delivered = { id: 'msg_another', task: deliveryOf({ isCompleted: false }).task };
  await deliver(true, another, changed);
  expect(bed.harness.tasks[1]?.moves).toBe(1);
});

test('a task that was reopened by hand is closed by a replay of the same delivery', async () => {
  const itemId = bed.harness.put(false);
  await deliver(true, itemId);
  if (bed.harness.tasks[0]) bed.harness.tasks[0].checked = false;
  await deliver(true, itemId);
  expect(bed.harness.isCompleted(itemId)).toBe(true);
});

test('a creation that Todoist has seen before is discarded, even where the search does not show the task', async () => {
  bed.harness.vendor.next('lose', bed.harness.isCreation);
  await deliver(false);
  bed.log.age(60_000);
  bed.harness.vendor.next({ body: { results: [], next_cursor: null } });
  expect(await deliver(false)).toMatchObject({ status: 'later', reason: 'UNREADABLE' });
  expect(await deliver(false)).toMatchObject({ status: 'already', itemId: bed.harness.tasks[0]?.id });
  expect(bed.harness.count()).toBe(1);
});

test('a created task has the words of the task as description that ends with its marker', async () => {
  await deliver(false);
  expect(bed.harness.tasks[0]).toMatchObject({
    content: 'Call the printer',
    description: expect.stringMatching(/^About the invoice\n\nlockstep-[\da-f]{12}$/),
  });
});

// src/utils/uncompletable-helpers.ts in Doist/todoist-api-typescript: such a task has no checkbox.
test('a title that begins with an asterisk and a space makes no task that cannot be completed', async () => {
  await bed.target.deliver(deliveryOf({ title: '* Call *Lee*' }), context());
  const [{ id = '', content } = {}] = bed.harness.tasks;
  expect(content).toBe('*\u200b Call *Lee*');
  const writing = openTodoist(todoistSettings({ onChange: ['title'] }), bed.needs);
  bed.log.delivered = deliveryOf({ title: 'Call' });
  await writing.deliver(deliveryOf({ title: '* Call Ann' }, { itemId: id }), context());
  await writing.close();
  expect(bed.harness.tasks[0]?.content).toBe('*\u200b Call Ann');
});

test('a description has at most 16,383 characters, with the marker at its end', async () => {
  await bed.target.deliver(deliveryOf({ description: 'x'.repeat(20_000) }), context());
  expect(bed.harness.tasks[0]?.description).toHaveLength(16_383);
  expect(bed.harness.tasks[0]?.description).toMatch(/x…\n\nlockstep-[\da-f]{12}$/);
});

test('a project that is full is refused with what to do, and not as a lack of permission', async () => {
  const body = {
    error: 'Maximum number of items per user project limit reached',
    error_tag: 'MAX_ITEMS_LIMIT_REACHED',
  };
  bed.harness.vendor.next({ status: 403, body }, bed.harness.isCreation);
  expect(await deliver(false)).toMatchObject(anOutcome('refused', 'PLACE_FULL', /limit reached.*300 active tasks/));
});

test('a comment that Todoist has seen before, and discards, is written', async () => {
  bed.harness.vendor.next({ status: 204 }, ({ method, path }) => method === 'POST' && path.endsWith('/comments'));
  const commenting = openTodoist(todoistSettings({ comment: '{{ title }}' }), bed.needs);
  const outcome = await commenting.deliver(deliveryOf({}, { itemId: bed.harness.put(false) }), context());
  await commenting.close();
  expect(outcome).toMatchObject({ status: 'delivered', detail: expect.stringContaining('comment') });
});

test.each([401, 403])('a token that is refused with HTTP %i disables the target', async (status) => {
  bed.harness.vendor.next({
    status,
    body: { error: 'Invalid token', error_tag: 'AUTH_INVALID_TOKEN', error_code: 401 },
  });
  expect(await deliver(true, bed.harness.put(false))).toMatchObject(
    anOutcome('disabled', 'TOKEN_REFUSED', /Invalid token.*check this target's token/),
  );
});

test('an id of digits alone, which Todoist no longer takes, is refused before anything is sent', async () => {
  expect(await deliver(true, '2995104339')).toMatchObject(
    anOutcome('refused', 'ITEM_ID_INVALID', 'letters and digits'),
  );
  expect(bed.harness.vendor.requests).toEqual([]);
});

test.each([
  [{ error: 'Too many requests', error_extra: { retry_after: 45 } }, {}, 45_000],
  [{ error: 'Too many requests' }, { 'retry-after': '8' }, 8_000],
  ['slow down', {}, 60_000],
])('a limit is told by %j and %j', async (body, headers, retryAfterMs) => {
  bed.harness.vendor.next({ status: 429, body, headers });
  const outcome = await deliver(true, bed.harness.put(false));
  expect(outcome).toMatchObject({ status: 'later', reason: 'LIMITED', isLimited: true, retryAfterMs });
  expect(bed.needs.budget.limits429).toEqual([retryAfterMs]);
});

test('what Todoist says of a refused write is in the dead letter', async () => {
  bed.harness.vendor.next({ status: 400, body: { error: 'Invalid argument value' } }, bed.harness.isWrite);
  const outcome = await deliver(true, bed.harness.put(false));
  expect(outcome).toMatchObject({ status: 'refused', detail: expect.stringContaining('Invalid argument value') });
});

test.each([
  ['a day', { date: '2026-03-02' }, '2026-03-02'],
  ['a time of the account', { date: '2026-03-02T23:30:00' }, '2026-03-02'],
  ['a time in a time zone', { date: '2026-03-02T01:30:00Z', timezone: 'America/New_York' }, '2026-03-01'],
  ['a time in an unknown time zone', { date: '2026-03-02T01:30:00Z', timezone: 'Mars/Base' }, '2026-03-02'],
])('a new task is due on the day that its owner sees: %s', async (_, due, dueDate) => {
  const shown = { id: '6X7rM8997g3RQmvh', content: 'Call', added_at: SEEN_AT.toISOString(), due };
  bed.harness.vendor.next({ body: { results: [shown], next_cursor: null } });
  const reading = openTodoist(todoistSettings({ createTasks: true }), needsOf(bed.harness.vendor));
  expect(await reading.newItems?.({ baseline: SEEN_AT, since: SEEN_AT }, context())).toMatchObject({
    items: [{ dueDate }],
  });
  await reading.close();
});
