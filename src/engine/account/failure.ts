/**
 * What a job does when calls fail, by the retry policy: it retries later while that can help; otherwise the run ends,
 * pauses or is suspended with a message that says what to fix.
 */
import { LockstepError } from '../../base/errors.ts';
import { adviceOnNothing } from '../../client/call/decode.ts';
import type { Failure, RetryDecision } from '../../client/call/retry-policy.ts';
import { kindOf } from '../../contract/kinds.ts';
import type { Operation } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';

/** Ends the run: waiting does not help. */
export class RunFailed extends LockstepError {
  override readonly name: string = 'RunFailed';
}

/**
 * Ends the run: the service accepts the key but forbids it this operation. The run can be resumed once the key has the
 * right.
 */
export class OperationForbidden extends RunFailed {
  override readonly name = 'OperationForbidden';
}

/** Pauses the run for the operator to check and resume. */
export class RunPaused extends LockstepError {
  override readonly name = 'RunPaused';
}

/** Suspends the account: its runs wait until a read with its key succeeds, and then resume automatically. */
export class KeyRefused extends LockstepError {
  override readonly name = 'KeyRefused';

  constructor(message: string) {
    super('KEY_REFUSED', message);
  }
}

/**
 * The run continues later: the service, the network or the budget's store is unavailable. A sender returns it; a read deep
 * inside a job throws it like the other stops, and the runner catches all of them (docs/adr/0003).
 */
export class RetryLater extends Error {
  override readonly name = 'RetryLater';
  readonly inMs: number;
  /** Whether it counts as a failure, which a run tolerates only for a limited time. Waiting for the budget does not. */
  readonly isFailure: boolean;

  constructor(message: string, inMs: number, { isFailure = true }: { isFailure?: boolean } = {}) {
    super(message);
    this.inMs = inMs;
    this.isFailure = isFailure;
  }
}

/** Everything that stops a job, except defects. */
export type Stop = RunFailed | RunPaused | KeyRefused | RetryLater;

/** How long a run waits after its calls used up their immediate retries. */
const GAVE_UP_MS = 2_000;

/** The account of a refusal, as messages name it. */
interface Named {
  readonly name: string;
  readonly baseUrl: string;
  readonly keySource: string;
}

/** What stops the run once a call has no immediate retries left; a refused key is checked before. */
export function stopFor(
  decision: Exclude<RetryDecision, { status: 'suspend' }>,
  failure: Failure,
  account: Named,
  operation: OperationName,
): Stop {
  const words = wordsOf(failure);
  switch (decision.status) {
    case 'retry':
      return new RetryLater(`${operation}: ${words}`, decision.afterMs, { isFailure: decision.isFailure });
    case 'settle':
      return new RetryLater(`${operation}: ${words}`, GAVE_UP_MS);
    case 'give-up': {
      const { reason } = decision;
      if (reason === 'GAVE_UP' || reason === 'CANNOT_BE_CHECKED')
        return new RetryLater(`${operation}: ${words}`, GAVE_UP_MS);
      if (reason !== 'REFUSED_BY_SERVICE') return new RunFailed(reason, `${operation}: ${words}`);
      const what = `the service of account "${account.name}" refused the call: ${words}`;
      const answer = 'httpStatus' in failure ? { httpStatus: failure.httpStatus } : {};
      return new RunFailed('SERVICE_REFUSED', `${operation}: ${what}${hintFor(operation, answer.httpStatus)}`, answer);
    }
    default:
      return decision satisfies never;
  }
}

/** Some services answer 404 for a list without records, and others for a path that they do not have. */
function hintFor(name: OperationName, httpStatus: number | undefined): string {
  const operation: Operation = operations[name];
  if (operation.list === undefined || httpStatus !== 404) return '';
  return `. ${adviceOnNothing(kindOf(name))}`;
}

export function wordsOf(failure: Failure): string {
  return 'message' in failure ? failure.message : 'the service asks to slow down';
}

/** The error for one forbidden operation of an accepted key, with the fix. `records`: those that it was refused for. */
export function operationForbidden(
  account: Named,
  failure: Failure,
  operation: OperationName,
  records: readonly string[] = [],
): OperationForbidden {
  const status = 'httpStatus' in failure ? `${failure.httpStatus}: ` : '';
  const names = records.slice(0, MOST_NAMED).join(', ');
  const give =
    records.length === 0
      ? 'Give'
      : `If the service forbids it only for some records, such as ${names}, start again without them: leave out contacts with \`where\` ` +
        'of their sync, and delete orders from their file. Otherwise give';
  return new OperationForbidden(
    'OPERATION_FORBIDDEN',
    `${operation}: the service at ${account.baseUrl} accepts the API key of account "${account.name}" but forbids this operation ` +
      `(${status}${wordsOf(failure).replace(/\.+$/, '')}). ${give} the key this permission at the service.`,
  );
}

const MOST_NAMED = 3;

/** The error for a refused key, with where to fix it. */
export function keyRefused(account: Named, failure: Failure): KeyRefused {
  return new KeyRefused(
    `${refusalOf(account, failure)} Correct the key (${account.keySource}). Nothing is sent until the service accepts it. While the account is suspended, \`lockstep start\` tries the key at least once a minute, \`lockstep accounts resume ${account.name}\` at once.`,
  );
}

/** One sentence about a refused key. */
export function refusalOf({ name, baseUrl }: Named, failure: Failure): string {
  const status = 'httpStatus' in failure ? `${failure.httpStatus}: ` : '';
  const said = 'message' in failure ? failure.message : 'no message';
  return `The service at ${baseUrl} refused the API key of account "${name}" (${status}${said}).`;
}
