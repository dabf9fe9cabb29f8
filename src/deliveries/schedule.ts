/**
 * What follows from what a target answered: the one policy of deliveries, pure. An outcome, the attempts before it and a
 * random number go in; a decision comes out. The times are those that the Standard Webhooks specification recommends.
 */
import type { DeliveryOutcome } from '../targets/target.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** What each attempt waits after the one before it. After the last one a delivery is a dead letter. */
export const SCHEDULE_MS: readonly number[] = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
/** A wait is longer or shorter by up to this share, so that what failed together does not come back together. */
const JITTER = 0.1;
/** A target, or a header gone wrong, must not put a delivery off for longer. */
const LONGEST_PUT_OFF_MS = 24 * HOUR;
/** The same for all deliveries of a target. */
const LONGEST_BLOCK_MS = HOUR;
/** A target that says to slow down and asks for no pause would be called again at once, and again. */
const LEAST_BLOCK_MS = SECOND;
/** Where a target says to slow down and not for how long. */
const DEFAULT_BLOCK_MS = 30 * SECOND;

export type Ended = 'delivered' | 'already' | 'skipped' | 'dead';

export type Decision = { readonly reason?: string; readonly detail?: string } & (
  | { readonly status: 'ended'; readonly verdict: Ended }
  /** To be tried again; an attempt is spent. */
  | { readonly status: 'again'; readonly afterMs: number }
  /** The whole target waits; no attempt is spent. */
  | { readonly status: 'limited'; readonly afterMs: number }
  /** The target takes nothing until a person enables it; no attempt is spent. */
  | { readonly status: 'disabled' }
);

/** `attempts`: those spent before this one; `random` in [0, 1). */
export function decide(
  outcome: DeliveryOutcome,
  { attempts, random }: { readonly attempts: number; readonly random: number },
): Decision {
  switch (outcome.status) {
    case 'delivered':
    case 'already':
      return {
        status: 'ended',
        verdict: outcome.status,
        ...(outcome.detail !== undefined && { detail: outcome.detail }),
      };
    case 'skipped':
      return { status: 'ended', verdict: 'skipped', ...why(outcome) };
    case 'refused':
      return { status: 'ended', verdict: 'dead', ...why(outcome) };
    case 'disabled':
      return { status: 'disabled', ...why(outcome) };
    case 'later':
      return outcome.isLimited ? whenLimited(outcome) : whenFailed(outcome, attempts + 1, random);
    default:
      return outcome satisfies never;
  }
}

type Later = Extract<DeliveryOutcome, { status: 'later' }>;

function whenLimited(outcome: Later): Decision {
  const askedMs = outcome.retryAfterMs ?? DEFAULT_BLOCK_MS;
  const afterMs = Math.max(LEAST_BLOCK_MS, Math.min(LONGEST_BLOCK_MS, askedMs));
  return { status: 'limited', afterMs, ...why(outcome) };
}

function whenFailed(outcome: Later, spent: number, random: number): Decision {
  const scheduledMs = SCHEDULE_MS[spent];
  if (scheduledMs === undefined) {
    return {
      status: 'ended',
      verdict: 'dead',
      reason: outcome.reason,
      detail: `given up after ${spent} attempts: ${outcome.detail}`,
    };
  }
  const jitteredMs = scheduledMs * (1 - JITTER + 2 * JITTER * random);
  const askedMs = Math.min(LONGEST_PUT_OFF_MS, outcome.retryAfterMs ?? 0);
  return { status: 'again', afterMs: Math.max(jitteredMs, askedMs), ...why(outcome) };
}

function why({ reason, detail }: { readonly reason: string; readonly detail: string }) {
  return { reason, detail };
}
