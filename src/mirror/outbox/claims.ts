/**
 * Claims on a target: a process's right to send its deliveries for a while. A delivery is claimed durably before it is
 * sent, and its outcome is written only under that claim. When a claim expires, its deliveries wait again, with the same ids.
 *
 * `now` is a moment of the caller's clock; undefined means the database's own.
 */
import { z } from 'zod';
import type { WorkerIdentity } from '../../base/process-identity.ts';
import type { Delivery } from '../../contract/target.ts';
import { fenceDeadClaims } from '../../engine/ledger/claims.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { linkKind } from '../links/item-links.ts';
import { isOlder, isSameTask, unclearUntil } from './delivery-sql.ts';

export interface DeliveryClaim {
  readonly id: number;
  readonly target: string;
}

/** Ids of runs; undefined: all runs. */
export type Runs = readonly string[] | undefined;

/** A delivery that the claimer may send. */
export interface Claimed {
  readonly delivery: Delivery;
  readonly claimId: number;
  readonly runId: string | undefined;
  readonly sync: string;
  /** Attempts spent before. */
  readonly attempts: number;
}

export async function takeOutboxClaim(
  db: Queryable,
  target: string,
  { worker, ttlMs, now }: { readonly worker: WorkerIdentity; readonly ttlMs: number; readonly now: Date | undefined },
): Promise<DeliveryClaim> {
  const taken = await db.query<{ id: number }>(
    `insert into ledger.delivery_claims (target, worker, expires_at)
     values ($1, $2, coalesce($4::timestamptz, clock_timestamp()) + $3 * interval '1 ms') returning id`,
    [target, worker, ttlMs, now],
  );
  return { id: z.number().parse(taken.rows[0]?.id), target };
}

interface ClaimedRow extends Omit<Delivery, 'itemId'> {
  readonly itemId: string | null;
  readonly runId: string | null;
  readonly sync: string;
  readonly attempts: number;
}

/**
 * Claims up to `limit` due deliveries, the longest due first. Of each task it claims the oldest open one, and none while
 * another of it is on its way. A delivery is put off as long as the target may still make an earlier change of its task:
 * that change would undo this one. It claims nothing while the target is disabled or blocked. `runs`: only deliveries that
 * these runs have queued, and what has to be sent before them; undefined: of all runs.
 */
export async function claimDue(
  db: Queryable,
  claim: DeliveryClaim,
  { limit, now, runs }: { readonly limit: number; readonly now: Date | undefined; readonly runs?: Runs },
): Promise<readonly Claimed[]> {
  // Postgres checks the candidates one by one, so the limit avoids most of the checks.
  const claimed = await db.query<ClaimedRow>(
    `with moment as materialized (select coalesce($4::timestamptz, clock_timestamp()) as now),
     held as (select c.id from ledger.delivery_claims c, moment where c.id = $1 and c.expires_at > moment.now
       and not exists (select from ledger.target_states s where s.target = $2
         and (s.disabled_at is not null or s.blocked_until > moment.now)) for share of c),
     picked as (select d.id, others.unclear_until > moment.now as is_early, others.unclear_until
       from moment, ledger.deliveries d cross join lateral (
         select bool_or(o.state <> 'ended' and (${isOlder('o', 'd')} or o.state = 'sending')) as go_first,
           ${unclearUntil(`max(least(o.unclear_at, moment.now)) filter (where ${isOlder('o', 'd')} and o.unclear_at is not null)`)} as unclear_until
         from ledger.deliveries o where ${isSameTask('o', 'd')}) others
       where d.target = $2 and d.state = 'waiting' and d.due_at <= moment.now and exists (select from held) and not others.go_first
         and ($6::text[] is null or d.run_id = any($6) or exists (select from ledger.deliveries w where ${isSameTask('w', 'd')} and ${isOlder('d', 'w')}
           and w.state = 'waiting' and w.run_id = any($6) offset 0))
       order by d.due_at limit $3 for update of d skip locked),
     put_off as (update ledger.deliveries d set due_at = unclear_until, reason = 'EARLIER_UNCLEAR',
         detail = 'an earlier attempt for this task had no clear answer, so the target may still make that change'
       from picked where d.id = picked.id and is_early),
     taken as (update ledger.deliveries d set state = 'sending', claim_id = held.id from held, picked
       where d.id = picked.id and is_early is not true returning d.*)
     select t.id, t.scope as account, t.sequence, t.event, t.seen_at as "seenAt", t.task, t.run_id as "runId", t.sync, t.attempts,
       (select record_id from ledger.links l
        where l.scope = t.scope and l.kind = $5 and l.source_id = t.kind || ':' || t.task_id) as "itemId"
     from taken t`,
    [claim.id, claim.target, limit, now, linkKind(claim.target), runs],
  );
  return claimed.rows.map(({ runId, sync, attempts, itemId, ...delivery }) => ({
    delivery: { ...delivery, itemId: itemId ?? undefined },
    claimId: claim.id,
    runId: runId ?? undefined,
    sync,
    attempts,
  }));
}

/** Ends claims. Deliveries on their way under them wait again, or are superseded if a newer one was queued meanwhile. */
export async function dropOutboxClaims(db: Queryable, ids: readonly number[], now?: Date): Promise<void> {
  // A statement sees deliveries that are being claimed at this moment only if it begins after that claim has ended. So this
  // one waits for those claims and prevents further ones.
  await db.query(`update ledger.delivery_claims set expires_at = '-infinity' where id = any($1)`, [ids]);
  await db.query(
    `with gone as (delete from ledger.delivery_claims where id = any($1) returning id, target),
     theirs as (select d.id from ledger.deliveries d join gone on gone.target = d.target and gone.id = d.claim_id
       where d.state = 'sending' order by d.id collate "C" for update of d)
     update ledger.deliveries d set claim_id = null, unclear_at = coalesce($2::timestamptz, clock_timestamp()),
       state = case when d.newer_id is null then 'waiting' else 'ended' end,
       verdict = case when d.newer_id is not null then 'superseded' end,
       reason = case when d.newer_id is null then d.reason else 'SUPERSEDED' end,
       detail = case when d.newer_id is null then d.detail else 'by ' || d.newer_id end,
       ended_at = case when d.newer_id is not null then clock_timestamp() end
     from theirs where d.id = theirs.id`,
    [ids, now],
  );
}

/** Takes over claims that have expired, and claims of dead processes on this host. */
export async function dropDeadOutboxClaims(db: Queryable, now: Date | undefined): Promise<number> {
  const dead = await fenceDeadClaims(db, 'ledger.delivery_claims', now);
  if (dead.length > 0) await dropOutboxClaims(db, dead, now);
  return dead.length;
}
