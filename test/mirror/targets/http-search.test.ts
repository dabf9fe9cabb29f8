/** The search for an item that was created before, by its marker. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Target } from '../../../src/contract/target.ts';
import { openHttp } from '../../../src/mirror/targets/http/http.ts';
import { markerOf } from '../../../src/mirror/targets/items/marker.ts';
import type { HttpItems } from '../../../src/settings/target-http.ts';
import { type Reply, type SeenRequest, startHttpServer, type TestServer } from '../../support/http-server.ts';
import { context, deliveryOf, needsOf } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';
import { exampleAt } from '../../support/template-vendors.ts';

let server: TestServer;
let replies: Reply[];
/** What a read shows of each card. */
let card: object;
let target: Target | undefined;

beforeEach(async () => {
  replies = [];
  card = { dueComplete: false };
  const isRead = ({ method, path }: SeenRequest) => method === 'GET' && path.startsWith('/cards/');
  server = await startHttpServer((request) => {
    if (request.method === 'PUT') card = { dueComplete: request.query.get('dueComplete') === 'true' };
    return isRead(request) ? { body: card } : (replies.shift() ?? {});
  });
});

afterEach(async () => {
  await target?.close();
  target = undefined;
  await server.close();
});

function deliver(given: Partial<NonNullable<HttpItems['find']>> = {}, path = '') {
  const settings = exampleAt('our-trello');
  const { items } = settings;
  const find = items?.find && { ...items.find, ...given };
  const needs = needsOf({ url: `${server.url}${path}` });
  target ??= openHttp({ ...settings, url: `${server.url}${path}`, items: items && { ...items, find } }, needs);
  return target.deliver(deliveryOf(), context());
}

test('no item is created while the search shows only a part of the items, without the marker', async () => {
  const desc = markerOf(deliveryOf());
  replies.push({ body: { cards: [], next: 'page-2' } });
  expect(await deliver({ more: '/next' })).toMatchObject(
    anOutcome('refused', 'TOO_MANY_ITEMS', 'let targets.our-trello.items.find search for the marker'),
  );
  replies.push({ body: { cards: [{ id: '5f2b6c1e00', desc, dueComplete: false }], next: 'page-2' } });
  expect(await deliver({ more: '/next' })).toMatchObject({ itemId: '5f2b6c1e00' });
  replies.push({ body: { cards: [], next: null } }, { body: { id: '5f2b6c1e01' } });
  expect(await deliver({ more: '/next' })).toMatchObject({ status: 'delivered', itemId: '5f2b6c1e01' });
});

const carrying = () => ({ id: '5f2b6c1e00', desc: markerOf(deliveryOf()), dueComplete: false });

test('an item that the search shows is read, because the search may show an old state', async () => {
  card = { dueComplete: true };
  replies.push({ body: { cards: [carrying()] } });
  expect(await deliver()).toMatchObject({ status: 'delivered', detail: '5f2b6c1e00: completed → open' });
  expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'PUT', 'GET']);
});

test.each<[string, (page: number) => Reply]>([
  [
    'the header Link',
    (page) => ({
      headers: { link: ['<?page=1>; rel="self"', `<${server.url}/search?query=a&page=${page}>; rel="next"`] },
      body: { cards: [] },
    }),
  ],
  ['a member of the answer', (page) => ({ body: { cards: [], next: `${server.url}/search?query=a&page=${page}` } })],
])('an item is found on a later page that %s names, and created if no page has it', async (_, partOf) => {
  replies.push(partOf(2), partOf(3), { body: { cards: [carrying()] } });
  expect(await deliver({ more: '/next' })).toMatchObject({ itemId: '5f2b6c1e00' });
  expect(server.requests.map(({ path, query }) => `${path} ${query.get('page')}`)).toEqual([
    '/search null',
    '/search 2',
    '/search 3',
    '/cards/5f2b6c1e00 null',
  ]);
  replies.push(partOf(2), { body: { cards: [] } }, { body: { id: '5f2b6c1e01' } });
  expect(await deliver({ more: '/next' })).toMatchObject({ status: 'delivered', itemId: '5f2b6c1e01' });
});

test.each<[string, Partial<NonNullable<HttpItems['find']>>, () => string]>([
  ['is at another host', {}, () => '<https://other.example.com/search?page=2>; rel="next"'],
  ['has to be asked for by a body', { method: 'POST', body: '{}' }, () => '<?page=2>; rel="next"'],
  ['never ends', {}, () => `<${server.url}/search?page=2>; rel="next"`],
])('no item is created if the next page %s', async (_, find, link) => {
  replies.push(...Array.from({ length: 20 }, () => ({ headers: { link: link() }, body: { cards: [] } })));
  expect(await deliver(find)).toMatchObject({ status: 'refused', reason: 'TOO_MANY_ITEMS' });
  expect(server.requests.filter(({ path }) => path !== '/search')).toEqual([]);
});

