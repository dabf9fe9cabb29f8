/** This process's claim on one target: taken, renewed while it lives, and given up in time when it cannot be renewed. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { WorkerIdentity } from '../engine/ledger/claims.ts';
import { type DeliveryClaim, dropClaims, renewClaim, takeClaim } from './claims.ts';
import type { Clock } from './clock.ts';

const TTL_MS = 30_000;
const RENEW_MS = 10_000;
/** Nothing is under way for so long before the claim may be somebody else's: calls are broken off before. */
const GUARD_MS = 5_000;
/** Longer than the longest timeout of a target: a call that goes on after this is broken off. */
const LONGEST_CALL_MS = 330_000;
const TRY_AGAIN_MS = 1_000;

/** One call that is under way. */
export interface Call {
  readonly signal: AbortSignal;
  over(): void;
}

export interface Lease {
  /** The claim as it stands, a new one where there is none. */
  hold(): Promise<DeliveryClaim>;
  /** Whether what was claimed so may be sent now. */
  isHeld(claim: DeliveryClaim): boolean;
  /** Its signal aborts when the claim is about to run out, or the call takes too long. */
  begin(): Call;
  /** The claim is no longer ours; what is under way is broken off. */
  lose(): void;
  close(): Promise<void>;
}

export interface LeaseNeeds {
  readonly pool: pg.Pool;
  readonly worker: WorkerIdentity;
  readonly clock: Clock;
  readonly log: Logger;
}

export function createLease(target: string, { pool, worker, clock, log }: LeaseNeeds): Lease {
  const closing = new AbortController();
  const calls = new Map<AbortController, number>();
  let claim: DeliveryClaim | undefined;
  let endsAtMs = 0;

  const lose = (): void => {
    claim = undefined;
    for (const call of calls.keys()) call.abort();
  };

  async function renew(held: DeliveryClaim): Promise<void> {
    const askedAtMs = clock.nowMs();
    if (await renewClaim(pool, held, { ttlMs: TTL_MS, now: clock.ledgerNow() }))
      endsAtMs = askedAtMs + TTL_MS - GUARD_MS;
    else if (claim === held) lose();
  }

  function breakOffLong(): void {
    for (const [call, sinceMs] of calls) if (clock.nowMs() - sinceMs > LONGEST_CALL_MS) call.abort();
  }

  async function keep(): Promise<void> {
    let pauseMs = RENEW_MS;
    while (!closing.signal.aborted) {
      await clock.wait(pauseMs, closing.signal);
      breakOffLong();
      if (!claim) continue;
      try {
        await renew(claim);
        pauseMs = RENEW_MS;
      } catch (error) {
        log.warn({ err: error, target }, 'a claim on a target was not renewed');
        pauseMs = TRY_AGAIN_MS;
      }
      if (clock.nowMs() >= endsAtMs) lose();
    }
  }

  const keeping = keep();
  return {
    async hold() {
      if (claim && clock.nowMs() < endsAtMs) return claim;
      const askedAtMs = clock.nowMs();
      claim = await takeClaim(pool, target, { worker, ttlMs: TTL_MS, now: clock.ledgerNow() });
      endsAtMs = askedAtMs + TTL_MS - GUARD_MS;
      return claim;
    },
    isHeld: (held) => claim === held && clock.nowMs() < endsAtMs,
    begin() {
      const call = new AbortController();
      calls.set(call, clock.nowMs());
      return { signal: call.signal, over: () => void calls.delete(call) };
    },
    lose,
    async close() {
      closing.abort();
      await keeping;
      if (claim) await dropClaims(pool, [claim.id]);
      claim = undefined;
    },
  };
}
