/**
 * What a job does when calls fail: waits and tries again while that can help, and ends the run with a message that says
 * what to mend when it cannot.
 */
import type { Outcome, StreamOutcome, UnknownReason } from '../client/outcome.ts';
import { LockstepError } from '../errors.ts';
import type { Account } from './accounts.ts';

/** Ends the run: no waiting mends this. */
export class RunFailed extends LockstepError {
  override readonly name = 'RunFailed';
}

/** The run goes on later: the service, the network or the budget's store is away for now. */
export class ComeBack extends Error {
  override readonly name = 'ComeBack';
  readonly inMs: number;
  /** Whether it counts as trouble, of which a run bears only so much; waiting for the budget does not. */
  readonly isTrouble: boolean;

  constructor(message: string, inMs: number, { isTrouble = true }: { isTrouble?: boolean } = {}) {
    super(message);
    this.inMs = inMs;
    this.isTrouble = isTrouble;
  }
}

/** Answers that will not change by asking again: the settings or the service have to. */
const NO_USE_ASKING_AGAIN: ReadonlySet<UnknownReason | undefined> = new Set([
  'html',
  'no-list',
  'too-large',
  'redirect',
]);

type Failure = Exclude<Outcome | StreamOutcome, { status: 'applied' }>;

/** The error to throw for a failed call that nothing can be done about in place. */
export function troubleOf(failure: Failure, account: Account, what: string): RunFailed | ComeBack {
  switch (failure.status) {
    case 'limited':
      return new ComeBack(`${what}: the service asks to slow down`, failure.retryAfterMs, { isTrouble: false });
    case 'refused':
      return refusal(failure.httpStatus, failure.message, account, what);
    case 'not-sent':
      if (failure.reason === 'budget') {
        return new ComeBack(failure.message, failure.retryAfterMs ?? 1_000, { isTrouble: false });
      }
      if (failure.reason === 'aborted' || failure.reason === 'deadline' || failure.reason === 'closed') {
        return new ComeBack(failure.message, 0, { isTrouble: false });
      }
      return failure.reason === 'certificate'
        ? new RunFailed('SERVICE_CERTIFICATE', `${what}: ${failure.message}`)
        : new ComeBack(`${what}: ${failure.message}`, 2_000);
    case 'unknown':
      return NO_USE_ASKING_AGAIN.has(failure.reason)
        ? new RunFailed('SERVICE_UNREADABLE', `${what}: ${failure.message}`)
        : new ComeBack(`${what}: ${failure.message}`, 2_000);
  }
}

function refusal(httpStatus: number, message: string, account: Account, what: string): RunFailed {
  if (isKeyRefused(httpStatus, message)) return keyRefused(account, httpStatus, message);
  return new RunFailed('SERVICE_REFUSED', `${what}: the service of account "${account.name}" refused it: ${message}`);
}

/** Whether an answer is about the key rather than the record. */
export function isKeyRefused(httpStatus: number, message: string): boolean {
  if (httpStatus === 401 || httpStatus === 403) return true;
  return httpStatus === 200 && /\b(unauthori[sz]ed|api[ _-]?key|forbidden|authenticat)/i.test(message);
}

export function keyRefused(account: Account, httpStatus: number, message: string): RunFailed {
  return new RunFailed(
    'KEY_REFUSED',
    `The service at ${account.baseUrl} refused the API key of account "${account.name}" (${httpStatus}: ${message}). ` +
      `Put the right key where ${account.keySource} says it is, then start the sync again.`,
  );
}
