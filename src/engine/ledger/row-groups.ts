/** The rows of a run that need a person, grouped by what is wrong with them. */
import type { Facts } from '../../base/reasons/reason.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { SHOWN_CHANGES } from './matching/differences.ts';
import type { Verdict } from './rows.ts';
import { ARRIVED, NOT_SENT } from './unsettled.ts';

const EXAMPLES = 3;

/** SQL: the verdicts that verdicts_explained has all rows of. */
const NEED_A_PERSON = `('invalid', 'rejected', 'review', 'unknown')`;

export interface RowGroup {
  readonly verdict: Verdict;
  readonly reason: string | null;
  /** Column of the file, if the reason is about a cell. */
  readonly column: string | null;
  readonly count: number;
  /** The first rows of the group, at most three. */
  readonly examples: readonly GroupExample[];
}

export interface GroupExample {
  readonly sourceId: string;
  readonly label: string | null;
  readonly facts: Facts | null;
}

/** `verdicts`: which of the rows that need a person are wanted; `unknown` also means the rows without a verdict. The largest groups come first. */
export async function groupRows(db: Queryable, runId: string, verdicts: readonly Verdict[]): Promise<RowGroup[]> {
  const found = await db.query<RowGroup>(
    `with open as materialized (
       select i.n from ledger.inputs i where i.run_id = $1 and 'unknown' = any($2)
         and not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = i.n)
     ), tried as (
       select a.n, bool_or(a.outcome in ${ARRIVED}) as arrived,
         (array_agg(a.reason order by a.id desc))[1] as reason, (array_agg(a.facts order by a.id desc))[1] as facts
       from ledger.attempts a where a.run_id = $1 and a.n in (select n from open) group by a.n
     ), judged as (
       select n, verdict, reason, facts from ledger.verdicts where run_id = $1 and verdict = any($2) and verdict in ${NEED_A_PERSON}
       union all
       select o.n, 'unknown', coalesce(t.reason, case when t.arrived or h.n is not null then 'NOT_CONFIRMED' else ${NOT_SENT} end), t.facts
       from open o left join tried t on t.n = o.n
         left join (select unnest(rows) as n from ledger.chunks where run_id = $1) h on h.n = o.n
     ), grouped as (
       select verdict, reason, facts->>'column' as "column", count(*)::int as count, (array_agg(n order by n))[1:${EXAMPLES}] as first
       from judged group by 1, 2, 3
     )
     select g.verdict, g.reason, g."column", g.count, (
       select jsonb_agg(jsonb_build_object('sourceId', coalesce(i.source_id, i.n::text), 'label', i.label,
         'facts', case when v.n is not null then v.facts else coalesce((
           select a.facts from ledger.attempts a where a.run_id = $1 and a.n = i.n order by a.id desc limit 1), ${SHOWN_CHANGES('i.n')}) end) order by i.n)
       from ledger.inputs i left join ledger.verdicts v on v.run_id = $1 and v.n = i.n
       where i.run_id = $1 and i.n = any(g.first)) as examples
     from grouped g order by count desc, verdict, reason, "column"`,
    [runId, verdicts],
  );
  return found.rows;
}
