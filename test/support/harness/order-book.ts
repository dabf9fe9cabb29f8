/** Loads at a small service in memory that shows orders and customers otherwise than it stores them. */
import type { Run } from '../../../src/engine/ledger/runs.ts';
import { type OrderBook, type OrderBookOptions, startOrderBook } from '../order-book.ts';
import { csvOf, type OrdersHarness, openOrdersHarness } from './orders.ts';

export interface BookHarness extends OrdersHarness {
  readonly book: OrderBook;
  /** Begins with one customer, unless the options say otherwise. */
  begin(options: OrderBookOptions): void;
  /** The verdict of each row, with its reason: `review LIST_PARTIAL`. */
  fates(run: Run): Promise<readonly string[]>;
}

export const SETTLE_MS = 100;

/** A file of rows such as `A,1,5,new`. */
export const orders = (...rows: readonly string[]): string => csvOf('order_id,client_id,amount,status', rows);

export async function openBookHarness({ settleMs = SETTLE_MS } = {}): Promise<BookHarness> {
  const book = await startOrderBook();
  const account = `budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: ${settleMs}ms }`;
  const harness = await openOrdersHarness({ account, serviceUrl: book.url });
  return {
    ...harness,
    book,
    begin: (options) => book.begin({ customers: [{ full_name: 'Ann', email: 'ann@example.com' }], ...options }),
    fates: async (run) =>
      (await harness.loaded(run)).map(({ verdict, reason }) => [verdict, reason].filter(Boolean).join(' ')),
    async close() {
      await harness.close();
      await book.close();
    },
  };
}
