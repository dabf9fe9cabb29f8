import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLinear } from '../../src/targets/linear.ts';
import { linearItemsIn } from '../../src/targets/linear-issue.ts';
import type { Target } from '../../src/targets/target.ts';
import { context, deliveryOf, HOOK_SECRET, needsOf, SEEN_AT } from '../support/item-bed.ts';
import { graphqlError, type LinearBed, linearSettings, startLinear } from '../support/linear-standin.ts';
import { itemSuite } from './item-suite.ts';

itemSuite('an issue of Linear', startLinear);

let bed: LinearBed;
let target: Target;
let now = SEEN_AT;

beforeEach(async () => {
  bed = await startLinear();
  now = SEEN_AT;
  const settings = linearSettings({ columns: { Shipping: 'Shipped' } });
  target = openLinear(settings, { ...needsOf(bed.vendor), now: () => now });
});

afterEach(async () => {
  await target.close();
  await bed.vendor.close();
  expect(bed.vendor.complaints).toEqual([]);
});

const deliver = (isCompleted: boolean, itemId?: string) =>
  target.deliver(deliveryOf({ isCompleted }, { itemId }), context());

test('an issue goes to the first state of the type, by position: Done before Shipped, Todo before Backlog', async () => {
  const itemId = bed.put(false);
  expect(await deliver(true, itemId)).toMatchObject({ detail: `${itemId}: Todo → Done` });
  expect(await deliver(false, itemId)).toMatchObject({ detail: `${itemId}: Done → Todo` });
});

test('without a state that is to do, a reopened issue goes to the backlog', async () => {
  bed.states.splice(0, 1);
  const itemId = bed.put(true);
  expect(await deliver(false, itemId)).toMatchObject({ detail: `${itemId}: Done → Backlog` });
});

test('an issue that a person canceled is not completed over his head', async () => {
  const itemId = bed.put(false);
  if (bed.issues[0]) bed.issues[0].stateId = 'state-Canceled';
  expect(await deliver(true, itemId)).toMatchObject({ status: 'already', detail: expect.stringContaining('Canceled') });
});

test('the states of a team are read once in ten minutes', async () => {
  const reads = () => bed.operations().filter((name) => name === 'States').length;
  const itemId = bed.put(false);
  for (const isCompleted of [true, false, true]) await deliver(isCompleted, itemId);
  expect(reads()).toBe(1);
  now = new Date(SEEN_AT.getTime() + 10 * 60_000);
  await deliver(false, itemId);
  expect(reads()).toBe(2);
});

test('states are read again after one was refused', async () => {
  const itemId = bed.put(false);
  await deliver(true, itemId);
  bed.vendor.next(graphqlError('Entity not found: WorkflowState', 'INPUT_ERROR'), bed.isWrite);
  expect(await deliver(false, itemId)).toMatchObject({ status: 'refused', reason: 'REJECTED' });
  await deliver(false, itemId);
  expect(bed.operations().filter((name) => name === 'States')).toHaveLength(2);
});

test('a team without a state of that kind makes a dead letter that names those it has', async () => {
  bed.states.splice(2, 2);
  const outcome = await deliver(true, bed.put(false));
  expect(outcome).toMatchObject({ status: 'refused', reason: 'NO_STATE' });
  expect(outcome.detail).toContain('Todo (unstarted), Backlog (backlog), Canceled (canceled)');
});

test('a card goes to the state that its column is mapped to', async () => {
  const itemId = bed.put(false);
  const card = deliveryOf({ kind: 'card', status: 'Shipping' }, { itemId, event: 'changed' });
  expect(await target.deliver(card, context())).toMatchObject({ detail: `${itemId}: Todo → Shipped` });
});

