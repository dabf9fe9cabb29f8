/** Whole runs on a database whose clock is set while they wait for what they have sent. */
import { expect, type TestContext, test, vi } from 'vitest';
import { freshDatabase } from '../support/database.ts';
import { eachOnce, openOrdersBed, ordersCsv } from '../support/orders-bed.ts';
import { settableClock } from '../support/settable-clock.ts';

const HOUR_MS = 60 * 60 * 1000;
const ORDERS = 20;
/** Every order is committed 1.5 s after its answer was given up, well within the time that the service is given. */
const account = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 300ms, settle: 3s, concurrency: 16 }';
const late = { kinds: ['late-commit'], rate: 1, limit: ORDERS, lateMs: 1_500, seed: 3 } as const;

async function openBed({ onTestFinished }: TestContext) {
  const database = await freshDatabase();
  const clock = await settableClock(database);
  const behaviour = { faults: { ...late, kinds: [...late.kinds], operations: ['orders.create' as const] } };
  const bed = await openOrdersBed({ behaviour, account, database });
  onTestFinished(() => bed.close());
  return { bed, clock };
}

test.concurrent.for([
  ['forward by an hour', HOUR_MS],
  ['back by an hour', -HOUR_MS],
] as const)(
  'orders that may have been sent are created once, and soon, where the clock is set %s',
  async ([, ms], context) => {
    const { bed, clock } = await openBed(context);
    await bed.addNumberedCustomers(3);
    const loading = bed.load(ordersCsv(ORDERS));
    const unknown = `select count(*)::int as n from ledger.rows where state = 'unknown'`;
    await vi.waitUntil(async () => (await bed.database.pool.query(unknown)).rows[0]?.n === ORDERS, {
      timeout: 20_000,
      interval: 10,
    });
    await clock.setBy(ms);
    const run = await loading;
    expect([run.status, run.error]).toEqual(['done', undefined]);
    expect(await bed.tally(run)).toEqual({ in: ORDERS, created: ORDERS });
    expect(await bed.orderCommits()).toEqual(eachOnce(ORDERS));
  },
);
