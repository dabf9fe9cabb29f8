/** The rows of a run that need a person, grouped by what is wrong with them. */
import type { Facts } from '../../base/reasons/reason.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { Verdict } from './rows.ts';
import { OPEN_REASON } from './unsettled.ts';

const EXAMPLES = 3;

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

/** `verdicts`: which rows are wanted; `unknown` also means the rows without a verdict. The largest groups come first. */
export async function groupRows(db: Queryable, runId: string, verdicts: readonly Verdict[]): Promise<RowGroup[]> {
  const found = await db.query<RowGroup>(
    `with judged as (
       select n, verdict, reason, facts from ledger.verdicts where run_id = $1 and verdict = any($2)
       union all
       select i.n, 'unknown', coalesce(a.reason, ${OPEN_REASON('i.n')}), a.facts
       from ledger.inputs i left join ledger.last_attempts a on a.run_id = i.run_id and a.n = i.n
       where i.run_id = $1 and 'unknown' = any($2)
         and not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = i.n)
     ), grouped as (
       select verdict, reason, facts->>'column' as "column", count(*)::int as count, (array_agg(n order by n))[1:${EXAMPLES}] as first
       from judged group by 1, 2, 3
     )
     select g.verdict, g.reason, g."column", g.count, (
       select jsonb_agg(jsonb_build_object('sourceId', coalesce(i.source_id, i.n::text), 'label', i.label,
         'facts', coalesce(v.facts, a.facts)) order by i.n)
       from ledger.inputs i left join ledger.verdicts v on v.run_id = $1 and v.n = i.n
         left join ledger.last_attempts a on v.n is null and a.run_id = $1 and a.n = i.n
       where i.run_id = $1 and i.n = any(g.first)) as examples
     from grouped g order by count desc, verdict, reason, "column"`,
    [runId, verdicts],
  );
  return found.rows;
}
