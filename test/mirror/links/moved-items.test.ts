/** An item that has another id now: its link and what is known of it move with it. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { keepHook } from '../../../src/mirror/inbound/inbox.ts';
import { keepItemLinks, moveItem } from '../../../src/mirror/links/item-links.ts';
import { listLinks } from '../../../src/mirror/links/list-links.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';
import type { FreshDatabase } from '../../support/database.ts';

let database: FreshDatabase;
beforeAll(async () => {
  database = await freshLedger();
});
beforeEach(() => database.pool.query('truncate ledger.links, ledger.item_reports, ledger.hooks_seen'));
afterAll(() => database.close());

const task = (id: string) => ({ kind: 'task', id }) as const;
const link = (id: string, itemId: string, formerId?: string) =>
  keepItemLinks(database.pool, 'issues', [{ scope: 'demo', task: task(id), itemId, runId: 'run-1', formerId }]);
const links = async () =>
  (await listLinks(database.pool, {}, 10)).links.map((each) => `${each.task} ${each.itemId}`).toSorted();
const reports = async () =>
  (await database.pool.query('select item_id, state, seen_completed from ledger.item_reports order by item_id')).rows;

test('a delivery that reached an item by its former id moves the link, and what was seen of the item', async () => {
  await link('1', 'a/old#1');
  await keepHook(database.pool, 'issues', [{ itemId: 'a/old#1', isCompleted: true, status: 'closed' }], 'call 1');
  await database.pool.query("update ledger.item_reports set state = 'ended', verdict = 'same', seen_completed = true");
  await link('1', 'b/new#7', 'a/old#1');
  expect(await links()).toEqual(['task:1 b/new#7']);
  expect(await reports()).toEqual([{ item_id: 'b/new#7', state: 'ended', seen_completed: true }]);
});

test('a call that names former ids moves the links before it is applied', async () => {
  await link('1', 'ENG-12');
  const moved = { itemId: 'OPS-3', isCompleted: true, status: 'Done', formerIds: ['ENG-12', 'ENG-1'] };
  await keepHook(database.pool, 'issues', [moved], 'call 1');
  expect(await links()).toEqual(['task:1 OPS-3']);
  expect(await reports()).toMatchObject([{ item_id: 'OPS-3', state: 'waiting' }]);
});

test('a link stays if another task is linked with the new id, and links of other targets stay', async () => {
  await link('1', 'ENG-12');
  await link('2', 'OPS-3');
  await moveItem(database.pool, 'issues', 'ENG-12', 'OPS-3');
  await moveItem(database.pool, 'others', 'OPS-3', 'OPS-4');
  expect(await links()).toEqual(['task:1 ENG-12', 'task:2 OPS-3']);
});
