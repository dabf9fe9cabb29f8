import { beforeEach, expect, test } from 'vitest';
import { openLinear } from '../../../src/mirror/targets/linear/linear.ts';
import { startHttpServer } from '../../support/http-server.ts';
import { context, deliveryOf, needsOf, SEEN_AT } from '../../support/item-vendor.ts';
import { graphqlError, linearSettings, startLinear } from '../../support/linear-standin.ts';
import { anOutcome } from '../../support/matchers.ts';
import { itemSuite } from './item-suite.ts';
import { manyItemsSuite } from './many-items-suite.ts';
import { VendorBed } from './vendor-bed.ts';

itemSuite('an issue of Linear', startLinear);
manyItemsSuite('an issue of Linear', startLinear);

let now = SEEN_AT;
beforeEach(() => {
  now = SEEN_AT;
});
const bed = new VendorBed(startLinear, (needs) =>
  openLinear(linearSettings({ columns: { Shipping: 'Shipped' } }), { ...needs, now: () => now }),
);
const { deliver } = bed;

test('an issue goes to the first state of the type, by position: Done before Shipped, Todo before Backlog', async () => {
  const itemId = bed.harness.put(false);
  expect(await deliver(true, itemId)).toMatchObject({ detail: `${itemId}: Todo → Done` });
  expect(await deliver(false, itemId)).toMatchObject({ detail: `${itemId}: Done → Todo` });
});

test('labels and dates that cannot be written are named, and the issue is created without them', async () => {
  const fields = { labels: ['{{ task.kind }}', 'mirror'], dueDate: 'soon' };
  const creating = openLinear(linearSettings({ create: true, fields }), { ...bed.needs, now: () => now });
  const outcome = await creating.deliver(deliveryOf({ isCompleted: true }), context());
  await creating.close();
  expect(outcome).toMatchObject({ status: 'refused', reason: 'FIELD_INVALID', itemId: 'ENG-1' });
  expect(outcome).toMatchObject({
    detail: expect.stringMatching(/"soon" is not a date.*does not have the label "task", so Lockstep did not write it/),
  });
  expect([bed.harness.isCompleted('ENG-1'), bed.harness.field('ENG-1', 'labels')]).toEqual([true, ['label-mirror']]);
});

test('without a state that is to do, a reopened issue goes to the backlog', async () => {
  bed.harness.states.splice(0, 1);
  const itemId = bed.harness.put(true);
  expect(await deliver(false, itemId)).toMatchObject({ detail: `${itemId}: Done → Backlog` });
});

test('does not complete an issue that a person canceled', async () => {
  const itemId = bed.harness.put(false);
  if (bed.harness.issues[0]) bed.harness.issues[0].stateId = 'state-Canceled';
  expect(await deliver(true, itemId)).toMatchObject({ status: 'already', detail: expect.stringContaining('Canceled') });
});

test('the states of a team are read once in ten minutes', async () => {
  const reads = () => bed.harness.operations().filter((name) => name === 'States').length;
  const itemId = bed.harness.put(false);
  for (const isCompleted of [true, false, true]) await deliver(isCompleted, itemId);
  expect(reads()).toBe(1);
  now = new Date(SEEN_AT.getTime() + 10 * 60_000);
  await deliver(false, itemId);
  expect(reads()).toBe(2);
});

test('states are read again after one was refused', async () => {
  const itemId = bed.harness.put(false);
  await deliver(true, itemId);
  bed.harness.vendor.next(graphqlError('Entity not found: WorkflowState', 'INPUT_ERROR'), bed.harness.isWrite);
  expect(await deliver(false, itemId)).toMatchObject({ status: 'refused', reason: 'REJECTED' });
  await deliver(false, itemId);
  expect(bed.harness.operations().filter((name) => name === 'States')).toHaveLength(2);
});

test('a team without a state of that kind makes a dead letter that names those it has', async () => {
  bed.harness.states.splice(2, 2);
  const outcome = await deliver(true, bed.harness.put(false));
  expect(outcome).toMatchObject({ status: 'refused', reason: 'NO_STATE' });
  expect(outcome.detail).toContain('Todo (unstarted), Backlog (backlog), Canceled (canceled)');
});

