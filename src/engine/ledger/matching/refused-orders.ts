/** The rows of a load that were never applied: invalid or rejected; or of a load whose plan is dropped, all that it did not write. */
import type pg from 'pg';
import type { Facts } from '../../../base/reasons/reason.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { readCursor } from '../read-cursor.ts';
import { type FileLine, linesOf, type StoredCells } from './staged-orders.ts';

export interface RefusedOrder {
  /** Of its row. */
  readonly n: number;
  readonly lines: readonly FileLine[];
  /** Null for an invalid row of an earlier version. */
  readonly label: string | null;
  readonly reason: string | null;
  readonly facts: Facts | null;
}

type Stored = Omit<RefusedOrder, 'lines'> & { readonly cells: StoredCells };

const REFUSED = `ledger.verdicts where run_id = $1 and verdict in ('invalid', 'rejected')`;
const REFUSED_ORDERS = `select v.n::float8 as n, i.cells, i.label, v.reason, v.facts
  from (select * from ${REFUSED}) v join ledger.inputs i on i.run_id = v.run_id and i.n = v.n`;

const UNWRITTEN_ORDERS = `select i.n::float8 as n, i.cells, i.label, v.reason, v.facts
  from ledger.inputs i left join ledger.verdicts v on v.run_id = i.run_id and v.n = i.n
  where i.run_id = $1 and coalesce(v.verdict, 'unknown') not in ('created', 'updated', 'existing') order by i.n`;

/** In the order of the file. `which`: those that were refused, or all that are not written. */
export async function* unappliedOrders(
  pool: pg.Pool,
  runId: string,
  which: 'refused' | 'unwritten',
): AsyncGenerator<RefusedOrder> {
  const sql = { refused: `${REFUSED_ORDERS} order by v.n`, unwritten: UNWRITTEN_ORDERS }[which];
  for await (const stored of readCursor<Stored>(pool, sql, [runId])) yield toRefused(stored);
}

/** The first of them from row `from` on, and how many there are in all. */
export async function firstRefused(
  db: Queryable,
  runId: string,
  { limit, from }: { readonly limit: number; readonly from: number },
): Promise<{ readonly orders: readonly RefusedOrder[]; readonly count: number }> {
  const counted = await db.query<{ n: number }>(`select count(*)::int as n from ${REFUSED}`, [runId]);
  const found = await db.query<Stored>(`${REFUSED_ORDERS} where v.n >= $3 order by v.n limit $2`, [runId, limit, from]);
  return { orders: found.rows.map(toRefused), count: counted.rows[0]?.n ?? 0 };
}

function toRefused({ cells, ...order }: Stored): RefusedOrder {
  return { ...order, lines: linesOf(order.n, cells) };
}
