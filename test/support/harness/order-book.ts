/** Loads at a small service in memory that shows orders and customers otherwise than it stores them. */
import type { Run } from '../../../src/engine/ledger/runs.ts';
import { type OrderBook, startOrderBook } from '../order-book.ts';
import { type OrdersHarness, openOrdersHarness } from './orders.ts';

export interface BookHarness extends OrdersHarness {
  readonly book: OrderBook;
  /** The verdict of each row, with its reason: `review LIST_PARTIAL`. */
  fates(run: Run): Promise<readonly string[]>;
}

export const SETTLE_MS = 100;

export async function openBookHarness({ settleMs = SETTLE_MS } = {}): Promise<BookHarness> {
  const book = await startOrderBook();
  const account = `budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: ${settleMs}ms }`;
  const harness = await openOrdersHarness({ account, serviceUrl: book.url });
  return {
    ...harness,
    book,
    fates: async (run) =>
      (await harness.loaded(run)).map(({ verdict, reason }) => [verdict, reason].filter(Boolean).join(' ')),
    async close() {
      await harness.close();
      await book.close();
    },
  };
}
