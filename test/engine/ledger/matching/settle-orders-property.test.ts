/**
 * Settling, checked against what a service really did: loads whose every send was applied, applied late, dropped,
 * duplicated, altered or renamed, read back at any moment until no row is open.
 */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { settleOrders } from '../../../../src/engine/ledger/matching/settle-orders.ts';
import { MAX_SENDS } from '../../../../src/engine/ledger/rows.ts';
import type { Run } from '../../../../src/engine/ledger/runs.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import { runs } from '../../../support/property-runs.ts';
import { aRun, freshLedger, putRows, rowsOf } from '../fresh-ledger.ts';
import { putRecords } from './contact-worlds.ts';
import type { Columns } from './load-worlds.ts';

const SETTLE_S = 60;
const BEGAN = Date.parse('2026-01-01T12:00:00Z');
const MOST_READS = 60;

const database = await freshLedger();
afterAll(() => database.close());

/** What one send came to: an order each, so long after it was sent. */
interface Fate {
  readonly answer: 'acked' | 'unknown';
  readonly orders: readonly { readonly afterS: number; readonly amount?: string; readonly isRenamed?: boolean }[];
}

interface Order {
  readonly id: string;
  readonly label: string | undefined;
  readonly amount: string;
  readonly atS: number;
}

const answer = fc.constantFrom('acked' as const, 'unknown' as const);
const orders = (...lists: Fate['orders'][]) => fc.record({ answer, orders: fc.constantFrom(...lists) });
const keptPromise = fc.oneof(
  { weight: 4, arbitrary: orders([{ afterS: 0 }], [{ afterS: 1 }], [{ afterS: 59 }]) },
  { weight: 3, arbitrary: orders([]) },
  { weight: 1, arbitrary: orders([{ afterS: 0 }, { afterS: 0 }], [{ afterS: 0 }, { afterS: 59 }]) },
  { weight: 1, arbitrary: orders([{ afterS: 0, amount: '13' }], [{ afterS: 0, amount: '13' }, { afterS: 59 }]) },
);
const brokenPromise = orders([{ afterS: 61 }], [{ afterS: 300 }], [{ afterS: 0 }, { afterS: 90 }]);
/** An order under a name that is not the row's. */
const renamed = fc.record({ answer, orders: fc.constant([{ afterS: 0, isRenamed: true }]) });

const loads = (fate: fc.Arbitrary<Fate>) =>
  fc.record({
    rows: fc.array(
      fc.record({ sentAtS: fc.constantFrom(0, 1, 50), fates: fc.array(fate, { minLength: 5, maxLength: 5 }) }),
      {
        minLength: 1,
        maxLength: 12,
      },
    ),
    pausesS: fc.array(fc.constantFrom(15, 59, 60, 61, 120), { minLength: 1, maxLength: 6 }),
  });

interface Load {
  readonly run: Run;
  readonly orders: Order[];
  readonly rows: readonly { readonly fates: readonly Fate[] }[];
}

/** Two rows are sent again after one read, and the first one's order gets another name: the read did not show it. */
const RENAMED_AFTER_THE_READ = {
  rows: [{ orders: [{ afterS: 0, isRenamed: true }] }, { orders: [] }].map(({ orders }) => ({
    sentAtS: 0,
    fates: [{ answer: 'unknown' as const, orders: [] }, ...Array(4).fill({ answer: 'acked' as const, orders })],
  })),
  pausesS: [15],
};

test('with a punctual service nothing is lost, nothing is sent twice, and every duplicate is reported', async () => {
  await fc.assert(
    fc.asyncProperty(loads(keptPromise), async ({ rows, pausesS }) => {
      const load = await sendAll(rows);
      const readAtS = await settleUntilDone(load, pausesS, (row) => {
        expect(ordersOf(load, row)).toEqual([]);
        expect(lastFate(load, row).answer).toBe('unknown'); // what was acknowledged is never sent again
      });
      for (const row of await rowsOf(database, load.run)) tellsWhatIsThere(row, load, readAtS);
    }),
    runs(8),
  );
});

test('reports later or renamed orders as far as the reads could see them', async () => {
  const fate = fc.oneof({ weight: 3, arbitrary: keptPromise }, brokenPromise, renamed);
  await fc.assert(
    fc.asyncProperty(loads(fate), async ({ rows, pausesS }) => {
      const load = await sendAll(rows);
      const readAtS = await settleUntilDone(load, pausesS, (row, atS) => {
        expect(ordersOf(load, row).filter((order) => order.atS <= atS)).toEqual([]);
        expect(lastFate(load, row).answer).toBe('unknown');
        expect(load.orders.some(({ label, atS: shownAtS }) => label === undefined && shownAtS <= atS)).toBe(false);
      });
      for (const row of await rowsOf(database, load.run)) tellsWhatIsThere(row, load, readAtS);
    }),
    { ...runs(8), examples: [[RENAMED_AFTER_THE_READ]] },
  );
});

