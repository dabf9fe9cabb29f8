/** Items of any system with an HTTP API: how their states are read and written, and how they are created and checked. */
import { expect, test } from 'vitest';
import { LongInteger, wireJson } from '../../../src/client/call/json.ts';
import { PATIENCE_MS } from '../../../src/mirror/targets/calls/caller.ts';
import { openHttp } from '../../../src/mirror/targets/http/http.ts';
import { markerOf } from '../../../src/mirror/targets/items/marker.ts';
import type { SettingsOf } from '../../../src/settings/schema-target.ts';
import type { Reply } from '../../support/http-server.ts';
import { context, deliveryOf, fakeLog, needsOf } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';
import { exampleAt } from '../../support/template-vendors.ts';
import { HttpBed } from './http-bed.ts';

const bed = new HttpBed();
const { replies, open, deliver } = bed;

test('a system that accepts a change and does not make it gives a dead letter, if the item is read again', async () => {
  const { items } = exampleAt('our-redmine');
  const issue = (id: number) => ({ body: { issue: { status: { id } } } });
  replies.push(issue(1), { status: 204 }, issue(1), issue(1), { status: 204 }, issue(5));
  const target = open({ ...exampleAt('our-redmine'), items });
  const complete = () => target.deliver(deliveryOf({ isCompleted: true }, { itemId: '7' }), context());
  expect(await complete()).toMatchObject({ status: 'refused', reason: 'STATE_KEPT' });
  expect(await complete()).toMatchObject({ status: 'delivered', detail: '7: 1 → completed' });
});

test('a state that no item shows after the call is not reported as reached, and one that an item has shown is', async () => {
  const record = (title: string) => ({ body: { lockVersion: 1, _links: { status: { title } } } });
  const target = open(exampleAt('our-openproject'));
  const complete = () => target.deliver(deliveryOf({ isCompleted: true }, { itemId: '7' }), context());
  replies.push(record('New'), { body: {} }, record('Done'));
  expect(await complete()).toMatchObject(
    anOutcome('later', 'STATE_UNSEEN', '7 is Done after the call that makes it completed'),
  );
  replies.push(record('New'), { body: {} }, record('Closed'), record('New'), { body: {} });
  expect([await complete(), await complete()]).toMatchObject([{ status: 'delivered' }, { status: 'delivered' }]);
  expect(bed.server.requests).toHaveLength(8);
});

test('a call has the type of JSON that the system asks for, and a refused token disables the target', async () => {
  const azure = exampleAt('our-azure-devops');
  replies.push({ body: { rev: 3, fields: { 'System.State': 'To Do' } } }, { body: {} });
  const linked = open(azure);
  expect(await linked.deliver(deliveryOf({ isCompleted: true }, { itemId: '7' }), context())).toMatchObject({
    status: 'delivered',
    detail: '7: To Do → completed',
  });
  const [, { headers = {}, ...patch } = {}] = bed.server.requests as Partial<(typeof bed.server.requests)[number]>[];
  expect({ ...patch, type: headers['content-type'] }).toMatchObject({
    method: 'PATCH',
    type: 'application/json-patch+json',
    body: expect.stringContaining('"value": 3'),
  });
  replies.push({ status: 203, body: '<html>Azure DevOps Services | Sign In</html>' });
  expect(await linked.readItem?.('7', context())).toMatchObject({ status: 'disabled', reason: 'TOKEN_REFUSED' });
});

test('a call that changes an item may use the record that was read for it, with all digits of its numbers', async () => {
  const { items } = exampleAt('our-openproject');
  const headers = { 'If-Match': "{{ record['@odata.etag'] }}" };
  const etag = 'W/"JzEtVGFzayAgQEBA"';
  replies.push({
    body: `{ "lockVersion": 9007199254740993, "@odata.etag": ${JSON.stringify(etag)}, "_links": { "status": { "title": "New" } } }`,
  });
  open({ items: items && { ...items, complete: { ...items.complete, headers } } });
  const outcome = await bed.target?.deliver(deliveryOf({ isCompleted: true }, { itemId: '7' }), context());
  expect(outcome).toMatchObject({ status: 'delivered', detail: '7: New → completed' });
  expect(bed.server.requests[1]).toMatchObject({
    body: expect.stringContaining('"lockVersion": 9007199254740993,'),
    headers: { 'if-match': etag },
  });
});

