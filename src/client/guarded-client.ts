/**
 * A client behind its breaker: while the breaker is open, batch work and repeated calls come back at once as `not-sent`
 * with the time to return, and when the pause is over one read shows whether the service is back. What a person waits
 * for is tried all the same, the first time.
 */
import type { OperationName } from '../contract/operations.ts';
import { type Admission, type Breaker, FAILURES_TO_OPEN } from './breaker.ts';
import { isRead } from './classify.ts';
import type { CallOptions, Client } from './client.ts';
import type { NotSent, Outcome, StreamOutcome } from './outcome.ts';

export interface Guard {
  readonly breaker: Breaker;
  /** A read that costs the service little. */
  readonly probe: (options: CallOptions) => Promise<Outcome>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** `client` with a breaker in front of its calls. */
export function guardClient(client: Client, { breaker, probe, now }: Guard): Client {
  async function guarded<T extends Outcome | StreamOutcome>(
    operation: OperationName,
    options: CallOptions,
    send: () => Promise<T>,
  ): Promise<T | NotSent> {
    const isFirstTryOfPerson = options.lane === 'interactive' && options.isRetry !== true;
    const admission: Admission = isFirstTryOfPerson ? { status: 'go' } : breaker.admit(now());
    if (admission.status === 'wait') return heldBack(breaker, admission.forMs);
    if (admission.status === 'go') {
      const outcome = await send();
      breaker.saw(outcome, now());
      return outcome;
    }
    if (isRead(operation)) return probing(() => watched(send));
    await probing(() => watched(() => probe(options)));
    const after = breaker.admit(now());
    if (after.status === 'go') return watched(send);
    if (after.status === 'probe') breaker.passOnProbe(now()); // it said nothing, such as for want of budget
    return heldBack(breaker, after.status === 'wait' ? after.forMs : 0);
  }

  async function watched<T extends Outcome | StreamOutcome>(send: () => Promise<T>): Promise<T> {
    const outcome = await send();
    breaker.saw(outcome, now());
    return outcome;
  }

  async function probing<T>(probe: () => Promise<T>): Promise<T> {
    try {
      return await probe();
    } finally {
      breaker.passOnProbe(now());
    }
  }

  return {
    ...client,
    call: (operation, options) => guarded(operation, options, () => client.call(operation, options)),
    stream: (operation, options) => guarded(operation, options, () => client.stream(operation, options)),
  };
}

function heldBack(breaker: Breaker, forMs: number): NotSent {
  return {
    status: 'not-sent',
    reason: 'breaker',
    message: `held back after ${FAILURES_TO_OPEN} calls in a row that failed, the last one so: ${breaker.lastFailure()}`,
    retryAfterMs: Math.max(1, Math.ceil(forMs)),
  };
}
