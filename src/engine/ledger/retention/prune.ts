/**
 * Deletes rows and runs by age, in small transactions. The counts of a run stay with it; those of a deleted run go to
 * ledger.history. Kept at any age: links and witnesses, unfinished runs, rows that wait for a person or must never be sent
 * again, unknown outcomes that no later run has decided, open audits and violations, and the loads that are done, because
 * the same file must not be loaded twice.
 */
import type pg from 'pg';
import type { Queryable } from '../../../storage/queryable.ts';
import { inTransaction } from '../../../storage/transaction.ts';
import { MAY_EXIST, MAY_HAVE_ARRIVED } from '../unsettled.ts';
import { pruneRows } from './forget.ts';

export interface LedgerAges {
  /** Rows of runs that ended longer ago are deleted; undefined: none. */
  readonly rowsMs: number | undefined;
  /** Runs without rows that ended longer ago are deleted; undefined: none. */
  readonly runsMs: number | undefined;
}

export interface PrunedLedger {
  readonly rows: number;
  readonly runs: number;
}

/** Rows per transaction. */
const BATCH_ROWS = 5_000;
const BATCH_RUNS = 500;

/** SQL: run `u` has ended for good, and no unfinished run uses its rows. */
const IS_OVER = `(u.ended_at is not null and (u.status <> 'failed' or u.phase is null) and not exists (
  select from ledger.runs w where w.id = u.part_of and (w.ended_at is null or (w.status = 'failed' and w.phase is not null))))`;

const OLDER = (ms: string) => `u.ended_at < clock_timestamp() - ${ms}::float8 * interval '1 ms'`;

/** SQL: reasons that later runs look up, or that no later run repeats. */
const IS_LASTING = (v: string) =>
  `(${v}.reason in ${MAY_EXIST} or ${v}.reason = 'DUPLICATE' or ${v}.facts->>'was' in ${MAY_EXIST})`;

/** SQL: the next run of the sync has a row `r`, with the verdict `rv`, for the same record as row `i`, which fulfils `more`. */
const DECIDED_AGAIN = (more: string) => {
  const found = (
    isSame: string,
  ) => `exists (select from ledger.inputs r left join ledger.verdicts rv on rv.run_id = r.run_id and rv.n = r.n
    where r.run_id = next.id and ${isSame} and ${more} offset 0)`;
  return `(${found('r.source_id = coalesce(i.source_id, i.n::text)')}
    or (i.source_id is null and ${found('r.source_id is null and r.n = i.n')}))`;
};

/**
 * SQL: `n, verdict, may_go` of the rows of the ended run `$1`. Each verdict and each row of the next run is looked up (`offset 0`):
 * Postgres would hash those of all runs for each batch.
 */
const ROWS = `select i.n, coalesce(v.verdict, 'unknown') as verdict,
    not exists (select from ledger.audit_debts d where d.run_id = $1
      and d.source_id = coalesce(i.source_id, i.n::text) and (d.paid_at is null or d.violation is not null))
    and case when u.dry_run then true
      when ${IS_LASTING('v')} then ${DECIDED_AGAIN(IS_LASTING('rv'))}
      when v.verdict in ('review', 'unknown') or (v.n is null and ${MAY_HAVE_ARRIVED('$1', 'i.n')}) then ${DECIDED_AGAIN('true')}
      else true end as may_go
  from ledger.runs u join ledger.inputs i on i.run_id = $1
    left join lateral (select * from ledger.verdicts one where one.run_id = $1 and one.n = i.n offset 0) v on true
    left join lateral (select l.id from ledger.runs l where l.sync = u.sync and l.scope = u.scope and l.status = 'done' and not l.dry_run
      and l.created_at > u.created_at order by l.created_at limit 1) next on true
  where u.id = $1`;

/** SQL: whether run `u` has rows. Its first one is looked up by the key: `exists` may read all rows to find that a run has none. */
const HAS_ROWS = '((select i.n from ledger.inputs i where i.run_id = u.id order by i.n limit 1) is not null)';

/**
 * SQL: run `u` can be deleted: it has none of the rows `hasRows`, is not a load that is done, and has a newer run of its
 * sync.
 */
const RUN_MAY_GO = (hasRows: string) => `(${IS_OVER} and not ${hasRows}
  and not exists (select from ledger.audit_debts d where d.run_id = u.id and (d.paid_at is null or d.violation is not null))
  and not exists (select from ledger.claims c where c.run_id = u.id)
  and case when exists (select from ledger.loads l where l.run_id = u.id) then u.status <> 'done' or u.dry_run
    else exists (select from ledger.runs newer where newer.sync = u.sync and newer.created_at > u.created_at) end)`;

