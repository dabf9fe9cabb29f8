/** How much of the database each table of the ledger takes. */
import type { Queryable } from '../../../storage/queryable.ts';
import { ROW_TABLES } from './forget.ts';

/** What the tables hold, in the words of the settings where retention applies. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  rows: [...ROW_TABLES, 'chunks'],
  runs: ['runs', 'run_figures', 'run_steps', 'claims', 'loads', 'history', 'sync_notes', 'shown', 'plan_files'],
  reads: ['records', 'reads', 'baselines', 'order_keys'],
  deliveries: ['deliveries', 'delivery_claims', 'target_states', 'kept_secrets'],
  inbox: ['hooks_seen', 'item_reports'],
  audits: ['audit_debts'],
  alerts: ['alerts'],
};
/** Links, witnesses, tasks, accounts: what later runs need. */
const OTHER = 'knowledge';

/** Smaller tables are counted; for larger ones an estimate of Postgres is used. */
const COUNTED_BYTES = 32 * 1024 * 1024;

export interface TableSize {
  readonly table: string;
  readonly kind: string;
  readonly rows: number;
  /** The number of rows is an estimate. */
  readonly isEstimate: boolean;
  /** With indexes. */
  readonly bytes: number;
}

/** All tables of the ledger, the largest first. */
export async function ledgerSize(db: Queryable): Promise<readonly TableSize[]> {
  const found = await db.query<{ table: string; estimate: number; bytes: number }>(
    // Without statistics of the planner, which come some time after many rows were added, what Postgres has seen added.
    `select c.relname as table, greatest(c.reltuples, pg_stat_get_live_tuples(c.oid))::float8 as estimate, pg_total_relation_size(c.oid)::float8 as bytes
     from pg_class c where c.relnamespace = 'ledger'::regnamespace and c.relkind = 'r' order by 3 desc, 1`,
  );
  const sizes: TableSize[] = [];
  for (const { table, estimate, bytes } of found.rows) {
    const isEstimate = bytes > COUNTED_BYTES && estimate > 0;
    const rows = isEstimate ? estimate : await count(db, table);
    sizes.push({ table, kind: kindOf(table), rows, isEstimate, bytes });
  }
  return sizes;
}

async function count(db: Queryable, table: string): Promise<number> {
  const counted = await db.query<{ n: number }>(`select count(*)::float8 as n from ledger.${table}`);
  return counted.rows[0]?.n ?? 0;
}

function kindOf(table: string): string {
  return Object.keys(KINDS).find((kind) => KINDS[kind]?.includes(table)) ?? OTHER;
}
