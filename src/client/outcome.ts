/**
 * What became of one call: the classes every answer is sorted into before anyone decides what to do next.
 * The sorting itself is in classify.ts; what follows from a class is the caller's business (retry policy, ledger).
 * Messages name the method and the URL, and never a query value, an id from the path, or a secret.
 */

import type { ListShape } from './shape.ts';

/** The service took it. `content` is the decoded body without its envelope; undefined where the body was empty. */
export interface Applied {
  readonly status: 'applied';
  readonly httpStatus: number;
  readonly content: unknown;
}

/**
 * The service said no, so nothing changed there: 400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 501, or a 200 whose
 * envelope reports an error.
 */
export interface Refused {
  readonly status: 'refused';
  readonly httpStatus: number;
  /** The service's own words, shortened. */
  readonly message: string;
  /** False where the body was no JSON: then a proxy or an unknown route speaks rather than the service. */
  readonly json?: boolean;
}

/** Over the rate: 429, or 503 with Retry-After on a read. Nothing changed there, and no attempt was spent. */
export interface Limited {
  readonly status: 'limited';
  readonly httpStatus: number;
  readonly retryAfterMs: number;
}

/**
 * Why a call never left. `unreachable` passes or needs a person; `certificate` needs a person; the others are ours:
 * no token in time, the budget's store away, the breaker open after a row of failures, past `dispatchBefore`, aborted, or
 * this client is closed.
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

/** It never left this process: refused connection, DNS, connect timeout, aborted or out of time before dispatch. */
export interface NotSent {
  readonly status: 'not-sent';
  readonly message: string;
  readonly reason?: NotSentReason;
  /** When to come back: set where the budget had no token within the caller's patience, and where the breaker is open. */
  readonly retryAfterMs?: number;
}

/** Why nobody can say. Asking again helps after the first four; with the others the settings or the service must change. */
export type UnknownReason =
  | 'server-error'
  | 'timeout'
  | 'aborted'
  | 'broken-off'
  | 'redirect'
  /** A web page where JSON was expected. */
  | 'html'
  | 'unreadable'
  | 'too-large'
  | 'no-list';

/** Sent, and nobody can say whether it was applied: 5xx, 408, 3xx, reset, timeout, a truncated or unreadable 200. */
export interface Unknown {
  readonly status: 'unknown';
  readonly httpStatus?: number;
  readonly message: string;
  readonly reason?: UnknownReason;
}

export type Outcome = Applied | Refused | Limited | NotSent | Unknown;

/** A list read to its end; `records` counts what was handed over. */
export interface Streamed {
  readonly status: 'applied';
  readonly httpStatus: number;
  readonly records: number;
  /** Absent where the list was empty. */
  readonly shape?: ListShape;
}

/** What became of a streamed list. Unless it is `applied`, the records handed over so far are to be thrown away. */
export type StreamOutcome = Streamed | Refused | Limited | NotSent | Unknown;