test.each([
  [{ fields: { Done: true } }, { open: [null] }, { item: { isCompleted: true } }],
  [{ fields: {} }, { open: [null] }, { item: { isCompleted: false, status: 'open' } }],
  [{ fields: {} }, { open: [null, false] }, { item: { isCompleted: false } }],
  [{ fields: { Done: null } }, { completed: [true] }, { item: { isCompleted: false } }],
  [{ fields: {} }, { completed: [true] }, { reason: 'UNREADABLE' }],
  [{}, { open: [null] }, { reason: 'UNREADABLE' }],
  [undefined, { open: [null] }, { status: 'missing' }],
])(
  'the record %j of a system that leaves empty members out, with the states %j, is %j',
  async (record, values, expected) => {
    const { items } = exampleAt('our-trello');
    replies.push(record === undefined ? { status: 204 } : { body: record });
    const linked = open({
      ...exampleAt('our-trello'),
      items: items && { ...items, state: { at: '/fields/Done', ...values } },
    });
    expect(await linked.readItem?.('5f2b6c1e00', context())).toMatchObject(expected);
  },
);

test.each([
  [null, { isCompleted: false, status: 'open' }],
  ['2026-03-01T09:00:00Z', { isCompleted: true, status: '2026-03-01T09:00:00Z' }],
  [1772355600000, { isCompleted: true }],
  [new LongInteger('1772355600000000001'), { isCompleted: true, status: '1772355600000000001' }],
])('a state of %j that is the time of completion says whether an item is completed', async (resolved, item) => {
  const { items } = exampleAt('our-openproject');
  replies.push({ body: wireJson({ resolved }) });
  const linked = open({ items: items && { ...items, state: { at: '/resolved', open: [null] } } });
  expect(await linked.readItem?.('7', context())).toMatchObject({ status: 'found', item });
});

test('an item that was changed after it was read is read again; one whose record lacks a member is not changed', async () => {
  const shown = (lockVersion?: number) => ({ body: { lockVersion, _links: { status: { title: 'New' } } } });
  replies.push(shown(1), { status: 409, body: { message: 'it was changed' } }, shown(2), { body: {} });
  replies.push({ body: { _links: { status: { title: 'Closed' } } } }, shown());
  const linked = open(exampleAt('our-openproject'));
  const deliver = () => linked.deliver(deliveryOf({ isCompleted: true }, { itemId: '7' }), context());
  expect(await deliver()).toMatchObject({ status: 'later', detail: expect.stringContaining('it was changed') });
  expect(await deliver()).toMatchObject({ status: 'delivered' });
  expect(bed.server.requests.map(({ body }) => /"lockVersion": (\d)/.exec(body)?.[1])).toEqual([
    undefined,
    '1',
    undefined,
    '2',
    undefined,
  ]);
  expect(await deliver()).toMatchObject(
    anOutcome('refused', 'TEMPLATE_INVALID', 'undefined variable: record.lockVersion'),
  );
});

test('what a killed process may have created is looked for once `settle` has passed since its call could last arrive', async () => {
  const log = fakeLog();
  const settings = exampleAt('our-openproject');
  const settleMs = settings.items?.find?.settleMs ?? 0;
  await log.begin(deliveryOf(), undefined); // then it waited for its budget, and sent the call
  bed.target = openHttp(settings, needsOf(bed.server, { log }));
  const created = () => bed.server.requests.filter(({ method }) => method === 'POST').length;
  const deliver = async () => {
    replies.push({ body: { _embedded: { elements: [] } } });
    return bed.target?.deliver(deliveryOf(), context());
  };
  log.age(settleMs + PATIENCE_MS + settings.timeoutMs - 1);
  expect(await deliver()).toMatchObject({ status: 'later', reason: 'NOT_SHOWN_YET' });
  expect(created()).toBe(0);
  log.age(1);
  await deliver();
  expect(created()).toBe(1);
});

