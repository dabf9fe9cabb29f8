import { expect, test } from 'vitest';
import type { Json } from '../../../src/client/call/json.ts';
import type { Beside } from '../../../src/client/lists/beside.ts';
import { readWholeList } from '../../../src/engine/account/whole-list.ts';
import { anAccount } from '../worker/an-account.ts';

/** A number means the order with that id. */
type Pages = (page: number | undefined, read: number, query: Query) => readonly Json[];

interface Query {
  readonly page?: number;
  readonly offset?: number;
}

/** Reads a list of orders from a service that answers pages so; `read` counts the reads. */
async function listFrom(pages: Pages, beside?: Beside) {
  const asked: (number | undefined)[] = [];
  const account = anAccount(async () => {
    throw new Error('lists are streamed');
  });
  const client = {
    ...account.client,
    stream: async (_operation: string, { query = {}, onRecords }: { query?: Query; onRecords: Keep }) => {
      asked.push(query.page);
      const records = pages(query.page, asked.length, query).map((item) =>
        typeof item === 'number' ? order(item) : item,
      );
      await onRecords(records);
      return { status: 'applied', httpStatus: 200, records: records.length, ...(beside && { beside }) };
    },
  };
  const ids = new Set<number>();
  const read = await readWholeList({ ...account, client } as unknown as typeof account, 'orders.getall', {
    lane: 'batch',
    signal: new AbortController().signal,
    onRecords: async (batch) => {
      for (const record of batch) ids.add(Number((record as { id: number }).id));
    },
  });
  return { ids, read, asked };
}

type Keep = (records: readonly Json[]) => Promise<void>;

const order = (id: number) => ({ id, order_id: `A-${id}` });
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
const slice = (of: readonly number[], from: number, size: number) => of.slice(from, from + size);

test.each([7, 12, 64, 100, 128])(
  'reads a list that comes in pages of %i to its end, newest or oldest first',
  async (size) => {
    for (const all of [upTo(size * 3 + 1), upTo(size * 3 + 1).reverse(), upTo(size + 1)]) {
      const zeroBased = await listFrom((page = 0) => slice(all, page * size, size));
      const oneBased = await listFrom((page = 1) => slice(all, (Math.max(1, page) - 1) * size, size));
      expect([zeroBased.ids.size, oneBased.ids.size]).toEqual([all.length, all.length]);
      expect([zeroBased.read.records, oneBased.read.records]).toEqual([undefined, undefined]);
    }
  },
);

test('a list without pages is complete, and is requested a second time only', async () => {
  const { read, asked } = await listFrom(() => upTo(64));
  expect([read.records, read.scan, asked]).toEqual([64, undefined, [undefined, 2]]);
});

test.each([
  ['a little', 20, 1],
  ['to several times its length', 1, 4],
])('a complete list that grows %s during the read is not treated as pages', async (_how, before, each) => {
  const { read } = await listFrom((_page, nth) => upTo(before + nth * each));
  expect([read.records, read.scan]).toEqual([before + each, undefined]);
});

test('a complete list of one record that gains two others is not treated as pages', async () => {
  const { read } = await listFrom((_page, nth) => (nth === 1 ? [1] : [1, 2, 3]));
  expect([read.records, read.scan]).toEqual([1, undefined]);
});

test('an empty list needs no further request', async () => {
  expect((await listFrom(() => [])).asked).toEqual([undefined]);
});

test('reads a list again that shows a record twice, and it is complete', async () => {
  const { read, asked } = await listFrom(() => [1, 2, 3, 2]);
  expect([read.records, asked]).toEqual([4, [undefined, undefined, 2]]);
});

test('two records with one id are one if only one of them has its numbers as texts', async () => {
  const [number, text] = [17, '17'].map((client_id) => ({ ...order(2), client_id }));
  const { read } = await listFrom(() => [1, number ?? 2, 3, text ?? 2]);
  expect(read.records).toBe(4);
});

test('a record that changed while the list was written is no conflict, and two records with one id are one', async () => {
  const changed = { ...order(2), order_id: 'B-2' };
  const { read } = await listFrom((_page, nth) => (nth === 1 ? [1, 2, 3, changed] : [1, 3, changed]));
  expect(read.records).toBe(3);
  await expect(listFrom(() => [1, 2, 3, changed])).rejects.toMatchObject({ code: 'ID_NOT_UNIQUE' });
});

test('reads a list to its end that ignores page numbers and continues by an offset without saying so', async () => {
  const { ids, read } = await listFrom((_page, _read, { offset = 0 }) => slice(upTo(120), offset, 50));
  expect([ids.size, read.records, read.scan?.proof]).toEqual([120, undefined, 'proven']);
});

test.each<[string, Beside]>([
  ['names the number of its pages', { pages: 3 }],
  ['counts the records of the page', { total: 50, next: {} }],
  ['names a next page that is the first one again', { total: 50, next: { page: 2 } }],
])('a list of which only the first page can be read is unproven: its answer %s', async (_what, beside) => {
  const { read } = await listFrom(() => upTo(50), beside);
  expect([read.scan?.proof, read.scan?.reasons.join()]).toEqual([
    'unproven',
    expect.stringContaining('dialect.pageParam'),
  ]);
});