/** What pruning would delete now, without deleting it. */
export async function planPruning(db: Queryable, { rowsMs, runsMs }: LedgerAges): Promise<PrunedLedger> {
  let rows = 0;
  const emptied: string[] = [];
  for (const id of await runsWithOldRows(db, rowsMs)) {
    const counted = await db.query<{ go: number; stay: number }>(
      `select count(*) filter (where may_go)::int as go, count(*) filter (where not may_go)::int as stay from (${ROWS}) r`,
      [id],
    );
    const { go = 0, stay = 0 } = counted.rows[0] ?? {};
    rows += go;
    if (stay === 0) emptied.push(id);
  }
  const runs = await db.query<{ count: number }>(
    `select count(*)::int as count from ledger.runs u
     where ${OLDER('$1')} and ${RUN_MAY_GO(`(${HAS_ROWS} and u.id <> all($2))`)}`,
    [runsMs, emptied],
  );
  return { rows, runs: runs.rows[0]?.count ?? 0 };
}

/** Deletes what is older than `ages` until nothing is left to delete or the signal aborts. Safe in several processes. */
export async function pruneLedger(
  pool: pg.Pool,
  { rowsMs, runsMs }: LedgerAges,
  signal?: AbortSignal,
): Promise<PrunedLedger> {
  let rows = 0;
  if (rowsMs !== undefined) {
    await prunePlans(pool, rowsMs); // before their rows: a plan with some of its rows must not be applied
    rows = await pruneOldRows(pool, rowsMs, signal);
    await prunePaidDebts(pool, rowsMs);
  }
  return { rows, runs: runsMs === undefined ? 0 : await pruneOldRuns(pool, runsMs, signal) };
}

/** The oldest first: a row that waits for a person is compared with the next run. */
async function runsWithOldRows(db: Queryable, ms: number | undefined): Promise<readonly string[]> {
  if (ms === undefined) return [];
  const old = await db.query<{ id: string }>(
    `select u.id from ledger.runs u where ${OLDER('$1')} and ${IS_OVER} and ${HAS_ROWS} order by u.created_at`,
    [ms],
  );
  return old.rows.map(({ id }) => id);
}

async function pruneOldRows(pool: pg.Pool, ms: number, signal?: AbortSignal): Promise<number> {
  let count = 0;
  for (const id of await runsWithOldRows(pool, ms)) {
    for (let after = -1; after !== Number.POSITIVE_INFINITY && signal?.aborted !== true; ) {
      const pruned = await inTransaction(pool, (db) => pruneBatch(db, id, after));
      count += pruned.count;
      after = pruned.count < BATCH_ROWS ? Number.POSITIVE_INFINITY : pruned.last;
    }
  }
  return count;
}

async function pruneBatch(db: Queryable, id: string, after: number) {
  // A load that is being opened again holds its run.
  const held = await db.query(`select 1 from ledger.runs u where u.id = $1 and ${IS_OVER} for update`, [id]);
  if (held.rowCount === 0) return { count: 0, last: 0 };
  const sql = `select n, verdict from (${ROWS}) r where may_go and n > $2 order by n limit ${BATCH_ROWS}`;
  return pruneRows(db, id, { sql, values: [after] });
}

async function prunePaidDebts(pool: pg.Pool, ms: number): Promise<void> {
  await pool.query(
    `delete from ledger.audit_debts where violation is null and paid_at < clock_timestamp() - $1::float8 * interval '1 ms'`,
    [ms],
  );
}

/** A saved plan has contents of rows; without them it cannot be applied. */
async function prunePlans(pool: pg.Pool, ms: number): Promise<void> {
  for (const table of ['shown', 'plan_files'])
    await pool.query(
      `delete from ledger.${table} p using ledger.runs u where u.id = p.run_id and ${OLDER('$1')} and ${IS_OVER}`,
      [ms],
    );
}

async function pruneOldRuns(pool: pg.Pool, ms: number, signal?: AbortSignal): Promise<number> {
  let count = 0;
  for (let last = BATCH_RUNS; last === BATCH_RUNS && signal?.aborted !== true; count += last) {
    last = await inTransaction(pool, (db) => pruneRuns(db, ms));
  }
  return count;
}

async function pruneRuns(db: Queryable, ms: number): Promise<number> {
  const pruned = await db.query<{ count: number }>(
    `with old as materialized (
       select u.id from ledger.runs u where ${OLDER('$1')} and ${RUN_MAY_GO(HAS_ROWS)}
       order by u.created_at limit ${BATCH_RUNS} for update of u skip locked
     ), gone as (
       delete from ledger.runs u using old where u.id = old.id
       returning u.sync, date_trunc('month', u.created_at at time zone 'utc')::date as month, u.status, u.calls, u.counts, u.dry_run
     ), kept as (
       insert into ledger.history as h (sync, month, what, n)
       select sync, month, what, sum(n) from (
         select sync, month, 'run: ' || status as what, 1::bigint as n from gone where not dry_run
         union all select sync, month, 'calls', calls from gone where not dry_run
         union all select sync, month, key, value::bigint from gone, jsonb_each_text(counts) where not dry_run
       ) each group by 1, 2, 3 having sum(n) > 0
       on conflict (sync, month, what) do update set n = h.n + excluded.n
     )
     select count(*)::int as count from gone`,
    [ms],
  );
  return pruned.rows[0]?.count ?? 0;
}
