/** Loads whose rows an earlier load has from another file. */
import type { Queryable } from '../../storage/queryable.ts';
import { ARRIVED } from './unsettled.ts';

export interface Repeat {
  /** The earlier run, which has sent some of its rows or may. */
  readonly run: string;
  /** Rows of the load that say the same as rows of that run. */
  readonly rows: number;
  /** The rows of the load that are compared: those without an order_id. */
  readonly of: number;
  /** Whether they are half of the rows of either load: too many to be equal by chance. */
  readonly isLikely: boolean;
}

/** The load of another file that has most rows in common with this one, by their samples; undefined if there is none. */
export async function loadedBefore(db: Queryable, runId: string): Promise<Repeat | undefined> {
  const found = await db.query<{ id: string }>(
    `select u.id from ledger.loads l
       join ledger.loads o on o.scope = l.scope and o.sha256 <> l.sha256 and o.sample && l.sample and o.sample <> '{}'
       join ledger.runs u on u.id = o.run_id and not u.dry_run
     where l.run_id = $1 and (u.status <> 'cancelled'
       or exists (select from ledger.attempts a where a.run_id = u.id and a.outcome in ${ARRIVED}))
     order by cardinality(array(select unnest(o.sample) intersect select unnest(l.sample))) desc, u.created_at limit 1`,
    [runId],
  );
  const run = found.rows[0]?.id;
  return run === undefined ? undefined : compared(db, runId, run);
}

/** A row without an order_id has a label that ends with its line. */
async function compared(db: Queryable, runId: string, other: string): Promise<Repeat> {
  const said = (run: string) =>
    `select md5(jsonb_build_array(fields - 'order_id', client_id, email, phone, name, org, customer)::text) as says
     from ledger.inputs where run_id = ${run} and fields is not null and label like 'LS-%-' || n`;
  const counted = await db.query<{ rows: number; of: number; other: number }>(
    `with own as (${said('$1')}), other as (${said('$2')})
     select count(*)::float8 as of, count(*) filter (where says in (select says from other))::float8 as rows,
       (select count(*) from other)::float8 as other from own`,
    [runId, other],
  );
  const { rows, of, other: others } = counted.rows[0] ?? { rows: 0, of: 0, other: 0 };
  return { run: other, rows, of, isLikely: rows > 0 && rows * 2 >= Math.min(of, others) };
}
