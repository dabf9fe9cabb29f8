/**
 * What became of one call: the classes every answer is sorted into before anyone decides what to do next.
 * The sorting itself is in classify.ts; what follows from a class is the caller's business (retry policy, ledger).
 */

/** The service took it. `content` is the decoded body without its envelope; undefined where the body was empty. */
export interface Applied {
  readonly status: 'applied';
  readonly httpStatus: number;
  readonly content: unknown;
}

/** The service said no, so nothing changed there: 400, 401, 403, 404, 405, 409, 413, 422, or a 200 whose envelope reports an error. */
export interface Refused {
  readonly status: 'refused';
  readonly httpStatus: number;
  /** The service's own words, shortened. */
  readonly message: string;
}

/** Over the rate: 429, or 503 with Retry-After on a read. Nothing changed there, and no attempt was spent. */
export interface Limited {
  readonly status: 'limited';
  readonly httpStatus: number;
  readonly retryAfterMs: number;
}

/** It never left this process: refused connection, DNS, connect timeout, aborted or out of time before dispatch. */
export interface NotSent {
  readonly status: 'not-sent';
  readonly message: string;
  /** Set when the budget could not give a token within the caller's patience: when to come back. */
  readonly retryAfterMs?: number;
}

/** Sent, and nobody can say whether it was applied: 5xx, 408, 3xx, reset, timeout, a truncated or unreadable 200. */
export interface Unknown {
  readonly status: 'unknown';
  readonly httpStatus?: number;
  readonly message: string;
}

export type Outcome = Applied | Refused | Limited | NotSent | Unknown;
