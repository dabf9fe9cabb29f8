import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Target } from '../../../src/contract/target.ts';
import { openAsana } from '../../../src/mirror/targets/asana/asana.ts';
import { type AsanaVendor, asanaSettings, startAsana } from '../../support/asana-standin.ts';
import { context, deliveryOf, needsOf } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';
import { detailSuite } from './detail-suite.ts';
import { itemSuite } from './item-suite.ts';
import { manyItemsSuite, readMany } from './many-items-suite.ts';

itemSuite('a task of Asana', startAsana);
manyItemsSuite('a task of Asana', startAsana);
detailSuite('a task of Asana', startAsana, ({ tasks }) => ({
  fields: ['title', 'description', 'dueDate', 'labels', 'assignee', 'custom'],
  label: (name) => `tag-${name}`,
  small: 'option-Small',
  cancelled: () => tasks[0]?.completed,
  closed: true,
  sortsChanges: false,
  failure: { errors: [{ message: 'It failed.' }] },
}));

let harness: AsanaVendor;
let target: Target;

beforeEach(async () => {
  harness = await startAsana();
  target = openAsana(asanaSettings({ columns: { Shipped: 'completed' } }), needsOf(harness.vendor));
});

afterEach(async () => {
  await target.close();
  await harness.vendor.close();
  expect(harness.vendor.complaints).toEqual([]);
});

test('a task is completed by a body wrapped in data, and nothing else of it is touched', async () => {
  const itemId = harness.put(false);
  await target.deliver(deliveryOf({ isCompleted: true }, { itemId }), context());
  expect(harness.vendor.requests.map(({ method, body }) => `${method} ${body}`)).toEqual([
    'GET ',
    'PUT {"data":{"completed":true}}',
  ]);
});

test('an answer that shows the old state, or none, is no success', async () => {
  const itemId = harness.put(false);
  harness.vendor.next({ body: { data: { gid: itemId, completed: false } } }, harness.isWrite);
  const outcome = await target.deliver(deliveryOf({ isCompleted: true }, { itemId }), context());
  expect(outcome).toMatchObject({ status: 'refused', reason: 'STATE_KEPT' });
  harness.vendor.next({ status: 202 }, harness.isWrite);
  const empty = await target.deliver(deliveryOf({ isCompleted: true }, { itemId }), context());
  expect(empty).toMatchObject({ status: 'later', reason: 'UNREADABLE' });
});

test('a created task has the words of the task as notes that end with its marker', async () => {
  await target.deliver(deliveryOf(), context());
  expect(harness.tasks[0]).toMatchObject({
    name: 'Call the printer',
    notes: expect.stringMatching(/^About the invoice\n\nlockstep-[\da-f]{12}$/),
  });
});

test('a task of ours is found on a later page, among those that changed within 30 days', async () => {
  for (let count = 0; count < 120; count++) harness.put(false);
  await target.deliver(deliveryOf(), context());
  const again = openAsana(asanaSettings(), needsOf(harness.vendor));
  expect(await again.deliver(deliveryOf(), context())).toMatchObject({
    status: 'already',
    itemId: harness.tasks[120]?.gid,
  });
  await again.close();
  expect(harness.vendor.requests.at(-1)?.query.get('modified_since')).toBe('2026-01-30T12:00:00Z');
});

test('a search whose place in the list has expired begins again', async () => {
  for (let count = 0; count < 120; count++) harness.put(false);
  const message = 'offset: Your pagination token has expired.';
  harness.vendor.next({ status: 400, body: { errors: [{ message }] } }, ({ query }) => query.has('offset'));
  expect(await target.deliver(deliveryOf(), context())).toMatchObject({ status: 'delivered' });
  const searches = harness.vendor.requests.filter(({ method, path }) => method === 'GET' && path === '/tasks');
  expect(searches.map(({ query }) => query.get('offset'))).toEqual([null, '100', null, '100']);
});

test('items are read from the beginning of the list again if its place has expired, and not one by one', async () => {
  const ids = Array.from({ length: 120 }, () => harness.put(true));
  const message = 'offset: Your pagination token has expired.';
  harness.vendor.next({ status: 400, body: { errors: [{ message }] } }, ({ query }) => query.has('offset'));
  expect(await readMany(target, ids)).toHaveLength(120);
  expect(harness.vendor.requests.map(({ query }) => query.get('offset'))).toEqual([null, '100', null, '100']);
});

test('a project too large to be looked through is refused before anything could be created twice', async () => {
  for (let count = 0; count <= 2000; count++) harness.put(false);
  expect(await target.deliver(deliveryOf(), context())).toMatchObject({ status: 'refused', reason: 'TOO_MANY_ITEMS' });
  expect(harness.count()).toBe(2001);
});

test('what Asana says of a refused write is in the dead letter', async () => {
  harness.vendor.next({ status: 400, body: { errors: [{ message: 'completed: Blocked' }] } }, harness.isWrite);
  const outcome = await target.deliver(deliveryOf({ isCompleted: true }, { itemId: harness.put(false) }), context());
  expect(outcome).toMatchObject({ status: 'refused', detail: expect.stringContaining('completed: Blocked') });
});

test('a missing project is refused when a task is to be created', async () => {
  harness.vendor.next(harness.missing);
  const outcome = await target.deliver(deliveryOf(), context());
  expect(outcome).toMatchObject(anOutcome('refused', 'PLACE_MISSING', '555'));
});

test('an approval is approved by a completed task, and rejected when its task is gone', async () => {
  const closing = openAsana(asanaSettings({ whenGone: 'close' }), needsOf(harness.vendor));
  const [approved, rejected] = [harness.put(false), harness.put(false)];
  for (const task of harness.tasks) Object.assign(task, { resource_subtype: 'approval', approval_status: 'pending' });
  await closing.deliver(deliveryOf({ isCompleted: true }, { itemId: approved }), context());
  const gone = deliveryOf({ isGone: true }, { itemId: rejected, event: 'gone' });
  expect(await closing.deliver(gone, context())).toMatchObject({
    status: 'delivered',
    detail: `${rejected}: open → completed`,
  });
  await closing.close();
  expect(harness.tasks).toMatchObject([{ approval_status: 'approved' }, { approval_status: 'rejected' }]);
});

test('a card in a column that is mapped to completed completes its task', async () => {
  const itemId = harness.put(false);
  const card = deliveryOf({ kind: 'card', status: 'shipped' }, { itemId, event: 'changed' });
  expect(await target.deliver(card, context())).toMatchObject({ detail: `${itemId}: open → completed` });
});
