import { expect, test } from 'vitest';
import { openAsana } from '../../../src/mirror/targets/asana/asana.ts';
import { asanaSettings, startAsana } from '../../support/asana-standin.ts';
import { context, deliveryOf, needsOf } from '../../support/item-vendor.ts';
import { itemSuite } from './item-suite.ts';
import { manyItemsSuite, readMany } from './many-items-suite.ts';
import { VendorBed } from './vendor-bed.ts';

itemSuite('a task of Asana', startAsana);
manyItemsSuite('a task of Asana', startAsana);

const bed = new VendorBed(startAsana, (needs) =>
  openAsana(asanaSettings({ columns: { Shipped: 'completed' } }), needs),
);

test('a task is completed by a body wrapped in data, and nothing else of it is touched', async () => {
  const itemId = bed.harness.put(false);
  await bed.target.deliver(deliveryOf({ isCompleted: true }, { itemId }), context());
  expect(bed.harness.vendor.requests.map(({ method, body }) => `${method} ${body}`)).toEqual([
    'GET ',
    'PUT {"data":{"completed":true}}',
  ]);
});

test('an answer that shows the old state, or none, is no success', async () => {
  const itemId = bed.harness.put(false);
  bed.harness.vendor.next({ body: { data: { gid: itemId, completed: false } } }, bed.harness.isWrite);
  const outcome = await bed.target.deliver(deliveryOf({ isCompleted: true }, { itemId }), context());
  expect(outcome).toMatchObject({ status: 'refused', reason: 'STATE_KEPT' });
  bed.harness.vendor.next({ status: 202 }, bed.harness.isWrite);
  const empty = await bed.target.deliver(deliveryOf({ isCompleted: true }, { itemId }), context());
  expect(empty).toMatchObject({ status: 'later', reason: 'UNREADABLE' });
});

test('a created task has the words of the task as notes that end with its marker', async () => {
  await bed.target.deliver(deliveryOf(), context());
  expect(bed.harness.tasks[0]).toMatchObject({
    name: 'Call the printer',
    notes: expect.stringMatching(/^About the invoice\n\nlockstep-[\da-f]{12}$/),
  });
});

test('a task of ours is found on a later page, among those that changed within 30 days', async () => {
  for (let count = 0; count < 120; count++) bed.harness.put(false);
  await bed.target.deliver(deliveryOf(), context());
  const again = openAsana(asanaSettings(), needsOf(bed.harness.vendor));
  expect(await again.deliver(deliveryOf(), context())).toMatchObject({
    status: 'already',
    itemId: bed.harness.tasks[120]?.gid,
  });
  await again.close();
  expect(bed.harness.vendor.requests.at(-1)?.query.get('modified_since')).toBe('2026-01-30T12:00:00Z');
});

test('a search whose place in the list has expired begins again', async () => {
  for (let count = 0; count < 120; count++) bed.harness.put(false);
  const message = 'offset: Your pagination token has expired.';
  bed.harness.vendor.next({ status: 400, body: { errors: [{ message }] } }, ({ query }) => query.has('offset'));
  expect(await bed.target.deliver(deliveryOf(), context())).toMatchObject({ status: 'delivered' });
  const searches = bed.harness.vendor.requests.filter(({ method, path }) => method === 'GET' && path === '/tasks');
  expect(searches.map(({ query }) => query.get('offset'))).toEqual([null, '100', null, '100']);
});

test('items are read from the beginning of the list again if its place has expired, and not one by one', async () => {
  const ids = Array.from({ length: 120 }, () => bed.harness.put(true));
  const message = 'offset: Your pagination token has expired.';
  bed.harness.vendor.next({ status: 400, body: { errors: [{ message }] } }, ({ query }) => query.has('offset'));
  expect(await readMany(bed.target, ids)).toHaveLength(120);
  expect(bed.harness.vendor.requests.map(({ query }) => query.get('offset'))).toEqual([null, '100', null, '100']);
});

test('a project too large to be looked through is refused before anything could be created twice', async () => {
  for (let count = 0; count <= 2000; count++) bed.harness.put(false);
  expect(await bed.target.deliver(deliveryOf(), context())).toMatchObject({
    status: 'refused',
    reason: 'TOO_MANY_ITEMS',
  });
  expect(bed.harness.count()).toBe(2001);
});

test('what Asana says of a refused write is in the dead letter', async () => {
  bed.harness.vendor.next({ status: 400, body: { errors: [{ message: 'completed: Blocked' }] } }, bed.harness.isWrite);
  const outcome = await bed.target.deliver(
    deliveryOf({ isCompleted: true }, { itemId: bed.harness.put(false) }),
    context(),
  );
  expect(outcome).toMatchObject({ status: 'refused', detail: expect.stringContaining('completed: Blocked') });
});

test('an approval is approved by a completed task, and rejected when its task is gone', async () => {
  const closing = openAsana(asanaSettings({ whenGone: 'close' }), needsOf(bed.harness.vendor));
  const [approved, rejected] = [bed.harness.put(false), bed.harness.put(false)];
  for (const task of bed.harness.tasks)
    Object.assign(task, { resource_subtype: 'approval', approval_status: 'pending' });
  await closing.deliver(deliveryOf({ isCompleted: true }, { itemId: approved }), context());
  const gone = deliveryOf({ isGone: true }, { itemId: rejected, event: 'gone' });
  expect(await closing.deliver(gone, context())).toMatchObject({
    status: 'delivered',
    detail: `${rejected}: open → completed`,
  });
  await closing.close();
  expect(bed.harness.tasks).toMatchObject([{ approval_status: 'approved' }, { approval_status: 'rejected' }]);
});

test('a card in a column that is mapped to completed completes its task', async () => {
  const itemId = bed.harness.put(false);
  const card = deliveryOf({ kind: 'card', status: 'shipped' }, { itemId, event: 'changed' });
  expect(await bed.target.deliver(card, context())).toMatchObject({ detail: `${itemId}: open → completed` });
});
