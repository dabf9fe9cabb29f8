/** The arguments and answers of both stores, as plain numbers in the order of their functions. Times are in µs. */
import { z } from 'zod';
import type { AcquireRequest, Congestion, Cut, Grant, Lane, RetryTaken } from './budget.ts';

/** The share of the rate that is guaranteed to a lane. */
const SHARE: Readonly<Record<Lane, number>> = { interactive: 0, batch: 0.1 };
const NO_LIMIT_US = 1e12;

const number = z.coerce.number();
const acquireReply = z.tuple([number, number, number, number, number, number, number]);
const shortReply = z.tuple([number, number, number]);

/** 17 values: lane … extra. Without a request for slots, the holder is ''. */
export function acquireValues(request: AcquireRequest): readonly (string | number)[] {
  const { lane, want, cost, pace, withinMs, bound, successes = 0, slots } = request;
  const withinUs = withinMs === undefined ? NO_LIMIT_US : Math.min(withinMs * 1000, NO_LIMIT_US);
  const { holder = '', seq = 0, holding = 0, wanted = 0, cap = 0, extra = 0 } = slots ?? {};
  return [
    ...[lane, want, cost, pace.ratePerSecond, pace.burst, pace.mode ?? 'fixed', withinUs, SHARE[lane]],
    ...[bound?.ratePerSecond ?? 0, (bound?.forMs ?? 0) * 1000, successes],
    ...[holder, seq, holding, wanted, cap, extra],
  ];
}

/** The reply is granted, now, first, retry, blocked, rate, slots. */
export function readGrant(reply: unknown, cost: number): Grant {
  const [granted, nowUs, firstInUs, retryInUs, blockedForUs, ratePerSecond, slots] = acquireReply.parse(reply);
  return {
    granted,
    storeNowMs: nowUs / 1000,
    usableInMs: firstInUs / 1000,
    intervalMs: (cost * (1e6 / ratePerSecond)) / 1000,
    retryInMs: retryInUs / 1000,
    blockedForMs: blockedForUs / 1000,
    slots,
    ratePerSecond,
  };
}

/** 4 values: for, admitted at, ceiling, mode. */
export function congestionValues({ forMs, admittedAtMs, pace }: Congestion): readonly (string | number)[] {
  return [forMs * 1000, admittedAtMs * 1000, pace.ratePerSecond, pace.mode ?? 'fixed'];
}

/** The reply is isCut, rate, now. */
export function readCut(reply: unknown): Cut {
  const [isCut, ratePerSecond, nowUs] = shortReply.parse(reply);
  return { isCut: isCut === 1, ratePerSecond, storeNowMs: nowUs / 1000 };
}

/** The reply is isGranted, retryIn, now. */
export function readRetry(reply: unknown): RetryTaken {
  const [isGranted, retryInUs] = shortReply.parse(reply);
  return isGranted === 1 ? { status: 'granted' } : { status: 'empty', retryAfterMs: Math.ceil(retryInUs / 1000) };
}
