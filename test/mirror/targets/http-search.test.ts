/** The search for an item that was created before, by its marker. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Target } from '../../../src/contract/target.ts';
import { openHttp } from '../../../src/mirror/targets/http/http.ts';
import { markerOf } from '../../../src/mirror/targets/items/marker.ts';
import type { HttpItems } from '../../../src/settings/target-http.ts';
import { type Reply, startHttpServer, type TestServer } from '../../support/http-server.ts';
import { context, deliveryOf, needsOf } from '../../support/item-vendor.ts';
import { exampleAt } from '../../support/template-vendors.ts';

let server: TestServer;
let replies: Reply[];
let target: Target | undefined;

beforeEach(async () => {
  replies = [];
  server = await startHttpServer(() => replies.shift() ?? {});
});

afterEach(async () => {
  await target?.close();
  target = undefined;
  await server.close();
});

function deliver(given: Partial<NonNullable<HttpItems['find']>> = {}) {
  const settings = exampleAt('our-trello');
  const { items } = settings;
  const find = items?.find && { ...items.find, ...given };
  target ??= openHttp({ ...settings, items: items && { ...items, find } }, needsOf(server));
  return target.deliver(deliveryOf(), context());
}

test('no item is created while the search shows only a part of the items, without the marker', async () => {
  const desc = markerOf(deliveryOf());
  replies.push({ body: { cards: [], next: 'page-2' } });
  expect(await deliver({ more: '/next' })).toMatchObject({
    status: 'refused',
    reason: 'TOO_MANY_ITEMS',
    detail: expect.stringContaining('let targets.our-trello.items.find search for the marker'),
  });
  replies.push({ body: { cards: [{ id: '5f2b6c1e00', desc, dueComplete: false }], next: 'page-2' } });
  expect(await deliver({ more: '/next' })).toMatchObject({ itemId: '5f2b6c1e00' });
  replies.push({ body: { cards: [], next: null } }, { body: { id: '5f2b6c1e01' } }, { body: { dueComplete: false } });
  expect(await deliver({ more: '/next' })).toMatchObject({ status: 'delivered', itemId: '5f2b6c1e01' });
});

test('of the items that the search returns, only one that carries the marker is used', async () => {
  replies.push({ body: { cards: [{ id: '5f2b6c1e00', desc: 'see lockstep-000000000000', dueComplete: false }] } });
  replies.push({ body: { id: '5f2b6c1e01' } }, { body: { dueComplete: false } });
  expect(await deliver()).toMatchObject({ status: 'delivered', itemId: '5f2b6c1e01' });
});

test.each([
  ['<p>About the invoice</p><p>MARKER</p>\n', '5f2b6c1e02'],
  ['<div>MARKER&nbsp;</div>', '5f2b6c1e02'],
  ['<p>MARKER</p><p>and more</p>', '5f2b6c1e03'],
])('a created item is found by its marker in %j, as %s', async (text, itemId) => {
  const desc = text.replace('MARKER', markerOf(deliveryOf()));
  replies.push({ body: { cards: [{ id: '5f2b6c1e02', desc, dueComplete: false }] } });
  replies.push({ body: { id: '5f2b6c1e03' } }, { body: { dueComplete: false } });
  expect(await deliver()).toMatchObject({ itemId });
});