test('an issue is created under an id made of its task, a UUID of version 4', async () => {
  await deliver(false);
  expect(bed.issues[0]).toMatchObject({ title: 'Call the printer', description: 'About the invoice' });
  expect(bed.issues[0]?.id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
});

test('an id that exists already, because somebody was faster, is the issue that was looked for', async () => {
  await deliver(false);
  const again = openLinear(linearSettings(), needsOf(bed.vendor));
  bed.vendor.next(bed.missing);
  expect(await again.deliver(deliveryOf(), context())).toMatchObject({ status: 'delivered', itemId: 'ENG-1' });
  await again.close();
  expect([bed.count(), bed.operations().includes('Create')]).toEqual([1, true]);
});

test('an issue in the trash is missing', async () => {
  const itemId = bed.put(false);
  if (bed.issues[0]) bed.issues[0].trashed = true;
  expect(await deliver(true, itemId)).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING' });
});

test('a team that is not there is refused when an issue is to be created', async () => {
  const lost = openLinear(linearSettings({ team: 'OPS' }), needsOf(bed.vendor));
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
  [200, {}, 60_000],
  [400, {}, 60_000],
  [400, { 'retry-after': '5' }, 5_000],
  [400, RESETS, 40_000],
])('a limit is a limit with HTTP %i and %j', async (status, headers, retryAfterMs) => {
  bed.vendor.next({ ...graphqlError('Rate limit exceeded', 'RATELIMITED', 'ratelimited', status), headers });
  const outcome = await deliver(true, bed.put(false));
  expect(outcome).toMatchObject({ status: 'later', reason: 'LIMITED', isLimited: true, retryAfterMs });
});

test.each([
  ['AUTHENTICATION_ERROR', 'authentication error', 400, { status: 'disabled', reason: 'TOKEN_REFUSED' }],
  ['FORBIDDEN', 'forbidden', 200, { status: 'disabled', reason: 'TOKEN_REFUSED' }],
  ['INTERNAL_SERVER_ERROR', 'internal error', 200, { status: 'later', reason: 'SERVER_ERROR' }],
  ['GRAPHQL_VALIDATION_FAILED', 'graphql error', 400, { status: 'refused', reason: 'REJECTED' }],
])('an error of the code %s and the type %s with HTTP %i', async (code, type, status, expected) => {
  bed.vendor.next(graphqlError('It cannot be done', code, type, status));
  const outcome = await deliver(true, bed.put(false));
  expect(outcome).toMatchObject({ ...expected, detail: expect.stringContaining('It cannot be done') });
});

test('an address without an API is not taken for an issue that is missing', async () => {
  bed.vendor.next({ status: 404, body: 'Not found' });
  expect(await deliver(true, bed.put(false))).toMatchObject({
    status: 'refused',
    detail: expect.stringContaining('url'),
  });
});

test('a success that is false is no success', async () => {
  bed.vendor.next({ body: { data: { issueUpdate: { success: false } } } }, bed.isWrite);
  expect(await deliver(true, bed.put(false))).toMatchObject({ status: 'refused', reason: 'REJECTED' });
});

test.each([
  ['https://linear.app/acme/issue/ENG-12/call-the-printer and ENG-13', ['ENG-12']],
  ['LINEAR: ENG-12, LINEAR:OPS-1', ['ENG-12', 'OPS-1']],
  ['https://linear.example/acme/issue/ENG-12', []],
])('the text %j names issues', (text, expected) => {
  expect(linearItemsIn(text)).toEqual(expected);
});

const UPDATE = {
  action: 'update',
  type: 'Issue',
  data: { identifier: 'ENG-12', state: { name: 'Done', type: 'completed' } },
  updatedFrom: { stateId: 'state-Todo' },
  webhookTimestamp: SEEN_AT.getTime(),
};

function hook(payload: object, key = HOOK_SECRET) {
  const body = Buffer.from(JSON.stringify(payload));
  return { headers: { 'linear-signature': createHmac('sha256', key).update(body).digest('hex') }, body };
}

test('a genuine call back tells of the issue whose state changed', async () => {
  const items = [{ itemId: 'ENG-12', isCompleted: true, status: 'Done' }];
  expect(await target.readHook?.(hook(UPDATE), SEEN_AT)).toEqual({ status: 'accepted', items });
});

test.each([
  ['another field', { ...UPDATE, updatedFrom: { title: 'Old' } }],
  ['a new issue', { ...UPDATE, action: 'create' }],
  ['a comment', { ...UPDATE, type: 'Comment' }],
])('a call back about %s tells of nothing', async (_, payload) => {
  expect(await target.readHook?.(hook(payload), SEEN_AT)).toEqual({ status: 'accepted', items: [] });
});

test.each([
  ['another secret', hook(UPDATE, 'another-secret')],
  ['no signature', { ...hook(UPDATE), headers: {} }],
  ['a time long ago', hook({ ...UPDATE, webhookTimestamp: SEEN_AT.getTime() - 301_000 })],
  ['no time', hook({ ...UPDATE, webhookTimestamp: undefined })],
])('a call back with %s is refused', async (_, request) => {
  expect(await target.readHook?.(request, SEEN_AT)).toMatchObject({ status: 'refused', httpStatus: 401 });
});