test('a state that was added is found at once', async () => {
  const [added] = bed.harness.states.splice(2, 1);
  bed.harness.states.splice(2, 1);
  const itemId = bed.harness.put(false);
  await deliver(true, itemId);
  if (added) bed.harness.states.push(added);
  expect(await deliver(true, itemId)).toMatchObject({ status: 'delivered' });
});

test('a card goes to the state that its column is mapped to', async () => {
  const itemId = bed.harness.put(false);
  const card = deliveryOf({ kind: 'card', status: 'Shipping' }, { itemId, event: 'changed' });
  expect(await bed.target.deliver(card, context())).toMatchObject({ detail: `${itemId}: Todo → Shipped` });
});

test.each([
  [false, /^canary-/],
  [true, /^Bearer canary-/],
])('with oauth: %s the token is sent as %s', async (oauth, header) => {
  const vendor = await startHttpServer({ status: 500 });
  const other = openLinear(linearSettings({ oauth }), needsOf(vendor));
  await other.readItem?.('ENG-1', context());
  await other.close();
  await vendor.close();
  expect(vendor.requests[0]?.headers.authorization).toMatch(header);
});

test('an issue is created under an id made of its task, a UUID of version 4', async () => {
  await deliver(false);
  expect(bed.harness.issues[0]).toMatchObject({ title: 'Call the printer', description: 'About the invoice' });
  expect(bed.harness.issues[0]?.id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
});

test('takes an existing id, because another process was faster, as the issue that it looked for', async () => {
  await deliver(false);
  const again = openLinear(linearSettings(), needsOf(bed.harness.vendor));
  bed.harness.vendor.next(bed.harness.missing);
  expect(await again.deliver(deliveryOf(), context())).toMatchObject({ status: 'delivered', itemId: 'ENG-1' });
  await again.close();
  expect([bed.harness.count(), bed.harness.operations().includes('Create')]).toEqual([1, true]);
});

test('an issue in the trash is missing', async () => {
  const itemId = bed.harness.put(false);
  if (bed.harness.issues[0]) bed.harness.issues[0].trashed = true;
  expect(await deliver(true, itemId)).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING' });
});

test('an issue in the trash that was created for the task is named, and not created again under its id', async () => {
  await deliver(false);
  if (bed.harness.issues[0]) bed.harness.issues[0].trashed = true;
  const again = openLinear(linearSettings(), needsOf(bed.harness.vendor));
  const detail = expect.stringContaining('ENG-1 was created for this task and is in the trash: restore it');
  const outcome = await again.deliver(deliveryOf(), context());
  await again.close();
  expect(outcome).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING', detail });
  expect(bed.harness.operations().filter((name) => name === 'Create')).toHaveLength(1);
});

test('a team that cannot be read has created nothing, so the next attempt creates the issue at once', async () => {
  bed.harness.vendor.next({ status: 503, body: {} }, ({ body }) => body.includes('query Team'));
  const failed = await deliver(false);
  expect(failed).toMatchObject({ status: 'later', reason: 'SERVER_ERROR' });
  expect(JSON.stringify(failed)).not.toContain('may have been created');
  expect(await deliver(false)).toMatchObject({ status: 'delivered' });
});

test('a missing team is refused when an issue is to be created', async () => {
  const lost = openLinear(linearSettings({ team: 'OPS' }), needsOf(bed.harness.vendor));
  expect(await lost.deliver(deliveryOf(), context())).toMatchObject({ status: 'refused', reason: 'PLACE_MISSING' });
  await lost.close();
});

const RESETS = {
  'x-ratelimit-requests-remaining': '0',
  'x-ratelimit-requests-reset': String(SEEN_AT.getTime() + 40_000),
  'x-ratelimit-complexity-remaining': '5',
  'x-ratelimit-complexity-reset': String(SEEN_AT.getTime() + 900_000),
};
test.each([
  ['has another key now, or is deleted', { team: 'OLD' }, false, 'the token sees no team OLD'],
  ['is retired', {}, true, 'the team ENG is retired'],
])(
  'a team that %s shows no new issues, which is a failure and not an empty list',
  async (_, settings, isRetired, said) => {
    bed.harness.put(false);
    bed.harness.isRetired = isRetired;
    const reading = openLinear(linearSettings({ createTasks: true, ...settings }), needsOf(bed.harness.vendor));
    const read = await reading.newItems?.({ baseline: SEEN_AT, since: SEEN_AT }, context());
    await reading.close();
    expect(read).toMatchObject(anOutcome('refused', 'PLACE_MISSING', said));
  },
);

test.each([
  [200, {}, 60_000],
  [400, {}, 60_000],
  [400, { 'retry-after': '5' }, 5_000],
  [400, RESETS, 40_000],
])('a limit is a limit with HTTP %i and %j', async (status, headers, retryAfterMs) => {
  bed.harness.vendor.serverTime = SEEN_AT;
  bed.harness.vendor.next({ ...graphqlError('Rate limit exceeded', 'RATELIMITED', 'ratelimited', status), headers });
  const outcome = await deliver(true, bed.harness.put(false));
  expect(outcome).toMatchObject({ status: 'later', reason: 'LIMITED', isLimited: true, retryAfterMs });
  expect(bed.needs.budget.limits429).toEqual([retryAfterMs]);
});

test.each([-3, 3])('a limit lasts as long as Linear says if this clock is %i hours ahead', async (hours) => {
  const now = () => new Date(SEEN_AT.getTime() + hours * 3_600_000);
  const target = openLinear(linearSettings(), { ...bed.needs, now });
  bed.harness.vendor.serverTime = SEEN_AT;
  bed.harness.vendor.next({
    ...graphqlError('Rate limit exceeded', 'RATELIMITED', 'ratelimited', 400),
    headers: RESETS,
  });
  const delivery = deliveryOf({ isCompleted: true }, { itemId: bed.harness.put(false) });
  expect(await target.deliver(delivery, context())).toMatchObject({ reason: 'LIMITED', retryAfterMs: 40_000 });
  await target.close();
});

test.each([
  ['AUTHENTICATION_ERROR', 'authentication error', 400, { status: 'disabled', reason: 'TOKEN_REFUSED' }],
  ['FORBIDDEN', 'forbidden', 200, { status: 'refused', reason: 'NOT_ALLOWED' }],
  ['INTERNAL_SERVER_ERROR', 'internal error', 200, { status: 'later', reason: 'SERVER_ERROR' }],
  ['GRAPHQL_VALIDATION_FAILED', 'graphql error', 400, { status: 'refused', reason: 'REJECTED' }],
])('an error of the code %s and the type %s with HTTP %i', async (code, type, status, expected) => {
  bed.harness.vendor.next(graphqlError('It cannot be done', code, type, status));
  const outcome = await deliver(true, bed.harness.put(false));
  expect(outcome).toMatchObject({ ...expected, detail: expect.stringContaining('It cannot be done') });
});

test('an error with empty members is an error, although the answer has data', async () => {
  const errors = [
    { message: null, extensions: { code: 'INTERNAL_SERVER_ERROR', type: null, userPresentableMessage: 7 } },
  ];
  const body = { errors, data: { issueUpdate: { success: true } } };
  bed.harness.vendor.next({ body }, bed.harness.isWrite);
  expect(await deliver(true, bed.harness.put(false))).toMatchObject({ status: 'later', reason: 'SERVER_ERROR' });
});

test('a success that is false is no success', async () => {
  bed.harness.vendor.next({ body: { data: { issueUpdate: { success: false } } } }, bed.harness.isWrite);
  expect(await deliver(true, bed.harness.put(false))).toMatchObject({ status: 'refused', reason: 'REJECTED' });
});

test('an issue that moved to another team is read by its former identifier, written, and linked by its new one', async () => {
  const itemId = bed.harness.put(false);
  Object.assign(bed.harness.issues[0] ?? {}, { formerIdentifier: itemId, identifier: 'OPS-3' });
  expect(await deliver(true, itemId)).toMatchObject({
    status: 'delivered',
    itemId: 'OPS-3',
    detail: 'OPS-3: Todo → Done',
  });
  expect(bed.harness.isCompleted('OPS-3')).toBe(true);
});
