/** Figures of runs over time, for charts. */
import type { Queryable } from '../../storage/queryable.ts';

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
    `select sync, to_char(created_at at time zone zone, 'YYYY-MM-DD') as day, count(*)::int as runs,
       to_char(min(created_at) at time zone 'UTC', 'YYYY-MM-DD') as "from", to_char(max(created_at) at time zone 'UTC', 'YYYY-MM-DD') as "to",
       case when bool_or(status = 'failed') then 'failed'
         when bool_or(status = 'done' and counts ?| array['rejected', 'review', 'invalid', 'unknown']) then 'problems'
         when bool_or(status in ('running', 'paused')) then 'running' else 'good' end as outcome
     from unnest($1::text[], $2::text[]) as z (sync, zone) join ledger.runs using (sync)
     where not dry_run and part_of is null and created_at > clock_timestamp() - ($3::int + 1) * interval '1 day'
     group by 1, 2`,
    [Object.keys(zones), Object.values(zones), days],
  );
  return found.rows;
}

export interface Throughput {
  /** How long each part of the run took, in seconds. */
  readonly widthS: number;
  readonly startedAt: Date;
  /** Rows that were sent in each part, without a gap. */
  readonly sent: readonly number[];
}

const PARTS = 60;

/** Undefined if the run sent nothing. */
export async function throughputOf(db: Queryable, runId: string): Promise<Throughput | undefined> {
  const found = await db.query<{ startedAt: Date; widthS: number; part: number; sent: number }>(
    `with sent as (select at from ledger.attempts where run_id = $1 and outcome <> 'unsent'),
       span as (select min(at) as first, greatest(1, ceil(extract(epoch from max(at) - min(at)) / ${PARTS})) as width from sent)
     select first as "startedAt", width::float8 as "widthS",
       floor(extract(epoch from at - first) / width)::int as part, count(*)::int as sent
     from sent, span group by 1, 2, 3 order by 3`,
    [runId],
  );
  const [first] = found.rows;
  if (first === undefined) return undefined;
  const sent = Array.from({ length: (found.rows.at(-1)?.part ?? 0) + 1 }, () => 0);
  for (const { part, sent: n } of found.rows) sent[part] = n;
  return { widthS: first.widthS, startedAt: first.startedAt, sent };
}
