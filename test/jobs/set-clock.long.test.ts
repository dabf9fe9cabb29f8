/** Whole runs on a database whose clock is set while they wait for unknown outcomes. */
import { expect, type TestContext, test, vi } from 'vitest';
import { emptyDatabase } from '../support/database.ts';
import { eachOnce, openOrdersHarness, ordersCsv } from '../support/harness/orders.ts';
import { PATIENT } from '../support/patient.ts';
import { settableClock } from '../support/settable-clock.ts';

const HOUR_MS = 60 * 60 * 1000;
const ORDERS = 20;
/** Every order is committed 1.5 s after its answer was given up, well within the settle time. */
const account = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 300ms, settle: 3s, concurrency: 16 }';
const late = { kinds: ['late-commit'], rate: 1, limit: ORDERS, lateMs: 1_500, seed: 3 } as const;

async function openWithClock({ onTestFinished }: TestContext) {
  const database = await emptyDatabase();
  const clock = await settableClock(database);
  const behaviour = { faults: { ...late, kinds: [...late.kinds], operations: ['orders.create' as const] } };
  const harness = await openOrdersHarness({ behaviour, account, database });
  onTestFinished(() => harness.close());
  return { harness, clock };
}

test.concurrent.for([
  ['forward by an hour', HOUR_MS],
  ['back by an hour', -HOUR_MS],
] as const)(
  'orders that may have been sent are created once, and soon, where the clock is set %s',
  async ([, ms], context) => {
    const { harness, clock } = await openWithClock(context);
    await harness.addNumberedCustomers(3);
    const loading = harness.load(ordersCsv(ORDERS));
    const unknown = `select count(*)::int as n from ledger.rows where state = 'unknown'`;
    await vi.waitUntil(async () => (await harness.database.pool.query(unknown)).rows[0]?.n === ORDERS, PATIENT);
    await clock.setBy(ms);
    const run = await loading;
    expect([run.status, run.error]).toEqual(['done', undefined]);
    expect(await harness.tally(run)).toEqual({ in: ORDERS, created: ORDERS });
    expect(await harness.orderCommits()).toEqual(eachOnce(ORDERS));
  },
);
