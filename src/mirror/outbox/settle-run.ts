/** Settles a run's rows by the outcomes of its deliveries. */
import type { Run } from '../../engine/ledger/runs.ts';
import { settleSources } from '../../engine/ledger/transitions.ts';
import type { Queryable } from '../../storage/queryable.ts';

/** A run waits no longer than this for a target that is not answering, or for a process that serves it. */
const PATIENCE_MS = 10_000;

/**
 * Whether there is still something to wait for: a delivery that is on its way, or due and never tried. Deliveries that wait
 * for a retry do not count, nor deliveries to a target that is disabled, has been failing, asks for a longer pause, or that
 * no worker serves after `waitedMs`. A process that has just started may still be about to serve its targets, however
 * long ago a killed one queued the deliveries.
 */
export async function isUnderWay(db: Queryable, runId: string, waitedMs: number): Promise<boolean> {
  const found = await db.query<{ isUnderWay: boolean }>(
    `with targets as materialized (
       select target, (s.disabled_at is not null
           or s.blocked_until > clock_timestamp() + $2 * interval '1 ms'
           or s.failing_since < clock_timestamp() - $2 * interval '1 ms') is true as stands_still,
         $3 or ${isServed('d')} as is_served
       from (select distinct target from ledger.deliveries where run_id = $1) d left join ledger.target_states s using (target)
     )
     select exists (select from ledger.deliveries d join targets t using (target) where d.run_id = $1 and (d.state = 'sending'
       or (d.state = 'waiting' and d.attempts = 0 and d.due_at < clock_timestamp() + $2 * interval '1 ms'
         and not t.stands_still and t.is_served))) as "isUnderWay"`,
    [runId, PATIENCE_MS, waitedMs < PATIENCE_MS],
  );
  return found.rows[0]?.isUnderWay ?? false;
}

/** Settles the remaining rows; must run in one transaction. Returns how many rows. */
export function settleDelivered(db: Queryable, run: Run): Promise<number> {
  const sql = `select d.kind || ':' || d.task_id as source_id, ${VERDICT} as verdict,
      case when min(rank) <> 3 then (array_agg(reason ${FIRST}) filter (where rank = worst))[1] end as reason,
      case when min(rank) = 3 then jsonb_build_object('event', min(event))
        else (array_agg(facts ${FIRST}) filter (where rank = worst))[1] end as facts
    from (select *, min(rank) over (partition by kind, task_id) as worst from (${told()}) told) d
    group by d.kind, d.task_id`;
  return settleSources(db, run.id, { sql }, { verdict: 'review', reason: 'NO_DELIVERY' });
}

/** The outcomes of the run's deliveries, one line per target. */
export async function deliveryNotes(db: Queryable, runId: string): Promise<readonly string[]> {
  const found = await db.query<{ target: string; words: string; disabled: string | null }>(
    `select target, string_agg(n || ' ' || word, ', ' order by word) as words, max(disabled) as disabled
     from (select d.target, coalesce(d.verdict, 'not yet delivered') as word, count(*) as n,
         max(s.disabled_reason || ': ' || s.disabled_detail) filter (where d.state <> 'ended' and s.disabled_at is not null) as disabled
       from ledger.deliveries d left join ledger.target_states s using (target) where d.run_id = $1 group by 1, 2) counted
     group by target order by target`,
    [runId],
  );
  return found.rows.map(({ target, words, disabled }) => {
    const remedy = `; it is disabled (${disabled}): fix the cause, then run: \`lockstep deliveries enable ${target}\``;
    return `${target}: ${words}${disabled === null ? '' : remedy}`;
  });
}

/** Whether a process serves the target of this row. */
function isServed(alias: string): string {
  return `exists (select from ledger.delivery_claims c where c.target = ${alias}.target and c.expires_at > clock_timestamp())`;
}

/** The worst outcome decides: outcomes that need a person come before successes. */
const VERDICT = `case min(rank)
    when 1 then 'review' when 2 then 'review'
    when 3 then case when bool_or(event = 'created') then 'created' else 'updated' end
    else 'unchanged' end`;

/** Of outcomes of one rank, what a person has to end comes first. Reason and facts are of the same delivery. */
const FIRST = `order by reason is distinct from 'TARGET_DISABLED', target`;

/** The run's deliveries with their rank, reason and facts. */
function told(): string {
  return `select d.kind, d.task_id, d.event,
      case when d.verdict = 'dead' then 1 when d.verdict is null then 2
        when d.verdict in ('delivered', 'superseded') then 3 when d.verdict = 'skipped' then 4 else 5 end as rank,
      case when d.verdict is not null then d.reason when s.disabled_at is not null then 'TARGET_DISABLED' else 'RETRYING' end
        as reason,
      d.target, jsonb_strip_nulls(jsonb_build_object('target', d.target, 'delivery', d.id) || case
        when d.verdict = 'superseded' then jsonb_build_object('by', d.newer_id)
        when d.verdict is not null then jsonb_build_object('said', coalesce(d.detail, d.verdict))
        when s.disabled_at is not null then jsonb_build_object('said', s.disabled_detail)
        else jsonb_build_object('said', coalesce(d.detail, s.failing_detail), 'attempts', d.attempts,
          'unserved', nullif(not ${isServed('d')}, false),
          'due', to_char(greatest(d.due_at, s.blocked_until, clock_timestamp()) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
        end) as facts
    from ledger.deliveries d left join ledger.target_states s using (target) where d.run_id = $1`;
}
