/** A page of a long list costs what it costs in a short one. */
import { expect, onTestFinished, test } from 'vitest';
import { keepOrders, type SeenOrder } from '../../../../src/engine/ledger/matching/order-records.ts';
import { mostRows } from '../../../support/statement-work.ts';
import { aRun, freshLedger } from '../fresh-ledger.ts';

const STORED = 4_000;
const PAGE = 50;

test('storing a page of orders does not go through the orders stored before', async () => {
  const database = await freshLedger();
  onTestFinished(() => database.close());
  // Postgres has statistics of another run, and expects no rows of this one.
  await keepOrders(database.pool, { run: await aRun(database), pass: 0, isAudit: false }, orders(0, STORED));
  await database.pool.query('analyze');
  const keeping = { run: await aRun(database), pass: 1, isAudit: false };
  await keepOrders(database.pool, keeping, orders(0, STORED));
  const most = await mostRows(database, (watched) => keepOrders(watched, keeping, orders(STORED - 10, PAGE)));
  expect(most).toBeLessThan(2 * PAGE);
  const stored = await database.pool.query('select count(*)::int as n from ledger.records where run_id = $1', [
    keeping.run.id,
  ]);
  expect(stored.rows).toEqual([{ n: STORED + PAGE - 10 }]);
});

function orders(from: number, count: number): readonly SeenOrder[] {
  return Array.from({ length: count }, (_, i) => ({
    recordId: String(from + i),
    clientId: '1',
    label: `A-${from + i}`,
    isNumber: false,
    fields: {},
    isOld: false,
  }));
}