test('sends nothing again after a list that may have missed orders', async () => {
  await fc.assert(
    fc.asyncProperty(loads(keptPromise), fc.nat(3), async ({ rows, pausesS }, missed) => {
      const load = await sendAll(rows);
      const isListed = (order: Order) => Number(order.id) % 4 !== missed;
      const never = (row: Columns) => expect(row.state).not.toBe('ready');
      await settleUntilDone(load, pausesS, never, isListed);
      for (const { verdict, source_id, reason } of await rowsOf(database, load.run)) {
        const isThere = load.orders.some(({ label }) => label === source_id);
        if (!isThere) expect([verdict, reason]).toEqual(['review', 'NOT_IN_LIST']);
        expect(verdict).not.toBeNull();
      }
    }),
    runs(6),
  );
});

async function sendAll(rows: readonly { readonly sentAtS: number; readonly fates: readonly Fate[] }[]): Promise<Load> {
  const run = await aRun(database, { type: 'orders' });
  const load: Load = { run, orders: [], rows };
  await putRows(
    database,
    run,
    rows.map(({ sentAtS, fates }, i) => {
      const source_id = String(i);
      const own = { source_id, label: source_id, client_id: '7', action: 'create', fields: { amount: '12' } };
      return { ...own, ...sent(load, source_id, fates[0], sentAtS), sends: 1 };
    }),
  );
  return load;
}

/** Notes what the service makes of it. */
function sent({ orders }: Load, label: string, fate: Fate | undefined, atS: number): Columns {
  for (const { afterS, amount = '12', isRenamed = false } of fate?.orders ?? []) {
    const id = String(100 + orders.length);
    orders.push({ id, label: isRenamed ? undefined : label, amount, atS: atS + afterS });
  }
  return { state: fate?.answer, since: time(atS) };
}

/** Reads, settles and sends again until all is settled; gives when the last read was. */
async function settleUntilDone(
  load: Load,
  pausesS: readonly number[],
  onSentAgain: (row: Columns, atS: number) => void,
  isListed?: (order: Order) => boolean,
): Promise<number> {
  for (let pass = 1, atS = 50; pass <= MOST_READS; pass++) {
    atS += pausesS[pass % pausesS.length] ?? 1;
    const left = await readAndSettle(load, pass, atS, isListed);
    if (left.ready + left.open === 0) return atS;
    const ready = (await rowsOf(database, load.run)).filter((row) => row.state === 'ready');
    for (const row of ready) onSentAgain(row, atS); // before one is sent: the read showed none of these orders
    for (const row of ready) await sendAgain(load, row, atS);
  }
  throw new Error('it never ends');
}

async function sendAgain(load: Load, { source_id, sends }: Columns, atS: number): Promise<void> {
  const { state, since } = sent(load, String(source_id), load.rows[Number(source_id)]?.fates[Number(sends)], atS);
  await database.pool.query(
    'update ledger.rows set state = $3, since = $4, sends = sends + 1 where run_id = $1 and source_id = $2',
    [load.run.id, source_id, state, since],
  );
}

async function readAndSettle({ run, orders }: Load, pass: number, atS: number, isListed?: (order: Order) => boolean) {
  const there = orders.filter((order) => order.atS <= atS && (isListed?.(order) ?? true));
  await database.pool.query('delete from ledger.records where run_id = $1', [run.id]);
  const seen = there.map(({ id, label, amount }) => ({
    record_id: id,
    label: label ?? `another-${id}`,
    client_id: '7',
    fields: { amount },
  }));
  await putRecords(
    database,
    run,
    seen.map((record) => ({ ...record, first_pass: pass, last_pass: pass })),
  );
  const settle = () =>
    inTransaction(database.pool, (db) =>
      settleOrders(db, run, {
        isWhole: isListed === undefined,
        isLookedUp: true,
        pass,
        readAt: time(atS),
        settleMs: SETTLE_S * 1_000,
      }),
    );
  const left = await settle();
  const after = await rowsOf(database, run);
  await settle();
  expect(await rowsOf(database, run)).toEqual(after); // a read that is settled twice says nothing new
  return left;
}

/** Each row says what the last read could see of it: nothing, its order, or too many. */
function tellsWhatIsThere(row: Columns, load: Load, readAtS: number): void {
  const there = ordersOf(load, row).filter(({ atS }) => atS <= readAtS);
  const [first] = there;
  if (first === undefined) {
    expect(row.verdict).toBe('review');
    expect(['GAVE_UP', 'NOT_IN_LIST', 'NOT_RECOGNISED']).toContain(row.reason);
    if (row.reason === 'GAVE_UP') expect(row.sends).toBe(MAX_SENDS);
  } else if (there.length > 1) {
    expect([row.verdict, row.reason]).toEqual(['review', 'DUPLICATE']);
    expect(row.facts).toEqual({ what: 'order', ids: there.map(({ id }) => id) });
  } else if (first.amount === '12')
    expect([row.verdict, row.reason, row.record_id]).toEqual(['created', null, first.id]);
  else expect([row.verdict, row.reason, row.record_id]).toEqual(['review', 'CONTENT_DIFFERS', first.id]);
}

function ordersOf({ orders }: Load, { source_id }: Columns): readonly Order[] {
  return orders.filter(({ label }) => label === source_id);
}

function lastFate({ rows }: Load, { source_id, sends }: Columns): Fate {
  const fate = rows[Number(source_id)]?.fates[Number(sends) - 1];
  if (fate === undefined) throw new Error(`row ${source_id} was sent too often`);
  return fate;
}

function time(atS: number): Date {
  return new Date(BEGAN + atS * 1_000);
}
