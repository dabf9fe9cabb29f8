/** Cases of settling orders. General rules: settle-orders-property.test.ts. */
import { afterAll, expect, test } from 'vitest';
import { settleOrders } from '../../../../src/engine/ledger/matching/settle-orders.ts';
import { MAX_SENDS } from '../../../../src/engine/ledger/rows.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import { aRun, freshLedger, putRows, rowsOf } from '../fresh-ledger.ts';
import { putRecords } from './contact-worlds.ts';
import { type Columns, fateOf } from './load-worlds.ts';

const PASS = 2;
const SETTLE_MS = 60_000;
const NOW = Date.now();
const [JUST_NOW, LONG_AGO] = [new Date(NOW - 1_000), new Date(NOW - 600_000)];

const database = await freshLedger();
afterAll(() => database.close());

interface Scene {
  readonly name: string;
  /** Orders A, B, … of customer 7, created once and acknowledged long ago where they do not say otherwise. */
  readonly rows: readonly Columns[];
  /** Of customer 7, seen first by this read where they do not say otherwise. */
  readonly orders: readonly Columns[];
  readonly become: readonly string[];
}

const content = { amount: '12', status: 'paid' };
const unknown = { state: 'unknown' };
const created = { state: 'settled', verdict: 'created', record_id: '5' };
const updated = { action: 'update', record_id: '5' };
const a = { record_id: '5', label: 'A' };

const scenes: readonly Scene[] = [
  {
    name: 'a row has its key’s order, whatever the letters of its status and whatever it does not say',
    rows: [{}, unknown],
    orders: [
      { ...a, fields: { amount: '12', status: 'PAID', description: 'of the service' } },
      { record_id: '9', label: 'B', fields: {} },
    ],
    become: ['settled created 5', 'settled created 9'],
  },
  {
    name: 'a new order with the same order_id and another customer may be the one that was sent',
    rows: [unknown],
    orders: [{ ...a, client_id: '8' }],
    become: ['settled review NOT_RECOGNISED'],
  },
  {
    name: 'an order of another customer with the same order_id that was there before is another order',
    rows: [unknown],
    orders: [{ ...a, client_id: '8', first_pass: 0 }],
    become: ['ready'],
  },
  {
    name: 'an order that says otherwise is there, and for a person',
    rows: [{}],
    orders: [{ ...a, fields: { amount: '120', status: 'open' } }],
    become: ['settled review CONTENT_DIFFERS 5'],
  },
  {
    name: 'what an earlier read saw and this one did not is not there',
    rows: [unknown],
    orders: [{ ...a, last_pass: 1 }],
    become: ['ready'],
  },
  {
    name: 'an order that an earlier read saw and this one did not is lost, and the list proves nothing for other rows',
    rows: [created, unknown],
    orders: [{ ...a, first_pass: 1, last_pass: 1 }],
    become: ['settled review LOST 5', 'settled review NOT_IN_LIST'],
  },
  {
    name: 'a list may lag behind what an earlier read saw a moment ago',
    rows: [{ ...created, since: JUST_NOW }, unknown],
    orders: [{ ...a, first_pass: 1, last_pass: 1 }],
    become: ['settled created 5', 'ready'],
  },
  {
    name: 'a lost order that a later read shows is there',
    rows: [{ ...created, verdict: 'review', reason: 'LOST' }],
    orders: [{ ...a, first_pass: 1 }],
    become: ['settled created 5'],
  },
  {
    name: 'before the settle time is over nothing is sent again, and nothing given up',
    rows: [
      { ...unknown, since: JUST_NOW },
      { since: JUST_NOW, sends: MAX_SENDS },
    ],
    orders: [],
    become: ['unknown', 'acked'],
  },
  {
    name: 'what may be committed at the end of the settle time and shown a settle time later is not sent again before',
    rows: [{ ...unknown, since: new Date(NOW - 2 * SETTLE_MS + 1_000) }],
    orders: [],
    become: ['unknown'],
  },
  {
    name: 'a row that was sent as often as may be is for a person',
    rows: [
      { ...unknown, sends: MAX_SENDS },
      { ...unknown, sends: MAX_SENDS - 1 },
    ],
    orders: [],
    become: ['settled review GAVE_UP', 'ready'],
  },
  {
    name: 'what was given up and comes after all is there, and told so',
    rows: [{ state: 'settled', verdict: 'review', reason: 'GAVE_UP' }],
    orders: [a],
    become: ['settled created 5'],
  },
  {
    name: 'a list that shows nothing of what the service took shows nothing of the unknown outcomes either',
    rows: [{}, unknown],
    orders: [],
    become: ['settled review NOT_IN_LIST', 'settled review NOT_IN_LIST'],
  },
  {
    name: 'an acknowledged order that the list does not show is for a person, and the list proves nothing for other rows',
    rows: [{}, {}, unknown],
    orders: [a],
    become: ['settled created 5', 'settled review NOT_IN_LIST', 'settled review NOT_IN_LIST'],
  },
  {
    name: 'an unknown outcome beside orders that are all there is sent again',
    rows: [{}, unknown],
    orders: [a],
    become: ['settled created 5', 'ready'],
  },
  {
    name: 'a new order of the same customer may be the row’s own, whether it was acknowledged or not',
    rows: [{}, {}, unknown, { ...unknown, client_id: '8' }],
    orders: [a, { record_id: '9', label: 'B&amp;' }],
    become: [
      'settled created 5',
      'settled review NOT_RECOGNISED',
      'settled review NOT_RECOGNISED',
      'settled review NOT_IN_LIST',
    ],
  },
  {
    name: 'a new order without a customer may be anybody’s',
    rows: [unknown],
    orders: [{ record_id: '9', label: 'Z', client_id: null }],
    become: ['settled review NOT_RECOGNISED'],
  },
  {
    name: 'an order that only its id finds is there',
    rows: [{}],
    orders: [{ ...a, is_listed: false }],
    become: ['settled created UNLISTED 5'],
  },
  {
    name: 'orders that the baseline saw are no evidence that the list shows what is new',
    rows: [{}, { state: 'settled', action: null, verdict: 'existing' }],
    orders: [{ record_id: '5', label: 'B', first_pass: 0 }],
    become: ['settled review NOT_IN_LIST', 'settled existing'],
  },
  {
    name: 'an update with an unknown outcome is sent again at once',
    rows: [{ ...unknown, ...updated, since: JUST_NOW }],
    orders: [{ ...a, first_pass: 0 }],
    become: ['ready'],
  },
  {
    name: 'an update that was sent as often as may be is done if a read shows it, and otherwise for a person',
    rows: [
      { ...unknown, ...updated, sends: MAX_SENDS },
      { ...unknown, ...updated, record_id: '6', sends: MAX_SENDS },
      { ...unknown, ...updated, record_id: '7', sends: MAX_SENDS },
    ],
    orders: [
      { ...a, fields: content },
      { record_id: '6', label: 'B', fields: { ...content, amount: '11' } },
    ],
    become: ['settled updated 5', 'settled review UPDATE_UNCONFIRMED 6', 'settled review ORDER_GONE 7'],
  },
  {
    name: 'an update stands so as soon as a read shows it',
    rows: [{ ...updated, since: JUST_NOW }],
    orders: [{ ...a, first_pass: 0 }],
    become: ['settled updated 5'],
  },
  {
    name: 'a list that lags behind an update is given its time',
    rows: [{ ...updated, since: JUST_NOW }],
    orders: [{ ...a, first_pass: 0, fields: { amount: '1' } }],
    become: ['acked'],
  },
  {
    name: 'an update that changed nothing is for a person',
    rows: [updated],
    orders: [{ ...a, first_pass: 0, fields: { amount: '1' } }],
    become: ['settled review CONTENT_DIFFERS 5'],
  },
  {
    name: 'an order that went after it was updated is for a person',
    rows: [updated],
    orders: [{ ...a, first_pass: 0, last_pass: 1 }],
    become: ['settled review ORDER_GONE 5'],
  },
];

