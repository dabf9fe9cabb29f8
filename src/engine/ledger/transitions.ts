/**
 * The transitions of a row, one named statement for each step; README.md here has a diagram. Rows are added by inputs.ts
 * and, for contacts and orders, by matching/; no other code changes one.
 *
 * A statement takes a selection: SQL over the run `$1` and values from `$2` on, which returns the numbers `n` of rows and
 * the columns the statement needs. Rows that are not in a start state of the statement stay unchanged. All are set-based
 * and safe to repeat; the statements of one decision run in one transaction under an exclusive claim. Rows are inserted in
 * order and without `on conflict`, which would double the cost of an insert: if two transactions decide about the same row
 * at the same time, the second one fails and its job is repeated.
 */
import type { Queryable } from '../../storage/queryable.ts';
import type { Verdict } from './rows.ts';

export interface Selection {
  readonly sql: string;
  readonly values?: readonly unknown[];
}

/** SQL: row `n` of run `$1` is claimed, and its outcome is not recorded. */
const IS_HELD = (n: string) => `exists (select from ledger.chunks c where c.run_id = $1 and ${n} = any(c.rows))`;

/**
 * Stores the records that rows were matched with. Selection: `n, kind, record_id, by`. A later match replaces an
 * earlier one.
 */
export async function matchRows(db: Queryable, runId: string, { sql, values = [] }: Selection): Promise<number> {
  const matched = await db.query(
    `insert into ledger.matches (run_id, n, kind, record_id, by)
     select $1, n, kind, record_id, by from (${sql}) chosen
     on conflict (run_id, n, kind) do update set record_id = excluded.record_id, by = excluded.by`,
    [runId, ...values],
  );
  return matched.rowCount ?? 0;
}

/** Deletes the matches of rows. Selection: `n, kind`. */
export async function unmatchRows(db: Queryable, runId: string, { sql, values = [] }: Selection): Promise<void> {
  await db.query(
    `delete from ledger.matches m using (${sql}) chosen where m.run_id = $1 and m.n = chosen.n and m.kind = chosen.kind`,
    [runId, ...values],
  );
}

/**
 * Plans what to send: staged rows become ready. Selection: `n, action, record_id, fields, was`; null fields: the fields of the
 * input. `was`: the fields of the record before an update.
 */
export async function planRows(db: Queryable, runId: string, { sql, values = [] }: Selection): Promise<number> {
  const planned = await db.query(
    `with planned as (
       insert into ledger.plans (run_id, n, action, record_id, fields, was)
       select distinct on (n) $1, n, action, record_id, fields, was from (${sql}) chosen
       where not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = chosen.n)
         and not exists (select from ledger.plans p where p.run_id = $1 and p.n = chosen.n)
       order by n returning n
     ), again as (
       insert into ledger.again (run_id, n)
       select $1, p.n from planned p join ledger.runs u on u.id = $1 and p.n < u.next_n on conflict do nothing
     )
     select count(*)::int as n from planned`,
    [runId, ...values],
  );
  return planned.rows[0]?.n ?? 0;
}

/** Removes plans that were not sent. Selection: `n`. */
export async function unplanRows(db: Queryable, runId: string, { sql, values = [] }: Selection): Promise<number> {
  const unplanned = await db.query(
    `with dropped as (
       delete from ledger.plans p using (${sql}) chosen, ledger.runs u
       where p.run_id = $1 and p.n = chosen.n and u.id = $1
         and (p.n >= u.next_n or exists (select from ledger.again g where g.run_id = $1 and g.n = p.n))
         and not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = p.n)
       returning p.n
     ), again as (delete from ledger.again g using dropped d where g.run_id = $1 and g.n = d.n)
     select count(*)::int as n from dropped`,
    [runId, ...values],
  );
  return unplanned.rows[0]?.n ?? 0;
}

/**
 * Makes rows that were sent ready again. Selection: `n, action`; a null action: the planned action. Returns their
 * numbers.
 */
