/** A service that turns an order_id into a number, and one that lists orders under an unknown name. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { reopenLoad } from '../../src/syncs/orders/reopen-load.ts';
import { csvOf, openOrdersHarness } from '../support/harness/orders.ts';

const FAULTS = { seed: 3, rate: 0.3, kinds: ['reset-after', '5xx-after', 'reset-before'] as const, onlyWrites: true };

const account = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 500ms, settle: 600ms }';
const harness = await openOrdersHarness({
  account,
  behaviour: { faults: { ...FAULTS, kinds: [...FAULTS.kinds] } },
  hasFront: true,
});
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(2);
});
afterAll(() => harness.close());

const CSV = csvOf(
  'order_id,client_id,amount',
  Array.from({ length: 20 }, (_, n) => `000${n + 1},${(n % 2) + 1},${n}.50`),
);

/** Orders are shown as `change` returns them. */
function listing(change: (order: Record<string, unknown>) => unknown): void {
  harness.front.set(async (request, pass) => {
    const reply = await pass();
    if (!/\/orders\/get(all)?$/.test(request.path) || reply.status !== 200) return reply;
    const answer = JSON.parse(String(reply.body));
    const { content } = answer;
    return {
      ...reply,
      body: JSON.stringify({ ...answer, content: Array.isArray(content) ? content.map(change) : change(content) }),
    };
  });
}

test('leading zeros of an order_id that the service turns into a number do not make another order', async () => {
  listing((order) => ({ ...order, order_id: Number(order.order_id) }));
  const run = await harness.load(CSV);
  expect(await harness.tally(run)).toEqual({ in: 20, created: 20 });
  const again = await harness.load(CSV, { salt: 'again' });
  expect(await harness.tally(again)).toEqual({ in: 20, existing: 20 });
  expect(await harness.orders()).toHaveLength(20);
});

test('never sends an order again that the service accepted and its list does not show: neither a retry nor another load', async () => {
  listing((order) => ({ ...order, order_id: `No. ${order.order_id}` }));
  const run = await harness.load(CSV);
  const sent = (await harness.orders()).length;
  expect(await harness.tally(run)).toEqual({ in: 20, review: 20 });
  expect(await reopenLoad(harness.database.pool, run.id)).toBe(0);
  expect(await harness.tally(await harness.load(CSV, { salt: 'again' }))).toEqual({ in: 20, review: 20 });
  expect(await harness.orders()).toHaveLength(sent);
});
