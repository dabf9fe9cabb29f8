/** Writes outcomes of deliveries, many at a time, and only under the claim with which they were sent. */
import type { TargetAnswer } from '../../contract/target.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { DeliveryClaim } from './claims.ts';
import type { Decision } from './retry-policy.ts';

export interface Outcome {
  readonly id: string;
  /** `unsent`: it was claimed, and is released unsent. */
  readonly decision: Decision | { readonly status: 'unsent' };
  readonly answer?: TargetAnswer | undefined;
  /** The target may still make the change. */
  readonly isUnclear?: boolean | undefined;
}

/** Limits spend no attempt, so there may be any number. */
const MOST_FAILURES = 20;

export type Written =
  /** `left`: locked by a transaction that has queued newer deliveries of their tasks; write them again. */
  | { readonly status: 'written'; readonly left: ReadonlySet<string> }
  /** The claim was taken over, together with all deliveries sent under it. */
  | { readonly status: 'claim-lost' };

/**
 * A delivery to be retried waits, unless a newer one was queued meanwhile: then it ends as superseded. This never waits for a
 * row lock, so it cannot be part of a deadlock, and another long transaction delays only its own rows.
 */
export async function writeOutcomes(
  db: Queryable,
  claim: DeliveryClaim,
  outcomes: readonly Outcome[],
  now: Date | undefined,
): Promise<Written> {
  const ids = outcomes.map(({ id }) => id);
  // A delivery is on its way as long as it names its claim.
  const written = await db.query<{ isHeld: boolean; count: number }>(
    `with moment as materialized (select coalesce($3::timestamptz, clock_timestamp()) as now),
     held as (select id from ledger.delivery_claims where id = $1 for share),
     told as (select * from json_to_recordset($4)
       as t(id text, verdict text, reason text, detail text, answer json, failure jsonb, is_unclear bool, spent int, after_ms float8)),
     free as materialized (select id from ledger.deliveries d where id = any($2) and claim_id = (select id from held)
       for update skip locked),
     written as (update ledger.deliveries d set claim_id = null,
       state = case when t.verdict is null and d.newer_id is null then 'waiting' else 'ended' end,
       verdict = coalesce(t.verdict, case when d.newer_id is not null then 'superseded' end),
       reason = case when t.verdict is not null then t.reason when d.newer_id is not null then 'SUPERSEDED'
         else coalesce(t.reason, d.reason) end,
       detail = case when t.verdict is not null then t.detail when d.newer_id is not null then 'by ' || d.newer_id
         else coalesce(t.detail, d.detail) end,
       answer = coalesce(t.answer, d.answer),
       failures = case when t.failure is null then d.failures
         else (case when jsonb_array_length(d.failures) >= ${MOST_FAILURES} then d.failures - 0 else coalesce(d.failures, '[]') end)
           || jsonb_build_array(jsonb_build_object('at', moment.now) || t.failure) end,
       unclear_at = case when t.is_unclear then moment.now else d.unclear_at end,
       attempts = d.attempts + t.spent,
       due_at = coalesce(moment.now + t.after_ms * interval '1 ms', d.due_at),
       ended_at = case when t.verdict is not null or d.newer_id is not null then moment.now end
     from free join told t using (id), moment where d.id = free.id)
     select exists (select from held) as "isHeld", (select count(*)::int from free) as count`,
    [claim.id, ids, now, JSON.stringify(outcomes.map(toRow))],
  );
  const { isHeld = false, count = 0 } = written.rows[0] ?? {};
  if (!isHeld) return { status: 'claim-lost' };
  return { status: 'written', left: count === ids.length ? new Set() : await stillClaimed(db, claim, ids) };
}

async function stillClaimed(db: Queryable, claim: DeliveryClaim, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const left = await db.query<{ id: string }>('select id from ledger.deliveries where id = any($1) and claim_id = $2', [
    ids,
    claim.id,
  ]);
  return new Set(left.rows.map(({ id }) => id));
}

/** In the form that the statement reads; absent values are null. */
function toRow({ id, decision, answer, isUnclear = false }: Outcome) {
  const isSent = decision.status === 'ended' || decision.status === 'again';
  const verdict = decision.status === 'ended' ? decision.verdict : undefined;
  const { reason, detail } = decision.status === 'unsent' ? {} : decision;
  const hasFailed = decision.status !== 'unsent' && (verdict === undefined || verdict === 'dead');
  return {
    id,
    verdict,
    reason,
    detail,
    answer,
    failure: hasFailed ? { reason, detail, answer } : undefined,
    is_unclear: isUnclear,
    spent: isSent ? 1 : 0,
    after_ms: 'afterMs' in decision ? decision.afterMs : undefined,
  };
}
