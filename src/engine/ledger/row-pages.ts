/** Pages of a run's rows, in the order they were seen. */
import type { Queryable } from '../../storage/queryable.ts';
import { SHOWN_CHANGES } from './matching/differences.ts';
import type { ReportedRow, Verdict } from './rows.ts';
import { OPEN_REASON } from './unsettled.ts';

export interface RowFilter {
  readonly verdict?: Verdict | undefined;
  readonly reason?: string | undefined;
  /** Its id, number or e-mail, or a part of its label, name, phone or fields. */
  readonly text?: string | undefined;
}

export interface NumberedRow extends ReportedRow {
  readonly n: number;
}

export interface RowPage {
  readonly rows: readonly NumberedRow[];
  /** `after` of the next page; undefined on the last one. */
  readonly next: number | undefined;
}

/** `after`: the number of the last row of the page before. */
export async function pageOfRows(
  db: Queryable,
  runId: string,
  { verdict, reason, text }: RowFilter,
  { limit, after = -1 }: { readonly limit: number; readonly after?: number | undefined },
): Promise<RowPage> {
  const found = await db.query<NumberedRow>(
    `with page as materialized (
       select i.n from ledger.inputs i left join ledger.verdicts v on v.run_id = i.run_id and v.n = i.n
       where i.run_id = $1 and i.n > $2 and ($3::text is null or coalesce(v.verdict, 'unknown') = $3)
         and ($4::text is null or case when v.n is not null then v.reason = $4 else ${OPEN_ROW_REASON} = $4 end)
         and ($5::text is null or i.source_id = $5 or i.n::text = $5
           or concat_ws(' ', i.label, i.email, i.phone, i.name, i.org, i.fields::text, i.cells::text) ilike ${CONTAINS('$5')})
       order by i.n limit $6
     )
     select r.source_id as "sourceId", r.label, coalesce(r.verdict, 'unknown') as verdict,
         coalesce(r.facts, case when r.verdict is null then ${SHOWN_CHANGES('r.n')} end) as facts,
       coalesce(r.reason, case when r.verdict is null then ${OPEN_REASON('r.n')} end) as reason,
       r.record_id as "recordId", r.action, r.sends, r.n::float8 as n
     from page cross join lateral (select * from ledger.rows r where r.run_id = $1 and r.n = page.n offset 0) r order by page.n`,
    [runId, after, verdict ?? null, reason ?? null, text ?? null, limit + 1],
  );
  const rows = found.rows.slice(0, limit);
  return { rows, next: found.rows.length > limit ? rows.at(-1)?.n : undefined };
}

/** SQL: the reason of row `i`, which has no verdict. */
const OPEN_ROW_REASON = `coalesce((select a.reason from ledger.last_attempts a where a.run_id = i.run_id and a.n = i.n),
  ${OPEN_REASON('i.n')})`;

/** SQL: a pattern for texts that contain a text as it is. */
const CONTAINS = (text: string) =>
  `'%' || replace(replace(replace(${text}, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%'`;