test('an item in the trash of its system is missing, and another one is created once its link is removed', async () => {
  const linked = open(exampleAt('our-notion'));
  const itemId = '59833787-2cf9-4fdf-8782-e53db2076812';
  const page = { id: itemId, in_trash: true, properties: { Status: { status: { name: 'Not started' } } } };
  const marker = { Lockstep: { rich_text: [{ plain_text: markerOf(deliveryOf()) }] } };
  const other = `${itemId.slice(0, -1)}3`;
  replies.push({ body: page }, { body: page });
  expect(await linked.readItem?.(itemId, context())).toEqual({ status: 'missing' });
  const completed = await linked.deliver(deliveryOf({ isCompleted: true }, { itemId }), context());
  expect(completed).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING' });
  replies.push({ body: { results: [{ ...page, properties: marker }] } }, { body: page });
  replies.push({ body: { id: other } }, { body: { ...page, id: other, in_trash: false } });
  expect(await linked.deliver(deliveryOf(), context())).toMatchObject({ status: 'delivered', itemId: other });
  expect(bed.server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST', 'GET', 'POST', 'GET']);
});

test.each([
  ['crm; lockstep-da90a869e47a; sales', 'already'],
  ['lockstep-da90a869e47a', 'already'],
  ['as lockstep-da90a869e47a, but later', 'delivered'],
  ['lockstep-da90a869e47ab; sales', 'delivered'],
])('an item whose tags are %j makes the delivery %s', async (tags, status) => {
  expect(markerOf(deliveryOf())).toBe('lockstep-da90a869e47a');
  const card = { id: '5f2b6c1e0f', desc: tags, dueComplete: false };
  replies.push({ body: { cards: [card] } }, { body: { ...card, id: '5f2b6c1e10' } }, { body: card });
  expect(await deliver(exampleAt('our-trello'))).toMatchObject({ status });
});

test('an item is created without a search where the system prevents a second one', async () => {
  const { items } = exampleAt('our-trello');
  const create = items?.create && { ...items.create, isIdempotent: true };
  const opened = open({ ...exampleAt('our-trello'), items: items && { ...items, create, find: undefined } });
  replies.push({ status: 502 }, { body: { id: '5f2b6c1e0f' } }, { status: 404 }, { body: { dueComplete: false } });
  const lost = await opened.deliver(deliveryOf(), context());
  expect([lost.status, 'retryAfterMs' in lost]).toEqual(['later', false]);
  const unseen = anOutcome('later', 'NOT_SHOWN_YET', /^GET .*HTTP 404/);
  expect(await opened.deliver(deliveryOf(), context())).toMatchObject(unseen);
  expect(await opened.deliver(deliveryOf(), context())).toMatchObject({ itemId: '5f2b6c1e0f' });
  expect(bed.server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /cards',
    'POST /cards',
    'GET /cards/5f2b6c1e0f',
    'GET /cards/5f2b6c1e0f',
  ]);
});

test.each(['{ "id": "../admin" }', '{ "id": ".." }', '{ "id": ["x"] }', '{ "id": 1234567.5 }', '{}'])(
  'a new item in the answer %s is not linked',
  async (created) => {
    replies.push({ body: { cards: [] } }, { body: created });
    expect(await deliver(exampleAt('our-trello'))).toMatchObject({ status: 'later', reason: 'UNREADABLE' });
  },
);

test.each<[string, Reply[], string | undefined]>([
  ['no state at "/dueComplete" (targets.our-trello.items.read.record and state.at)', [{ body: {} }], '5f2b6c1e0f'],
  ['no list at "/cards" (targets.our-trello.items.find.list)', [{ body: [] }], undefined],
  ['no id at "/id" (targets.our-trello.items.create.newId)', [{ body: { cards: [] } }, { body: {} }], undefined],
])('an answer that lacks what a pointer leads to names the pointer: %s', async (lack, answers, itemId) => {
  replies.push(...answers);
  const outcome = await open(exampleAt('our-trello')).deliver(deliveryOf({}, { itemId }), context());
  expect(outcome).toMatchObject({
    reason: 'UNREADABLE',
    detail: expect.stringContaining(`expected JSON: it has ${lack}`),
  });
});

