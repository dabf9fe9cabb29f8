/** Writes what became of deliveries, many at a time and only under the claim they were sent with. */
import type { Queryable } from '../engine/ledger/runs.ts';
import type { TargetAnswer } from '../targets/target.ts';
import type { DeliveryClaim } from './claims.ts';
import type { Decision } from './schedule.ts';

export interface Outcome {
  readonly id: string;
  /** `unsent`: it was claimed, and is given back. */
  readonly decision: Decision | { readonly status: 'unsent' };
  readonly answer?: TargetAnswer | undefined;
}

export type Written =
  /** `left` are held by a transaction that has seen newer ones of their tasks: to be written again. */
  | { readonly status: 'written'; readonly left: ReadonlySet<string> }
  /** The claim was taken over, and with it what was sent under it. */
  | { readonly status: 'claim-lost' };

/**
 * What has to be tried again waits, unless a newer one has been seen meanwhile: then it ends as superseded. Never waits
 * for a row, so that it can be no part of a deadlock and a long transaction of others holds up nothing but its own rows.
 */
export async function writeOutcomes(
  db: Queryable,
  claim: DeliveryClaim,
  outcomes: readonly Outcome[],
  now: Date | undefined,
): Promise<Written> {
  const decisions = outcomes.map(({ decision }) => decision);
  const written = await db.query<{ isHeld: boolean; left: readonly string[] }>(
    `with moment as materialized (select coalesce($3::timestamptz, clock_timestamp()) as now),
     held as (select id from ledger.delivery_claims where id = $1 for share),
     told as (select * from unnest($2::text[], $4::text[], $5::text[], $6::text[], $7::json[], $8::int[], $9::float8[])
       as t(id, verdict, reason, detail, answer, spent, after_ms)),
     mine as materialized (select id from ledger.deliveries where id = any($2) and state = 'sending'
       and claim_id = (select id from held)),
     free as materialized (select id from ledger.deliveries d where id = any($2) and state = 'sending'
       and claim_id = (select id from held) for update skip locked),
     written as (update ledger.deliveries d set claim_id = null,
       state = case when t.verdict is null and d.newer_id is null then 'waiting' else 'ended' end,
       verdict = coalesce(t.verdict, case when d.newer_id is not null then 'superseded' end),
       reason = case when t.verdict is not null then t.reason when d.newer_id is not null then 'SUPERSEDED'
         else coalesce(t.reason, d.reason) end,
       detail = case when t.verdict is not null then t.detail when d.newer_id is not null then 'by ' || d.newer_id
         else coalesce(t.detail, d.detail) end,
       answer = coalesce(t.answer, d.answer),
       attempts = d.attempts + t.spent,
       due_at = coalesce(moment.now + t.after_ms * interval '1 ms', d.due_at),
       ended_at = case when t.verdict is not null or d.newer_id is not null then moment.now end
     from free join told t using (id), moment where d.id = free.id)
     select exists (select from held) as "isHeld",
       array(select id from mine except select id from free) as left`,
    [
      claim.id,
      outcomes.map(({ id }) => id),
      now,
      decisions.map((decision) => (decision.status === 'ended' ? decision.verdict : null)),
      decisions.map((decision) => ('reason' in decision ? decision.reason : null)),
      decisions.map((decision) => ('detail' in decision ? decision.detail : null)),
      outcomes.map(({ answer }) => (answer === undefined ? null : JSON.stringify(answer))),
      decisions.map(({ status }) => (status === 'ended' || status === 'again' ? 1 : 0)),
      decisions.map((decision) => ('afterMs' in decision ? decision.afterMs : null)),
    ],
  );
  const found = written.rows[0];
  return found?.isHeld ? { status: 'written', left: new Set(found.left) } : { status: 'claim-lost' };
}
