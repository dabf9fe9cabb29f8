/**
 * What follows from a target's answer: the one policy of deliveries, pure. It takes an outcome, the attempts before it and a
 * random number, and returns a decision. The times are those that the Standard Webhooks specification recommends.
 */
import type { DeliveryOutcome } from '../../contract/target.ts';
import type { DeliveryVerdict } from './deliveries.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The wait before each further attempt. After the last attempt a delivery is a dead letter. */
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
/** Each wait is longer or shorter by up to this share, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;
/** The longest delay that a target, or a wrong header, can ask for. */
const LONGEST_PUT_OFF_MS = 24 * HOUR;
/** The same for all deliveries of a target. */
const LONGEST_BLOCK_MS = HOUR;
/** The shortest pause of a target that says to slow down; without it, the target would be called again at once. */
const LEAST_BLOCK_MS = SECOND;
/** The pause if a target says to slow down and names no time. */
const DEFAULT_BLOCK_MS = 30 * SECOND;

export type Ended = Exclude<DeliveryVerdict, 'superseded'>;

export type Decision = { readonly reason?: string; readonly detail?: string } & (
  | { readonly status: 'ended'; readonly verdict: Ended }
  /** To be retried; an attempt is spent. */
  | { readonly status: 'again'; readonly afterMs: number }
  /** The whole target waits; no attempt is spent. */
  | { readonly status: 'limited'; readonly afterMs: number }
  /** The target is disabled until a person enables it; no attempt is spent. */
  | { readonly status: 'disabled' }
);

/** `attempts`: spent before this one; `random` in [0, 1). */
export function decideDelivery(
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
