/**
 * What a job does when calls fail, by the retry policy: waits and comes back while that can help, and ends, pauses or
 * suspends with a message that says what to mend when it cannot.
 */
import type { Failure, RetryDecision } from '../client/retry-policy.ts';
import type { OperationName } from '../contract/operations.ts';
import { LockstepError } from '../errors.ts';
import type { Account } from './accounts.ts';

/** Ends the run: no waiting mends this. */
export class RunFailed extends LockstepError {
  override readonly name: string = 'RunFailed';
}

/** Ends the run: the service accepts the key, and refuses it this operation. Resumed once the key has the right, it goes on. */
export class OperationForbidden extends RunFailed {
  override readonly name = 'OperationForbidden';
}

/** Stops the run where it stands, for a person to look at and to resume. */
export class RunPaused extends LockstepError {
  override readonly name = 'RunPaused';
}

/** Suspends the account: its runs stand still until a read with its key has succeeded, and then go on by themselves. */
export class KeyRefused extends LockstepError {
  override readonly name = 'KeyRefused';
  /** The read to try the key with. */
  readonly operation: OperationName;

  constructor(message: string, operation: OperationName) {
    super('KEY_REFUSED', message);
    this.operation = operation;
  }
}

/**
 * The run goes on later: the service, the network or the budget's store is away for now. A sender returns it; a read deep
 * inside a job throws it, as it does the other stops, and the runner catches them all in one place (docs/adr/0003).
 */
export class RetryLater extends Error {
  override readonly name = 'RetryLater';
  readonly inMs: number;
  /** Whether it counts as trouble, of which a run bears only so much; waiting for the budget does not. */
  readonly isTrouble: boolean;

  constructor(message: string, inMs: number, { isTrouble = true }: { isTrouble?: boolean } = {}) {
    super(message);
    this.inMs = inMs;
    this.isTrouble = isTrouble;
  }
}

/** Everything that stops a job, and is not a defect. */
export type Stop = RunFailed | RunPaused | KeyRefused | RetryLater;

/** How long a run stays away whose calls were tried as often in place as made sense. */
const GAVE_UP_MS = 2_000;

/** What stops the run once nothing more can be done about a call in place; a refused key is looked into before. */
export function stopFor(
  decision: Exclude<RetryDecision, { status: 'suspend' }>,
  failure: Failure,
  account: Account,
  operation: OperationName,
): Stop {
  const words = wordsOf(failure);
  switch (decision.status) {
    case 'retry':
      return new RetryLater(`${operation}: ${words}`, decision.afterMs, { isTrouble: decision.isTrouble });
    case 'settle':
      return new RetryLater(`${operation}: ${words}`, GAVE_UP_MS);
    case 'give-up': {
      const { reason } = decision;
      if (reason === 'GAVE_UP' || reason === 'CANNOT_BE_CHECKED')
        return new RetryLater(`${operation}: ${words}`, GAVE_UP_MS);
      if (reason !== 'REFUSED_BY_SERVICE') return new RunFailed(reason, `${operation}: ${words}`);
      const what = `the service of account "${account.name}" refused it: ${words}`;
      const answer = 'httpStatus' in failure ? { httpStatus: failure.httpStatus } : {};
      return new RunFailed('SERVICE_REFUSED', `${operation}: ${what}`, answer);
    }
    default:
      return decision satisfies never;
  }
}

export function wordsOf(failure: Failure): string {
  return 'message' in failure ? failure.message : 'the service asks to slow down';
}

/** The refusal of one operation to a key that is accepted, with what helps. */
export function operationForbidden(account: Account, failure: Failure, operation: OperationName): OperationForbidden {
  const status = 'httpStatus' in failure ? `${failure.httpStatus}: ` : '';
  return new OperationForbidden(
    'OPERATION_FORBIDDEN',
    `${operation}: the service at ${account.baseUrl} accepts the API key of account "${account.name}", and refuses it this operation ` +
      `(${status}${wordsOf(failure).replace(/\.+$/, '')}). Give the key the right to it there.`,
  );
}

/** The refusal of a key, with where to mend it. `operation` is a read that shows whether it has been. */
export function keyRefused(account: Account, failure: Failure, operation: OperationName): KeyRefused {
  const status = 'httpStatus' in failure ? `${failure.httpStatus}: ` : '';
  const said = 'message' in failure ? failure.message : 'no words';
  return new KeyRefused(
    `The service at ${account.baseUrl} refused the API key of account "${account.name}" (${status}${said}). ` +
      `Put the right key where ${account.keySource} says it is; the account is suspended until a read with it succeeds.`,
    operation,
  );
}
