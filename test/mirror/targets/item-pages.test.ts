import { expect, test } from 'vitest';
import {
  collectInPages,
  findInPages,
  isInPages,
  newestFirst,
  type Page,
  type Pages,
  readChanges,
  readWhole,
} from '../../../src/mirror/targets/items/item-pages.ts';

const timeOf = ({ createdAt }: { readonly createdAt: Date }) => createdAt;
const REMEDY = { what: 'tags', remedy: 'delete some' };

/** Pages of two numbers each, and the cursors that were asked for. */
function listOf(numbers: readonly number[], most = 9) {
  const asked: (string | undefined)[] = [];
  const pages: Pages<{ readonly itemId: string; readonly createdAt: Date }> = {
    most,
    async read(cursor) {
      asked.push(cursor);
      const from = Number(cursor ?? 0);
      const items = numbers.slice(from, from + 2).map((n) => ({ itemId: String(n), createdAt: new Date(n) }));
      const next = from + 2 < numbers.length ? String(from + 2) : null;
      return { status: 'ok', value: { items, next } };
    },
  };
  return { pages, asked };
}

test('reads no page after the one that has the item', async () => {
  const { pages, asked } = listOf([1, 2, 3, 4, 5]);
  const found = await findInPages(pages, ({ itemId }) => itemId === '4');
  expect(found).toMatchObject({ status: 'ok', value: { found: { itemId: '4' } } });
  expect(asked).toEqual([undefined, '2']);
});

test.for([
  { most: 3, isWhole: true },
  { most: 2, isWhole: false },
])(
  'says whether an item is absent from the whole list, if at most $most of its 3 pages are read',
  async ({ most, isWhole }) => {
    const { pages } = listOf([1, 2, 3, 4, 5], most);
    expect(await findInPages(pages, () => false)).toEqual({ status: 'ok', value: { found: undefined, isWhole } });
    expect(await isInPages(pages, () => false)).toEqual({ status: 'ok', value: false });
  },
);

test('reads a whole list, and refuses one that has more pages', async () => {
  const read = await readWhole(listOf([1, 2, 3], 2).pages, REMEDY);
  expect(read.status === 'ok' && read.value.map(({ itemId }) => itemId)).toEqual(['1', '2', '3']);
  expect(await readWhole(listOf([1, 2, 3], 1).pages, REMEDY)).toEqual({
    status: 'refused',
    reason: 'TOO_MANY_ITEMS',
    detail: 'the list of tags has more than 1 pages: delete some',
  });
});

test('collects wanted items, and reads at most one page for every ten of them', async () => {
  const { pages, asked } = listOf([1, 2, 3, 4, 5, 6]);
  const wanted = ['2', '3', ...Array.from({ length: 18 }, (_, n) => `missing-${n}`)];
  const collected = await collectInPages(pages, wanted);
  expect(collected).toMatchObject({ value: { items: [{ itemId: '2' }, { itemId: '3' }], isWhole: false } });
  expect(collected.status === 'ok' && collected.value.left.size).toBe(18);
  expect(asked).toEqual([undefined, '2']);
});

test('ends a list that shows the newest first at the page that reaches back far enough', async () => {
  const { pages, asked } = listOf([9, 8, 7, 6, 5, 4]);
  await readWhole(newestFirst(pages, new Date(7), timeOf), REMEDY);
  expect(asked).toEqual([undefined, '2']);
});

test('passes a failed page on', async () => {
  const failure = { status: 'later', reason: 'UNREACHABLE', detail: 'no answer' } as const;
  const pages = newestFirst({ most: 2, read: async () => failure }, new Date(0), timeOf);
  expect(await readWhole(pages, REMEDY)).toBe(failure);
});

type Change = { readonly itemId: string; readonly changedAt?: Date };

function changes(...pages: readonly (readonly number[])[]) {
  const asked: (readonly [number, string | undefined])[] = [];
  const read = async (since: Date, cursor: string | undefined) => {
    asked.push([since.getTime(), cursor]);
    const page = pages[asked.length - 1];
    if (page === undefined) return { status: 'later', reason: 'LIMITED', detail: 'slow down' } as const;
    const items = page.map((n) => ({ itemId: String(n), changedAt: new Date(n) }));
    return { status: 'ok', value: { items, next: 'next' } satisfies Page<Change> } as const;
  };
  return { asked, changed: readChanges(read, new Date(5), ({ itemId }) => itemId) };
}

test('keeps the changes that were read before a page failed, and the time up to which they were read', async () => {
  const { changed, asked } = changes([6, 7], [7, 8]);
  expect(await changed).toMatchObject({ status: 'ok', value: { items: { length: 3 }, until: new Date(8) } });
  expect(asked).toEqual([
    [5, undefined],
    [7, undefined],
    [8, undefined],
  ]);
});

test('keeps the changes that were read before the list showed a page again', async () => {
  const { changed } = changes([6, 7], [7], [7]);
  expect(await changed).toMatchObject({ status: 'ok', value: { items: { length: 2 }, until: new Date(7) } });
});

test('passes a failure on if no page was read, or all changes so far have the time of the beginning', async () => {
  expect(await changes().changed).toMatchObject({ reason: 'LIMITED' });
  const { changed, asked } = changes([5]);
  expect(await changed).toMatchObject({ reason: 'LIMITED' });
  expect(asked).toEqual([
    [5, undefined],
    [5, 'next'],
  ]);
});

test.each([
  [[5], [5]],
  [[], []],
])('ends a list of changes that shows a page again: %j and %j', async (...pages) => {
  expect(await changes(...pages).changed).toMatchObject({ status: 'refused', reason: 'LIST_ENDLESS' });
});
