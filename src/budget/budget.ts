/**
 * The rate budget of one API key, shared by every process that uses the key.
 * Source: our choice throughout, the service's contract names no limit (contract, "Limits" 3).
 */

/** A person waits for `interactive` work; `batch` work takes what is left and never less than a tenth. */
export type Lane = 'interactive' | 'batch';

/** What one key may do. */
export interface BudgetLimits {
  /** Sustained calls per second, > 0. */
  readonly ratePerSecond: number;
  /** Calls that may be made at once after a pause, ≥ 1. */
  readonly burst: number;
  /** Calls in flight at once from one process, ≥ 1. */
  readonly concurrency: number;
}

/** What a store answers to `acquire`, all times as delays from the moment the answer arrives. */
export interface Grant {
  /** Tokens granted, 0 … want. */
  readonly granted: number;
  /** When the first granted token may be used; each next one `intervalMs` later. */
  readonly usableInMs: number;
  readonly intervalMs: number;
  /** With `granted` 0: when asking again makes sense. */
  readonly retryInMs: number;
}

export interface AcquireRequest {
  readonly lane: Lane;
  readonly want: number;
  /** Tokens one call takes: 1 but for operations configured to weigh more. */
  readonly cost: number;
  readonly limits: BudgetLimits;
}

/**
 * Where the budget of all keys lives: twins in Redis and Postgres that pass one suite. `acquire` and `block` are atomic.
 * Every method throws when the store is away: the budget fails closed, nothing is sent without a token.
 */
export interface BudgetStore {
  acquire(key: string, request: AcquireRequest): Promise<Grant>;
  /** No token for anyone until `forMs` from now; a shorter block never shortens a longer one. */
  block(key: string, forMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Taken before every call and given back after it. */
export interface Permit {
  /** Ends the call in flight; idempotent. */
  release(): void;
}

export interface TakeOptions {
  readonly lane: Lane;
  /** Default 1. */
  readonly cost?: number;
  readonly signal?: AbortSignal;
  /** How long the caller can wait in place; past it the answer is `wait` and no token is kept. Default: no limit. */
  readonly maxWaitMs?: number;
}

export type Taken =
  | { readonly status: 'taken'; readonly permit: Permit }
  | { readonly status: 'wait'; readonly retryAfterMs: number };

export interface BudgetStats {
  /** Tokens used by this process. */
  readonly used: number;
  /** Tokens that were granted and expired unused. */
  readonly expired: number;
  /** 429 answers reported by this process. */
  readonly limited: number;
  readonly storeCalls: number;
}

/** One key's budget in this process: one acquirer feeds all its callers. */
export interface Budget {
  readonly limits: BudgetLimits;
  /** Resolves when a call may be sent now. Throws the signal's reason when aborted, and the store's error when it is away. */
  take(options: TakeOptions): Promise<Taken>;
  /** A 429 arrived: everyone stops for `retryAfterMs`. */
  limited(retryAfterMs: number): Promise<void>;
  stats(): BudgetStats;
  close(): Promise<void>;
}
