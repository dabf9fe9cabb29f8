/** A service that makes a number of an order_id, and one that lists orders under a name nobody knows. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { reopenLoad } from '../../src/orders/reopen.ts';
import { type FrontServer, startFrontServer } from '../support/front-server.ts';
import { csvOf, type OrdersBed, openOrdersBed } from '../support/orders-bed.ts';

const FAULTS = { seed: 3, rate: 0.3, kinds: ['reset-after', '5xx-after', 'reset-before'] as const, onlyWrites: true };

let bed: OrdersBed;
let front: FrontServer;
beforeAll(async () => {
  front = await startFrontServer();
  const account = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 500ms, settle: 600ms }';
  bed = await openOrdersBed({
    account,
    behaviour: { faults: { ...FAULTS, kinds: [...FAULTS.kinds] } },
    serviceUrl: front.url,
  });
  front.passTo(bed.service.url);
});
beforeEach(async () => {
  await bed.reset();
  await bed.addNumberedCustomers(2);
});
afterAll(async () => {
  await bed.close();
  await front.close();
});

const CSV = csvOf(
  'order_id,client_id,amount',
  Array.from({ length: 20 }, (_, n) => `000${n + 1},${(n % 2) + 1},${n}.50`),
);

/** Orders are listed with what `change` makes of them. */
function listing(change: (order: Record<string, unknown>) => unknown): void {
  front.set(async (request, pass) => {
    const reply = await pass();
    if (!request.path.endsWith('/orders/getall') || reply.status !== 200) return reply;
    const answer = JSON.parse(String(reply.body));
    return { ...reply, body: JSON.stringify({ ...answer, content: answer.content.map(change) }) };
  });
}

test('zeros before an order_id that the service makes a number of are no other order', async () => {
  listing((order) => ({ ...order, order_id: Number(order.order_id) }));
  const run = await bed.load(CSV);
  expect(await bed.tally(run)).toEqual({ in: 20, created: 20 });
  const again = await bed.load(CSV, { salt: 'again' });
  expect(await bed.tally(again)).toEqual({ in: 20, existing: 20 });
  expect(await bed.orders()).toHaveLength(20);
});

test('what the service took and its list does not show is never sent again: not by a retry, not by another load', async () => {
  listing((order) => ({ ...order, order_id: `No. ${order.order_id}` }));
  const run = await bed.load(CSV);
  const sent = (await bed.orders()).length;
  expect(await bed.tally(run)).toEqual({ in: 20, review: 20 });
  expect(await reopenLoad(bed.database.pool, run.id)).toBe(0);
  expect(await bed.tally(await bed.load(CSV, { salt: 'again' }))).toEqual({ in: 20, review: 20 });
  expect(await bed.orders()).toHaveLength(sent);
});
