/** The outcomes of the last nights, for a chart. */
import type { Queryable } from '../../../storage/queryable.ts';
import { PROBLEMS } from '../rows.ts';

export type NightOutcome = 'good' | 'running' | 'problems' | 'failed';

/** The runs of a sync that started on one day in its time zone. */
export interface Night {
  readonly sync: string;
  /** Such as 2026-11-22. */
  readonly day: string;
  readonly runs: number;
  /** The days of the first and the last of them in UTC. */
  readonly from: string;
  readonly to: string;
  /** The worst of them. */
  readonly outcome: NightOutcome;
}

/** Without dry runs, since `days` days ago. `zones`: the time zone of each sync, by name. */
export async function nightsOf(
  db: Queryable,
  zones: Readonly<Record<string, string>>,
  days: number,
): Promise<readonly Night[]> {
  const found = await db.query<Night>(
    // Grouped by date, because a text for each run takes longer than all the rest.
    `select sync, to_char(date, 'YYYY-MM-DD') as day, count(*)::int as runs,
       to_char(min(created_at) at time zone 'UTC', 'YYYY-MM-DD') as "from", to_char(max(created_at) at time zone 'UTC', 'YYYY-MM-DD') as "to",
       case when bool_or(status = 'failed') then 'failed'
         when bool_or(status = 'done' and counts ?| $4::text[]) then 'problems'
         when bool_or(status in ('running', 'paused')) then 'running' else 'good' end as outcome
     from unnest($1::text[], $2::text[]) as z (sync, zone) join ledger.runs using (sync)
       cross join lateral (select (created_at at time zone zone)::date as date) local
     where not dry_run and part_of is null and created_at > now() - ($3::int + 1) * interval '1 day'
     group by sync, date`,
    [Object.keys(zones), Object.values(zones), days, PROBLEMS],
  );
  return found.rows;
}
