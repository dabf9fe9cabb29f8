/** A small service in memory for customers and orders that shows them otherwise than it stores them. */
import { type Reply, type SeenRequest, startHttpServer, type TestServer } from './http-server.ts';

export type BookRecord = Record<string, unknown> & { readonly id: number };

export interface OrderBookOptions {
  readonly customers?: readonly Record<string, unknown>[];
  /** Records as a list or a get shows them; undefined: a list leaves the record out. Default: as they are stored. */
  readonly show?: (record: BookRecord, how: 'list' | 'get') => Record<string, unknown> | undefined;
  /** Creates answer with the record. Default: with nothing. */
  readonly answersRecords?: boolean;
  /** The answer to a create after it was stored, instead of the usual one. */
  readonly afterCreate?: (record: BookRecord) => Reply | undefined;
  /** Creates that are refused, and not stored. Default: none. */
  readonly refuses?: (sent: Readonly<Record<string, unknown>>) => boolean;
  /** The HTTP status of these answers. Default: 422. */
  readonly refusedAs?: number;
  /** What an update does with members that it does not have. Default: keep them. */
  readonly updates?: 'keep' | 'empty' | 'ignore';
}

export interface OrderBook extends TestServer {
  readonly customers: BookRecord[];
  readonly orders: BookRecord[];
  begin(options: OrderBookOptions): void;
  /** The bodies of the updates since `begin`. */
  updates(): readonly Record<string, unknown>[];
}

export async function startOrderBook(): Promise<OrderBook> {
  const books: Record<string, BookRecord[]> = { customers: [], orders: [] };
  let options: OrderBookOptions = {};
  let updates: Record<string, unknown>[] = [];
  let lastId = 0;
  const show = (record: BookRecord, how: 'list' | 'get') => (options.show ? options.show(record, how) : record);
  const ok = (content: unknown): Reply => ({ body: { status: 'success', content, message: 'OK' } });

  const server = await startHttpServer(({ path, query, body }: SeenRequest): Reply => {
    const [, kind = '', what = ''] = /\/v1\/(\w+)\/(\w+)$/.exec(path) ?? [];
    const book = books[kind];
    const sent: Record<string, unknown> = body === '' ? {} : JSON.parse(body);
    const wanted = String(query.get('id') ?? sent.id);
    const at = book?.findIndex((record) => [record.id, show(record, 'get')?.id].map(String).includes(wanted)) ?? -1;
    const one = book?.[at];
    if (book && what === 'getall') return ok(book.flatMap((record) => show(record, 'list') ?? []));
    if (book && what === 'create' && options.refuses?.(sent))
      return { status: options.refusedAs ?? 422, body: { status: 'error' } };
    if (book && what === 'create') {
      const record = { ...sent, id: ++lastId };
      book.push(record);
      return options.afterCreate?.(record) ?? (options.answersRecords ? ok(record) : { body: '' });
    }
    if (!book || !one) return { status: 404, body: { status: 'error', message: 'there is none' } };
    if (what === 'get') return ok(show(one, 'get'));
    updates.push(sent);
    if (options.updates !== 'ignore') book[at] = { ...(options.updates !== 'empty' && one), ...sent, id: one.id };
    return ok(null);
  });
  return {
    ...server,
    customers: books.customers ?? [],
    orders: books.orders ?? [],
    begin(how) {
      options = how;
      updates = [];
      lastId = 0;
      for (const book of Object.values(books)) book.length = 0;
      for (const customer of how.customers ?? []) books.customers?.push({ ...customer, id: ++lastId });
    },
    updates: () => updates,
  };
}