test('a new item whose id is a number beyond 2^53 keeps all its digits', async () => {
  replies.push({ body: { cards: [] } }, { body: '{ "id": 12345678901234567891 }' }, { body: { dueComplete: false } });
  expect(await deliver(exampleAt('our-trello'))).toMatchObject({ status: 'delivered', itemId: '12345678901234567891' });
});

test.each([
  [4, '4'],
  ['4', 4],
  [true, 'true'],
])('a record with the state %j is completed, where the settings say %j', async (shown, completed) => {
  const { items } = exampleAt('our-trello');
  const opened = open({
    ...exampleAt('our-trello'),
    items: items && { ...items, state: { at: '/stage', completed: [completed] } },
  });
  replies.push({ body: { stage: shown } });
  expect(await opened.readItem?.('5f2b6c1e00', context())).toMatchObject({ item: { isCompleted: true } });
});

test('an id that would change the path is refused, even if the settings allow dots', async () => {
  const { items } = exampleAt('our-trello');
  const opened = open({ ...exampleAt('our-trello'), items: items && { ...items, id: '[\\w.]+' } });
  const outcome = await opened.deliver(deliveryOf({}, { itemId: '..' }), context());
  expect(outcome).toMatchObject({ status: 'refused', reason: 'ITEM_ID_INVALID' });
  expect(bed.server.requests).toHaveLength(0);
});

test('a check searches for the last created item, and says if the search does not find it', async () => {
  const trello = exampleAt('our-trello');
  const log = fakeLog();
  bed.target = openHttp({ ...trello }, { ...needsOf(bed.server), log });
  const card = { id: '5f2b6c1e01', desc: markerOf(deliveryOf()), dueComplete: false };
  replies.push({ body: { cards: [] } }, { body: card }, { body: card });
  expect(await bed.target.deliver(deliveryOf(), context())).toMatchObject({ itemId: card.id });
  log.age(3_600_000);
  const checked = async (...given: object[]) => {
    replies.push(...given.map((body) => ({ body })));
    return (await bed.target?.check?.(context()))?.[0];
  };
  expect(await checked({ cards: [card] }, card)).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining('finds 5f2b6c1e01, which'),
  });
  expect(await checked({ cards: [] }, card)).toMatchObject({
    status: 'problem',
    detail: expect.stringContaining('does not find 5f2b6c1e01'),
  });
  replies.push({ body: { cards: [] } }, { status: 404 });
  expect(await checked()).toMatchObject({ status: 'ok', detail: expect.stringContaining('is no longer there') });
});

test('a check searches as for a created item; without a search it asks whether the address answers', async () => {
  const check = async (given: Partial<SettingsOf<'http'>>, reply: Reply) => {
    replies.push(reply);
    const opened = open(given);
    const [finding] = (await opened.check?.(context())) ?? [];
    await opened.close();
    return `${bed.server.requests.at(-1)?.method} ${finding?.status}: ${finding?.detail}`;
  };
  const trello = exampleAt('our-trello');
  expect(await check(trello, { body: { cards: [] } })).toBe(
    'GET ok: the search answers; once Lockstep has created an item, this check shows whether the search finds it',
  );
  expect(await check(trello, { status: 401, body: 'invalid token' })).toMatch(/^GET problem: TOKEN_REFUSED: /);
  expect(await check(trello, { status: 404 })).toMatch(/^GET problem: .*HTTP 404/);
  expect(await check({}, { status: 404 })).toMatch(/^HEAD unknown: it answers \(HTTP 404 to HEAD\)/);
  expect(await check({}, { status: 410 })).toMatch(/^HEAD problem: .*gone/);
  expect(await check({}, { status: 503 })).toMatch(/^HEAD problem: it answers HTTP 503/);
});
