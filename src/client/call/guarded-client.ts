/**
 * A client with a breaker: while the breaker is open, calls return at once as `not-sent` with the time to retry. Only the first
 * try of an interactive read is sent anyway. After the pause one read tests whether the service works again; a create is never
 * used as the test.
 */
import type { OperationName } from '../../contract/operations.ts';
import { type Admission, type Breaker, FAILURES_TO_OPEN, type Health } from './breaker.ts';
import { isRead } from './classify.ts';
import type { CallOptions, Client } from './client.ts';
import type { NotSent, Outcome, StreamOutcome, UnknownReason } from './outcome.ts';

export interface Guard {
  readonly breaker: Breaker;
  /** A cheap read. */
  readonly probe: (options: CallOptions) => Promise<Outcome>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** The longest a caller waits for another caller's probe. */
const PROBE_MS = 1_000;

const GO: Admission = { status: 'go' };

const FAILING: ReadonlySet<UnknownReason | undefined> = new Set(['server-error', 'timeout', 'broken-off']);

/** `client` with a breaker in front of its calls. */
export function guardClient(client: Client, { breaker, probe, now }: Guard): Client {
  let isProbing = false;
  let lastFailure = '';

  // Not async, like all that runs for every call: an async function costs more than what it does here.
  function guarded<T extends Outcome | StreamOutcome>(
    operation: OperationName,
    options: CallOptions,
    send: () => Promise<T>,
  ): Promise<T | NotSent> {
    const isReadOfPerson = options.lane === 'interactive' && options.isRetry !== true && isRead(operation);
    const admission = isReadOfPerson ? GO : breaker.admit(now());
    if (admission.status === 'go') return send().then(watch);
    if (admission.status === 'wait') return Promise.resolve(pausedFor(admission.forMs));
    return probed(operation, options, send);
  }

  async function probed<T extends Outcome | StreamOutcome>(
    operation: OperationName,
    options: CallOptions,
    send: () => Promise<T>,
  ): Promise<T | NotSent> {
    if (isProbing) return pausedFor(PROBE_MS);
    isProbing = true;
    try {
      if (isRead(operation)) return watch(await send());
      watch(await probe(options));
    } finally {
      isProbing = false;
    }
    const after = breaker.admit(now());
    if (after.status === 'go') return watch(await send());
    return pausedFor(after.status === 'wait' ? after.forMs : 0); // 0: the probe had no answer, for example because the budget had no token
  }

  function watch<T extends Outcome | StreamOutcome>(outcome: T): T {
    const health = healthIn(outcome);
    if (health === 'fails' && 'message' in outcome) lastFailure = outcome.message;
    if (health !== undefined) breaker.saw(health, now());
    return outcome;
  }

  function pausedFor(forMs: number): NotSent {
    return {
      status: 'not-sent',
      reason: 'breaker',
      message: `calls paused after ${FAILURES_TO_OPEN} failures in a row; the last one: ${lastFailure}`,
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
 * A failure is a call that a working service would have answered: 5xx, no answer, a broken or refused connection. Every
 * other answer, including a refusal or a 429, shows that the service works. Undefined: the outcome says nothing about the
 * service.
 */
export function healthIn(outcome: Outcome | StreamOutcome): Health | undefined {
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
