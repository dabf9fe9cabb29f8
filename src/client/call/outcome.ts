/**
 * The outcome of one call. classify.ts assigns every answer to one of these classes; the caller (retry policy, ledger)
 * decides what to do next. Messages name the method and the URL, and never a query value, an id from the path, or a
 * secret.
 */
import type { Prefix } from '../../contract/operation.ts';
import type { Beside } from '../lists/beside.ts';
import type { ListShape } from './shape.ts';

interface AnyOutcome {
  /** How many other calls were made before it: under the other prefix, or at the path without a slash. Absent: none. */
  readonly callsBefore?: number;
}

/** The service applied it. `content` is the decoded body without its envelope; undefined if the body was empty. */
export interface Applied extends AnyOutcome {
  readonly status: 'applied';
  readonly httpStatus: number;
  readonly content: unknown;
  /** How old it is, if a cache on the way has answered. */
  readonly cachedForS?: number;
  /** What the answer says beside its list; absent if it says nothing, or if the operation returns no list. */
  readonly beside?: Beside | undefined;
}

/**
 * The service refused the call, so nothing changed there: a status of `NOT_APPLIED` (classify.ts), or a 200 whose envelope
 * reports an error.
 */
export interface Refused extends AnyOutcome {
  readonly status: 'refused';
  readonly httpStatus: number;
  /** The service's own words, shortened. */
  readonly message: string;
  /** False if the body was not JSON: then it probably comes from a proxy or an unknown route, not from the service. */
  readonly json?: boolean;
}

/** Over the rate: 429, or 503 with Retry-After on a read. Nothing changed there, and no attempt was spent. */
export interface Limited extends AnyOutcome {
  readonly status: 'limited';
  readonly httpStatus: number;
  readonly retryAfterMs: number;
}

/**
 * Why a call was not sent. `unreachable` is temporary or needs the operator; `certificate` needs the operator. The others
 * are on our side: no token in time, the budget's store unreachable, the breaker open after several failures, past
 * `dispatchBefore`, aborted, or this client is closed.
 */
export type NotSentReason =
  | 'budget'
  | 'budget-away'
  | 'breaker'
  | 'deadline'
  | 'aborted'
  | 'closed'
  | 'unreachable'
  | 'certificate';

/**
 * The call never left this process: refused connection, DNS, connect timeout, aborted or past its deadline before
 * dispatch.
 */
export interface NotSent extends AnyOutcome {
  readonly status: 'not-sent';
  readonly message: string;
  readonly reason?: NotSentReason;
  /** When to retry: set if the budget had no token within the caller's limit, and if the breaker is open. */
  readonly retryAfterMs?: number;
}

/**
 * Why the outcome is unknown. A retry helps after the first four, and may help after the next three; for the others the settings
 * or the service must change.
 */
export type UnknownReason =
  | 'server-error'
  | 'timeout'
  | 'aborted'
  | 'broken-off'
  | 'redirect'
  /** A web page where JSON was expected. */
  | 'html'
  /** Nothing, with a 200, where a list was expected. */
  | 'empty'
  | 'unreadable'
  | 'too-large'
  | 'no-list';

/** Sent, and it is unknown whether it was applied: 5xx, 408, 3xx, reset, timeout, a truncated or unreadable 200. */
export interface Unknown extends AnyOutcome {
  readonly status: 'unknown';
  readonly httpStatus?: number;
  readonly message: string;
  readonly reason?: UnknownReason;
  /** A redirect to the same path with a slash at its end. */
  readonly wantsSlash?: true;
  /** A redirect to the same operation under this prefix. */
  readonly wantsPrefix?: Prefix;
}

export type Outcome = Applied | Refused | Limited | NotSent | Unknown;

/** A list read to its end; `records` counts the records handed over. */
export interface Streamed extends AnyOutcome {
  readonly status: 'applied';
  readonly httpStatus: number;
  readonly records: number;
  /** Absent if the list was empty. */
  readonly shape?: ListShape;
  readonly cachedForS?: number;
  readonly beside?: Beside | undefined;
}

/** The outcome of a streamed list. Unless it is `applied`, discard the records handed over so far. */
export type StreamOutcome = Streamed | Refused | Limited | NotSent | Unknown;

type Counted = AnyOutcome & Pick<Outcome | StreamOutcome, 'status'>;

/** How many calls were made for it. */
export function callsFor({ status, callsBefore = 0 }: Counted): number {
  return callsBefore + (status === 'not-sent' ? 0 : 1);
}

/** The outcome, which counts the calls of an earlier one too. */
export function after<T extends Counted>(earlier: Counted, outcome: T): T {
  const callsBefore = callsFor(earlier) + (outcome.callsBefore ?? 0);
  return callsBefore === 0 ? outcome : { ...outcome, callsBefore };
}
