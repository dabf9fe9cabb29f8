/**
 * A client behind its breaker: while the breaker is open, batch work and repeated calls come back at once as `not-sent`
 * with the time to return, and when the pause is over one read shows whether the service is back. A create is never what
 * finds out. What a person waits for is tried all the same, the first time.
 */
import type { OperationName } from '../contract/operations.ts';
import { type Breaker, FAILURES_TO_OPEN, type Health } from './breaker.ts';
import { isRead } from './classify.ts';
import type { CallOptions, Client } from './client.ts';
import type { NotSent, Outcome, StreamOutcome, UnknownReason } from './outcome.ts';

export interface Guard {
  readonly breaker: Breaker;
  /** A read that costs the service little. */
  readonly probe: (options: CallOptions) => Promise<Outcome>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** A caller waits no longer than this for a probe that another caller makes. */
const PROBE_MS = 1_000;

const FAILING: ReadonlySet<UnknownReason | undefined> = new Set(['server-error', 'timeout', 'broken-off']);

/** `client` with a breaker in front of its calls. */
export function guardClient(client: Client, { breaker, probe, now }: Guard): Client {
  let isProbing = false;
  let lastFailure = '';

  async function guarded<T extends Outcome | StreamOutcome>(
    operation: OperationName,
    options: CallOptions,
    send: () => Promise<T>,
  ): Promise<T | NotSent> {
    const isFirstTryOfPerson = options.lane === 'interactive' && options.isRetry !== true;
    if (isFirstTryOfPerson) return watched(send);
    const admission = breaker.admit(now());
    if (admission.status === 'wait') return heldBack(admission.forMs);
    if (admission.status === 'go') return watched(send);
    if (isProbing) return heldBack(PROBE_MS);
    isProbing = true;
    try {
      if (isRead(operation)) return await watched(send);
      await watched(() => probe(options));
    } finally {
      isProbing = false;
    }
    const after = breaker.admit(now());
    if (after.status === 'go') return watched(send);
    return heldBack(after.status === 'wait' ? after.forMs : 0); // 0: the probe had no answer, such as without a token of the budget
  }

  async function watched<T extends Outcome | StreamOutcome>(send: () => Promise<T>): Promise<T> {
    const outcome = await send();
    const health = healthIn(outcome);
    if (health === 'fails' && 'message' in outcome) lastFailure = outcome.message;
    if (health !== undefined) breaker.saw(health, now());
    return outcome;
  }

  function heldBack(forMs: number): NotSent {
    return {
      status: 'not-sent',
      reason: 'breaker',
      message: `held back after ${FAILURES_TO_OPEN} calls in a row that failed, the last one so: ${lastFailure}`,
      retryAfterMs: Math.max(1, Math.ceil(forMs)),
    };
  }

  return {
    ...client,
    call: (operation, options) => guarded(operation, options, () => client.call(operation, options)),
    stream: (operation, options) => guarded(operation, options, () => client.stream(operation, options)),
  };
}

/**
 * A failure is a call that a working service would have answered: 5xx, silence, a broken or refused connection. Every
 * other answer, a refusal or a 429 too, shows that the service works. Undefined: it says nothing of the service.
 */
function healthIn(outcome: Outcome | StreamOutcome): Health | undefined {
  switch (outcome.status) {
    case 'applied':
    case 'refused':
    case 'limited':
      return 'answers';
    case 'unknown':
      if (outcome.reason === 'aborted') return undefined;
      return FAILING.has(outcome.reason) ? 'fails' : 'answers';
    case 'not-sent':
      return outcome.reason === 'unreachable' ? 'fails' : undefined;
    default:
      return outcome satisfies never;
  }
}
