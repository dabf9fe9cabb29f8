/** The effect of faults before and after the commit on a load, checked against the service's own commit log. */
import { expect, type TestContext, test, vi } from 'vitest';
import { type BehaviourOptions, FAULT_KINDS } from '../../src/service/testbed/behaviour.ts';
import type { Between } from '../support/harness/front-server.ts';
import { csvOf, eachOnce, type OrdersHarness, openOrdersHarness, ordersCsv } from '../support/harness/orders.ts';
import type { Reply } from '../support/http-server.ts';
import { byLength } from '../support/property-runs.ts';

vi.setConfig({ maxConcurrency: 7 }); // they wait more than they work

const ORDERS = 60;
const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 300ms, settle: 350ms, concurrency: 16 }';

/** Each test has a harness of its own, so that all run side by side. */
async function openFaultyService(
  { onTestFinished }: TestContext,
  behaviour: BehaviourOptions,
  account = QUICK,
): Promise<OrdersHarness> {
  const harness = await openOrdersHarness({ behaviour, account });
  onTestFinished(() => harness.close());
  return harness;
}

const together: readonly [string, BehaviourOptions][] = [
  ['reads and writes go wrong in every way', third({ rate: 0.15, onlyWrites: false })],
  ['lists lag behind', { ...third({}), readLagMs: 250 }],
];
const alone = FAULT_KINDS.map((kind): [string, BehaviourOptions] => [
  `every third write has: ${kind}`,
  third({ kinds: [kind] }),
]);

test.concurrent.for(byLength({ few: together, all: [...alone, ...together] }))(
  'every row becomes one order where %s',
  async ([_name, behaviour], context) => {
    const harness = await openFaultyService(context, behaviour);
    await harness.addNumberedCustomers(3);
    await harness.database.pool.query(`update service.customers set created_at = created_at - interval '1 minute'`);
    const run = await harness.load(ordersCsv(ORDERS));
    expect([run.status, run.error, await harness.tally(run)]).toEqual([
      'done',
      undefined,
      { in: ORDERS, created: ORDERS },
    ]);
    expect(await harness.orderCommits()).toEqual(eachOnce(ORDERS));
    expect(new Set((await harness.loaded(run)).map(({ recordId }) => recordId)).size).toBe(ORDERS);
  },
);

test.concurrent('every missing customer and every order is created once where all faults are on', async (context) => {
  const harness = await openFaultyService(context, third({ onlyWrites: false, rate: 0.2 }));
  const rows = Array.from({ length: ORDERS }, (_, i) => `O-${i + 1},new${i % 20}@example.com`);
  const run = await harness.load(csvOf('order_id,customer_email', rows), { createCustomers: true });
  expect([run.status, run.error, await harness.tally(run)]).toEqual([
    'done',
    undefined,
    { in: ORDERS, created: ORDERS },
  ]);
  expect(await harness.orderCommits()).toEqual(eachOnce(ORDERS));
  expect(await harness.customers()).toHaveLength(20);
});

test.concurrent('an order whose answer is lost is created once, though a cache keeps the lists', async (context) => {
  const harness = await openOrdersHarness({
    account: QUICK.replace('350ms', '1s'),
    behaviour: third({ kinds: ['reset-after'], rate: 1, limit: 5 }),
    hasFront: true,
  });
  context.onTestFinished(() => harness.close());
  await harness.addNumberedCustomers(3);
  harness.front.set(keptFor(3_000));
  const run = await harness.load(ordersCsv(10));
  expect([run.error, await harness.tally(run)]).toEqual([undefined, { in: 10, created: 10 }]);
  expect(await harness.orderCommits()).toEqual(eachOnce(10));
});

test.concurrent('an order that is gone at the last read is not called created', async (context) => {
  const harness = await openOrdersHarness({ account: QUICK, hasFront: true });
  context.onTestFinished(() => harness.close());
  await harness.addNumberedCustomers(3);
  let lost = 0;
  harness.front.set(async ({ path, body }, pass) => {
    // Twice: by the time that O-5 is sent again, O-1 is settled, and the read after the last time begins twice `settle` later.
    if (path.endsWith('/orders/create') && body.includes('"O-5"') && ++lost <= 2) throw new Error('lost on the way');
    if (path.endsWith('/orders/getall'))
      await harness.database.pool.query(`delete from service.orders where fields->>'order_id' = 'O-1' and exists (
        select from ledger.verdicts v join ledger.reads r on r.run_id = v.run_id and r.kind = 'order'
        where v.verdict = 'created' and v.at <= r.begun_at - interval '350 ms')`);
    return pass();
  });
  const run = await harness.load(ordersCsv(10));
  expect([run.error, (await harness.loaded(run))[0]]).toMatchObject([undefined, { verdict: 'review', reason: 'LOST' }]);
});

/** A cache that ignores what it is asked, and says how old its answers are. */
function keptFor(ms: number): Between {
  const kept = new Map<string, { readonly reply: Reply; readonly atMs: number }>();
  return async ({ method, path, query }, pass) => {
    const known = kept.get(`${path}?${query}`);
    const ageMs = performance.now() - (known?.atMs ?? Number.NEGATIVE_INFINITY);
    if (method === 'GET' && known && ageMs < ms)
      return { ...known.reply, headers: { ...known.reply.headers, age: String(Math.floor(ageMs / 1000)) } };
    const reply = await pass();
    if (method === 'GET') kept.set(`${path}?${query}`, { reply, atMs: performance.now() });
    return reply;
  };
}

test.concurrent('updates end as the file says, despite all faults', async (context) => {
  const harness = await openFaultyService(context, third({ rate: 0.15 })); // more, and one update may fail five times
  await harness.addNumberedCustomers(3);
  for (let n = 1; n <= 20; n++)
    await harness.call('orders.create', { order_id: `O-${n}`, client_id: (n % 3) + 1, amount: 7, status: 'old' });
  const run = await harness.load(ordersCsv(30), { existing: 'update' });
  expect([run.error, await harness.tally(run)]).toEqual([undefined, { in: 30, created: 10, updated: 20 }]);
  const said = (await harness.orders()).map(({ order_id, amount, status }) => `${order_id} ${amount} ${status}`);
  expect(said.sort()).toEqual(Array.from({ length: 30 }, (_, i) => `O-${i + 1} ${i + 1}.25 new`).sort());
  expect(await harness.orderCommits()).toEqual(eachOnce(30));
});

test('reports an order that the service commits later than promised as a duplicate, with both ids', async (context) => {
  const late = third({ kinds: ['late-commit'], lateMs: 2_500, limit: 1, rate: 1, operations: ['orders.create'] });
  const harness = await openFaultyService(context, { ...late, latencyMs: 80 }, QUICK.replace('350ms', '150ms'));
  await harness.addNumberedCustomers(1);
  const run = await harness.load(ordersCsv(1, { customers: 1 }));
  expect(run.status).toBe('done');
  await expect.poll(async () => (await harness.orderCommits()).get('O-1')).toBe(2);
  const again = await harness.load(ordersCsv(1, { customers: 1 }), { salt: 'again' });
  expect(await harness.loaded(again)).toMatchObject([{ verdict: 'review', reason: 'DUPLICATE' }]);
});

function third(more: Partial<NonNullable<BehaviourOptions['faults']>>): BehaviourOptions {
  return { faults: { seed: 7, rate: 0.33, kinds: [...FAULT_KINDS], lateMs: 150, ...more } };
}
