/**
 * The rate budget of one API key, shared by every process that uses the key.
 * Source: our choice throughout, the service's contract names no limit (contract, "Limits" 3).
 */

/** A person waits for `interactive` work; `batch` work takes what is left and never less than a tenth. */
export type Lane = 'interactive' | 'batch';

/** What one key may do, as its owner says: the service sees at most `ratePerSecond · t + burst` calls in any time t. */
export interface BudgetLimits {
  /** Sustained calls per second, > 0. */
  readonly ratePerSecond: number;
  /** Calls that may be made at once after a pause, ≥ 1. */
  readonly burst: number;
  /** Calls in flight at once from one process, ≥ 1. */
  readonly concurrency: number;
}

/** What a store enforces: the limits less their margin for jitter (safe-limits.ts). `burst` ≥ 1 and need not be whole. */
export interface Pace {
  readonly ratePerSecond: number;
  readonly burst: number;
}

export interface AcquireRequest {
  readonly lane: Lane;
  /** Calls waiting for a token; 0 only asks whether the key is blocked. */
  readonly want: number;
  /** Tokens one call takes: 1 but for operations configured to weigh more. */
  readonly cost: number;
  /** How long the most patient of these calls can wait; no token is granted for later. Default: no limit. */
  readonly withinMs?: number;
  readonly pace: Pace;
}

/** What a store answers to `acquire`; times are delays in milliseconds from `storeNowMs`, with fractions. */
export interface Grant {
  /** Calls granted, 0 … want. */
  readonly granted: number;
  /** The store's clock when it decided, in milliseconds since 1970. */
  readonly storeNowMs: number;
  /** When the first granted call may be made; each next one `intervalMs` later. Negative: it already may. */
  readonly usableInMs: number;
  readonly intervalMs: number;
  /** When asking for the calls that were not granted makes sense: this process's turn among those that wait. */
  readonly retryInMs: number;
  /** > 0 while the key is blocked: tokens granted earlier must not be used either. */
  readonly blockedForMs: number;
}

/**
 * Where the budget of all keys lives: twins in Redis and Postgres that pass one suite and mirror arithmetic.ts.
 * `acquire` and `block` are atomic, on the store's clock. A key is an account's name, never the API key itself.
 * Every method throws when the store is away: the budget fails closed, nothing is sent without a token.
 * A store uses a connection that its caller opened and closes.
 */
export interface BudgetStore {
  /** For messages: what and where, without credentials. */
  readonly name: string;
  /** For messages: what to do when it is away. */
  readonly remedy: string;
  acquire(key: string, request: AcquireRequest): Promise<Grant>;
  /** No token for anyone until `forMs` from now; a shorter block never shortens a longer one. */
  block(key: string, forMs: number): Promise<void>;
}

/** Taken before every call and given back after it. */
export interface Permit {
  /** Ends the call in flight; idempotent. */
  release(): void;
}

export interface TakeOptions {
  readonly lane: Lane;
  /** A whole number, 1 … burst. Default 1. */
  readonly cost?: number;
  readonly signal?: AbortSignal;
  /**
   * How long the caller can wait in place; past it the answer is `wait` and no token is kept. Default: no limit.
   * The store's answer is awaited in any case: with 0, a token that is free now is taken.
   */
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
  /**
   * Resolves when a call may be sent now: send it in the same tick.
   * Throws the signal's reason when aborted, BUDGET_STORE_AWAY when the store is, BUDGET_CLOSED after `close`,
   * and BUDGET_COST for a cost that no burst allows.
   */
  take(options: TakeOptions): Promise<Taken>;
  /** A 429 arrived: everyone stops for `retryAfterMs`, other processes within 250 ms. Throws BUDGET_STORE_AWAY. */
  limited(retryAfterMs: number): Promise<void>;
  stats(): BudgetStats;
  /** Ends every waiting `take` with BUDGET_CLOSED; calls in flight are their callers' business. Idempotent. */
  close(): Promise<void>;
}
