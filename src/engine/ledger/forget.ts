/**
 * Deletes data that is no longer needed: finished reads of lists, rows that are read again, and unchanged rows of old
 * runs.
 */
import type { Queryable } from '../../storage/queryable.ts';

/** Runs of a sync whose unchanged rows are kept, the newest ones; older runs keep only their count. */
const RUNS_KEPT_WHOLE = 3;

/** Deletes records of runs that no longer read lists. */
export async function forgetReads(db: Queryable, ids: readonly string[]): Promise<void> {
  for (const table of ['records', 'reads', 'baselines'])
    await db.query(`delete from ledger.${table} where run_id = any($1)`, [ids]);
}

/** A nightly run over many records leaves as many rows: deletes old rows that were unchanged or only planned. */
export async function thinOut(db: Queryable, id: string): Promise<void> {
  const old = await db.query<{ id: string }>(
    `select old.id from ledger.runs old join ledger.runs this on this.id = $1 and old.sync = this.sync
     where old.ended_at is not null order by old.created_at desc offset ${RUNS_KEPT_WHOLE}`,
    [id],
  );
  for (const run of old.rows) {
    await forgetRows(
      db,
      run.id,
      `select n from ledger.verdicts
      where run_id = $1 and (verdict = 'unchanged' or reason = 'PLANNED')`,
    );
  }
}

const ROW_TABLES = ['inputs', 'matches', 'plans', 'again', 'attempts', 'verdicts', 'former_verdicts', 'evidence'];

/** Deletes rows of a run; `which`: SQL that selects their numbers in run `$1`. */
export async function forgetRows(db: Queryable, runId: string, which?: string): Promise<void> {
  if (which === undefined) {
    for (const table of ROW_TABLES) await db.query(`delete from ledger.${table} where run_id = $1`, [runId]);
    await db.query('update ledger.runs set next_n = 0 where id = $1', [runId]);
    return;
  }
  const deletes = ROW_TABLES.map(
    (t) => `${t} as (delete from ledger.${t} d using chosen c where d.run_id = $1 and d.n = c.n)`,
  );
  await db.query(`with chosen as materialized (${which}), ${deletes.join(', ')} select 1`, [runId]);
}