test.each(scenes)('$name', async ({ rows, orders, become }) => {
  const run = await aRun(database, { type: 'orders' });
  await putRows(database, run, rows.map(rowOf));
  for (const [n, { since = LONG_AGO }] of rows.entries())
    await database.pool.query('update ledger.verdicts set at = $3 where run_id = $1 and n = $2', [run.id, n, since]);
  await putRecords(database, run, orders.map(recordOf));
  const read = { isWhole: true, isLookedUp: true, readAt: new Date(NOW) };
  const left = await inTransaction(database.pool, (db) =>
    settleOrders(db, run, { ...read, pass: PASS, settleMs: SETTLE_MS }),
  );
  const after = await rowsOf(database, run);
  expect(after.map((row) => [fateOf(row), row.record_id].filter(Boolean).join(' '))).toEqual(
    become.map((fate) => (fate === 'ready' || fate === 'acked' ? expect.stringContaining(fate) : fate)),
  );
  expect(left.ready).toBe(become.filter((fate) => fate === 'ready').length);
  expect(left.open).toBe(become.filter((fate) => fate === 'acked' || fate === 'unknown').length);
});

function rowOf(row: Columns, i: number) {
  const own = { source_id: String(i), label: 'ABCD'[i], client_id: '7', fields: content };
  return { ...own, state: 'acked', action: 'create', sends: 1, since: LONG_AGO, ...row };
}

function recordOf(order: Columns) {
  const seen = { client_id: '7', fields: content, first_pass: PASS, last_pass: PASS };
  return { ...seen, ...order, record_id: String(order.record_id) };
}
