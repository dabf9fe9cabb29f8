/**
 * The circuit breaker of one account in this process: after a row of failures it holds calls back, so that a service
 * that is down is not kept down, and lets one GET find out whether it is back. A create is never what finds out.
 * After Michael Nygard, "Release It!" (2007). Pure but for the clock, which is given.
 *
 * A failure is a call that a working service would have answered: 5xx, silence, a broken or refused connection. Every
 * other answer, a refusal or a 429 too, shows that somebody is there.
 */
import type { Outcome, StreamOutcome, UnknownReason } from './outcome.ts';

export type Admission =
  /** Send it. */
  | { readonly status: 'go' }
  /** Read something first: if that is answered, send it. */
  | { readonly status: 'probe' }
  | { readonly status: 'wait'; readonly forMs: number };

export interface Breaker {
  /** Asked before a call of batch work and before every repeated call; a person's first try passes unasked. */
  admit(nowMs: number): Admission;
  /** Told of every outcome; of the probe's as well. */
  saw(outcome: Outcome | StreamOutcome, nowMs: number): void;
  /** Takes back the right to probe, for a probe that came to nothing. */
  passOnProbe(nowMs: number): void;
  /** What the last call that failed came to, for messages. */
  lastFailure(): string;
}

/** Failures in a row that open it: more than chance brings at a service that fails now and then. */
export const FAILURES_TO_OPEN = 10;
/** The first pause; each failed probe doubles it. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Nobody waits longer than this for a probe that another caller is at. */
const PROBE_MS = 1_000;

const GO: Admission = { status: 'go' };

const FAILING: ReadonlySet<UnknownReason | undefined> = new Set(['server-error', 'timeout', 'broken-off']);

export function createBreaker(): Breaker {
  let failures = 0;
  let pauses = 0;
  /** Set while it is open: when the next probe may be made. */
  let probeAtMs: number | undefined;
  let isProbing = false;
  let lastFailure = '';

  function open(nowMs: number): void {
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** pauses);
    pauses++;
    probeAtMs = nowMs + pauseMs;
    isProbing = false;
  }

  return {
    admit(nowMs) {
      if (probeAtMs === undefined) return GO;
      if (nowMs < probeAtMs) return { status: 'wait', forMs: probeAtMs - nowMs };
      if (isProbing) return { status: 'wait', forMs: PROBE_MS };
      isProbing = true;
      return { status: 'probe' };
    },
    saw(outcome, nowMs) {
      const health = healthIn(outcome);
      if (health === 'answers') {
        failures = 0;
        pauses = 0;
        probeAtMs = undefined;
        isProbing = false;
      } else if (health === 'fails') {
        failures++;
        lastFailure = 'message' in outcome ? outcome.message : '';
        const isProbeOver = probeAtMs !== undefined && nowMs >= probeAtMs;
        if (isProbeOver || (probeAtMs === undefined && failures >= FAILURES_TO_OPEN)) open(nowMs);
      }
    },
    passOnProbe(nowMs) {
      if (!isProbing) return;
      isProbing = false;
      probeAtMs = nowMs;
    },
    lastFailure: () => lastFailure,
  };
}

function healthIn(outcome: Outcome | StreamOutcome): 'answers' | 'fails' | 'says-nothing' {
  switch (outcome.status) {
    case 'applied':
    case 'refused':
    case 'limited':
      return 'answers';
    case 'unknown':
      if (outcome.reason === 'aborted') return 'says-nothing';
      return FAILING.has(outcome.reason) ? 'fails' : 'answers';
    case 'not-sent':
      return outcome.reason === 'unreachable' ? 'fails' : 'says-nothing';
    default:
      return outcome satisfies never;
  }
}
