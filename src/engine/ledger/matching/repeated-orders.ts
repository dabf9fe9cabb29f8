/** Rows whose order_id occurs twice in the file: settled once the whole file is staged, before anything is sent. */
import type { Queryable } from '../../../storage/queryable.ts';
import { reviseRows, settleRows } from '../transitions.ts';

/** SQL: rows of run `$1` to which the file gives an order_id; without one, the label is the prefix `$2` and the row. */
const GIVEN = `ledger.inputs i where i.run_id = $1 and i.label <> $2::text || '-' || i.n`;
/** SQL: how row `i` names its customer; null if it names none, or cannot be read. */
const WHO = `coalesce('id ' || i.client_id, 'email ' || i.email, 'phone ' || i.phone, 'name ' || i.name)`;

/**
 * Settles rows that repeat the order_id of a customer: a row with the content of the first one is its copy; if rows differ, it
 * is unclear which is meant, and none is sent. The content is the fields to send and the named customer. A row that names no
 * customer may belong to any order with its order_id. An invalid row counts too, and keeps its own verdict. `labels`: the
 * prefix of generated names for orders without an order_id. `isCombining`: neighbouring lines were combined, so equal rows
 * further down are lines of the same order, not copies of it.
 */
export async function settleRepeats(
  db: Queryable,
  runId: string,
  { labels, isCombining }: { readonly labels: string; readonly isCombining: boolean },
): Promise<void> {
  await settleRows(db, runId, {
    sql: `with named as (
        select i.n, i.source_id as lines, i.label, jsonb_build_array(i.fields, i.client_id, i.customer, i.email) as content,
          case when bool_and(${WHO} is not null) over (partition by i.label) then ${WHO} end as who
        from ${GIVEN} and i.label in (select i.label from ${GIVEN} group by i.label having count(*) > 1)
      ), compared as (
        select n, lines, first_value(n) over same as first, (content is distinct from first_value(content) over same or ($3 and n <> first_value(n) over same)) as differs
        from named window same as (partition by label, who order by n)
      ), told as (
        select n, lines, first, min(n) filter (where differs) over (partition by first) as other, differs from compared
      )
      select n, case when n = first or differs then 'invalid' else 'existing' end as verdict,
        case when n = first or differs then 'ORDER_ID_REPEATED' else 'DUP_IN_FILE' end as reason,
        jsonb_strip_nulls(jsonb_build_object('line', n, 'lines', lines, 'combining', nullif($3::boolean, false),
          'other', case when n = first then other else first end)) as facts, null::text as record_id
      from told where n <> first or other is not null`,
    values: [labels, isCombining],
  });
}

/** The first ones, and how many there are. */
export interface Found {
  readonly first: readonly string[];
  readonly count: number;
}

/** The order_ids that orders of several customers have. `labels`: as for `settleRepeats`. */
export function sharedOrderIds(db: Queryable, runId: string, labels: string): Promise<Found> {
  const sql = `select i.label as name, min(i.n) as n from ${GIVEN} group by i.label
    having count(*) > 1 and bool_and(${WHO} is not null) and min(${WHO}) <> max(${WHO})`;
  return firstOf(db, sql, [runId, labels]);
}

/** The lines that `settleRepeats` settled as copies. */
export function copiedLines(db: Queryable, runId: string): Promise<Found> {
  return firstOf(db, `select n::text as name, n from ledger.verdicts where run_id = $1 and reason = 'DUP_IN_FILE'`, [
    runId,
  ]);
}

async function firstOf(db: Queryable, sql: string, values: readonly unknown[]): Promise<Found> {
  const found = await db.query<{ first: string[] | null; count: number }>(
    `select (array_agg(name order by n))[1:3] as first, count(*)::int as count from (${sql}) found`,
    [...values],
  );
  const [row] = found.rows;
  return { first: row?.first ?? [], count: row?.count ?? 0 };
}

/** A copy gets the verdict of the decided row: if that order failed, the order of its copy does not exist either. */
export async function settleCopies(db: Queryable, runId: string): Promise<void> {
  await reviseRows(db, runId, {
    sql: `select * from (
        select copy.n, coalesce(case when first.verdict in ('created', 'updated', 'unchanged') then 'existing'
            else first.verdict end, 'unknown') as verdict, copy.reason, copy.record_id, copy.verdict as was, copy.facts as known,
          copy.facts - 'because' || case when first.verdict in ('created', 'updated', 'unchanged', 'existing') then '{}'
            else jsonb_build_object('because', jsonb_build_object('code', coalesce(first.reason, 'UNKNOWN'),
              'facts', coalesce(first.facts, '{}'))) end as facts
        from ledger.verdicts copy left join ledger.verdicts first
          on first.run_id = copy.run_id and first.n = (copy.facts->>'other')::bigint
        where copy.run_id = $1 and copy.reason = 'DUP_IN_FILE') c
      where (verdict, facts) is distinct from (was, known)`,
  });
}