test.each<[string, Partial<NonNullable<HttpItems['find']>>, (request: SeenRequest) => unknown]>([
  ['parameter', { query: { after: '{{ cursor }}' } }, ({ query }) => query.get('after')],
  [
    'body',
    { method: 'POST', query: {}, body: '{ "after": {{ cursor | json }} }' },
    ({ body }) => JSON.parse(body).after,
  ],
])('the next page is asked for by a cursor in a %s', async (_, find, cursorIn) => {
  const link = `<${server.url}/search?query=a&page=2>; rel="next"`;
  replies.push({ headers: { link }, body: { cards: [], next: 'p2&x' } }, { body: { cards: [], next: 3 } });
  replies.push({ body: { cards: [carrying()], next: 'p4' } });
  expect(await deliver({ ...find, more: '/next' })).toMatchObject({ itemId: '5f2b6c1e00' });
  expect(server.requests.slice(0, 3).map(cursorIn)).toEqual([null, 'p2&x', '3']);
});

test.each<[Reply, object, string]>([
  [{ body: { cards: null } }, { isListOptional: true }, 'delivered'],
  [{ body: { cards: null } }, {}, 'later'],
  [{ body: { kind: 'cards' } }, { isListOptional: true }, 'delivered'],
  [{ body: { kind: 'cards' } }, {}, 'later'],
  [{ status: 204 }, { isListOptional: true }, 'delivered'],
  [{ status: 204 }, {}, 'later'],
  [{ body: '' }, { isListOptional: true }, 'later'],
])('the search that is answered by %j, with %j, makes the outcome %s', async (reply, find, status) => {
  replies.push(reply, { body: { id: '5f2b6c1e01' } });
  expect(await deliver(find)).toMatchObject({ status });
});

test('a next page below a url with a path is read, and a cursor that begins like a path is not', async () => {
  const next = (address: string) => ({ body: { cards: [], next: address } });
  replies.push(next('/api/search?page=2'), next('/9j+/Kw=='));
  expect(await deliver({ more: '/next' }, '/api')).toMatchObject({ reason: 'TOO_MANY_ITEMS' });
  expect(server.requests.map(({ path }) => path)).toEqual(['/api/search', '/api/search']);
});

test('of the items that the search returns, only one that carries the marker is used', async () => {
  replies.push({ body: { cards: [{ id: '5f2b6c1e00', desc: 'see lockstep-000000000000', dueComplete: false }] } });
  replies.push({ body: { id: '5f2b6c1e01' } });
  expect(await deliver()).toMatchObject({ status: 'delivered', itemId: '5f2b6c1e01' });
});

test.each<[object, RegExp]>([
  [{ marker: '/name' }, /its items hold the marker, but not at "\/name" \(targets.our-trello.items.find.marker\)/],
  [{ marker: '/note' }, /its items hold the marker, but not at "\/note"/],
  [{ marker: undefined, readMarker: '/name' }, /its items hold the marker, but not at "\/name" \(.*find.readMarker\)/],
])('with %j, which points elsewhere, no second item is created', async (given, detail) => {
  card = { ...carrying(), name: 'Task' };
  replies.push({ body: { cards: [card] } }, { body: { id: '5f2b6c1e01' } });
  expect(await deliver(given)).toMatchObject({
    status: 'later',
    reason: 'UNREADABLE',
    detail: expect.stringMatching(detail),
  });
});

test('nor if a search for the marker shows items without the member that should hold it', async () => {
  replies.push({ body: { cards: [{ id: '5f2b6c1e00' }] } }, { body: { id: '5f2b6c1e01' } });
  expect(await deliver()).toMatchObject(
    anOutcome('later', 'UNREADABLE', 'none of the items that it found has a value at "/desc"'),
  );
});

test.each([
  ['<p>About the invoice</p><p>MARKER</p>\n', '5f2b6c1e02'],
  ['<div>MARKER&nbsp;</div>', '5f2b6c1e02'],
  ['<p>MARKER</p><p>and more</p>', '5f2b6c1e03'],
])('a created item is found by its marker in %j, as %s', async (text, itemId) => {
  const desc = text.replace('MARKER', markerOf(deliveryOf()));
  replies.push({ body: { cards: [{ id: '5f2b6c1e02', desc, dueComplete: false }] } });
  replies.push({ body: { id: '5f2b6c1e03' } });
  expect(await deliver()).toMatchObject({ itemId });
});
