/** An item that has another id now: its link and what is known of it move with it. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { keepHook } from '../../../src/mirror/inbound/inbox.ts';
import { keepItemLinks, moveItem } from '../../../src/mirror/links/item-links.ts';
import { listLinks } from '../../../src/mirror/links/list-links.ts';
import { creationLog } from '../../../src/mirror/outbox/creations.ts';
import { commentOnce } from '../../../src/mirror/targets/items/item-comments.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';
import { deliveryOf } from '../../support/item-vendor.ts';

const database = await freshLedger();
beforeEach(() =>
  database.pool.query('truncate ledger.links, ledger.item_reports, ledger.hooks_seen, ledger.creations'),
);
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

/** The item shows its comments by their markers. */
function commented(marked: string[], isAnswerLost = () => false) {
  const items = {
    hasComment: async (_item: unknown, marker: string) => ({ status: 'ok', value: marked.includes(marker) }) as const,
    async addComment(_item: unknown, _text: string, marker: string) {
      marked.push(marker);
      if (isAnswerLost()) throw new Error('killed');
      return { status: 'ok', value: undefined } as const;
    },
  };
  const needs = { log: creationLog(database.pool, 'issues'), settleMs: 60_000 };
  return (linkedWith: string, itemId: string) =>
    commentOnce(items, { itemId }, deliveryOf({}, { itemId: linkedWith }), { about: 'link', text: 'Hello' }, needs);
}

test('an item that has moved has its comment: it gets no second one', async () => {
  const marked: string[] = [];
  const comment = commented(marked);
  await link('12', 'ENG-12');
  expect(await comment('ENG-12', 'ENG-12')).toEqual({ status: 'ok', value: true });
  expect(await comment('ENG-12', 'OPS-3')).toEqual({ status: 'ok', value: false }); // it moved since the link was read
  await moveItem(database.pool, 'issues', 'ENG-12', 'OPS-3');
  expect(await comment('OPS-3', 'OPS-3')).toEqual({ status: 'ok', value: false });
  await moveItem(database.pool, 'issues', 'OPS-3', 'ENG-40');
  expect(await comment('ENG-40', 'ENG-40')).toEqual({ status: 'ok', value: false });
  expect(marked).toHaveLength(1);
});

test('a comment whose answer was lost is found though its item has moved since', async () => {
  const marked: string[] = [];
  const comment = commented(marked, () => marked.length === 1);
  await link('12', 'ENG-12');
  await expect(comment('ENG-12', 'ENG-12')).rejects.toThrow('killed');
  await moveItem(database.pool, 'issues', 'ENG-12', 'OPS-3');
  expect(await comment('OPS-3', 'OPS-3')).toEqual({ status: 'ok', value: false });
  expect(marked).toHaveLength(1);
});