export async function sendAgain(
  db: Queryable,
  runId: string,
  { sql, values = [] }: Selection,
): Promise<readonly number[]> {
  const again = await db.query<{ n: number }>(
    `with chosen as materialized (
       select s.n, s.action from (${sql}) s join ledger.plans p on p.run_id = $1 and p.n = s.n join ledger.runs u on u.id = $1
       where p.n < u.next_n and not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = s.n) and not ${IS_HELD('s.n')}
     ), replanned as (
       update ledger.plans p set action = c.action from chosen c
       where p.run_id = $1 and p.n = c.n and c.action is not null and c.action <> p.action
     )
     insert into ledger.again (run_id, n) select $1, n from chosen on conflict do nothing returning n::float8 as n`,
    [runId, ...values],
  );
  return again.rows.map(({ n }) => n);
}

/** Gives verdicts to rows that have none. Selection: `n, verdict, reason, facts, record_id`. Returns how many. */
export async function settleRows(db: Queryable, runId: string, { sql, values = [] }: Selection): Promise<number> {
  const settled = await db.query(
    `insert into ledger.verdicts (run_id, n, verdict, reason, facts, record_id)
     select distinct on (n) $1, n, verdict, reason, facts, record_id from (${sql}) chosen
     where not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = chosen.n) order by n`,
    [runId, ...values],
  );
  return settled.rowCount ?? 0;
}

/**
 * Gives a verdict to every row that has none, by the name of its source. Selection: `source_id, verdict, reason, facts`;
 * `otherwise`: for rows that are not in it. Returns how many.
 */
export function settleSources(
  db: Queryable,
  runId: string,
  { sql, values = [] }: Selection,
  otherwise: { readonly verdict: Verdict; readonly reason: string },
): Promise<number> {
  const chosen = `select i.n, coalesce(j.verdict, $${values.length + 2}) as verdict,
      case when j.source_id is null then $${values.length + 3} else j.reason end as reason, j.facts, null as record_id
    from ledger.inputs i left join (${sql}) j on j.source_id = coalesce(i.source_id, i.n::text) where i.run_id = $1
      and not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = i.n)`;
  return settleRows(db, runId, { sql: chosen, values: [...values, otherwise.verdict, otherwise.reason] });
}

/** SQL: stores the verdicts of rows `chosen` as their former ones. */
const FORMER = `former as (
       insert into ledger.former_verdicts (run_id, n, verdict, reason, facts, record_id, at)
       select v.run_id, v.n, v.verdict, v.reason, v.facts, v.record_id, v.at
       from ledger.verdicts v join chosen c on c.n = v.n where v.run_id = $1
     )`;

/** Replaces verdicts and stores the former ones. Selection: as for settleRows. Returns how many. */
export async function reviseRows(db: Queryable, runId: string, { sql, values = [] }: Selection): Promise<number> {
  const revised = await db.query(
    `with chosen as materialized (${sql}), ${FORMER}
     update ledger.verdicts v set verdict = c.verdict, reason = c.reason, facts = c.facts, record_id = c.record_id,
       at = clock_timestamp()
     from chosen c where v.run_id = $1 and v.n = c.n`,
    [runId, ...values],
  );
  return revised.rowCount ?? 0;
}

/** Reopens rows so that they are decided again; their attempts and former verdicts stay. Selection: `n`. Returns how many. */
export async function reopenRows(db: Queryable, runId: string, { sql, values = [] }: Selection): Promise<number> {
  const reopened = await db.query(
    `with chosen as materialized (select s.n from (${sql}) s where not ${IS_HELD('s.n')}),
     ${FORMER}, verdicts as (delete from ledger.verdicts v using chosen c where v.run_id = $1 and v.n = c.n),
     plans as (delete from ledger.plans p using chosen c where p.run_id = $1 and p.n = c.n),
     again as (delete from ledger.again g using chosen c where g.run_id = $1 and g.n = c.n)
     select count(*)::int as n from chosen`,
    [runId, ...values],
  );
  return reopened.rows[0]?.n ?? 0;
}
