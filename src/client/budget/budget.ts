/**
 * The rate budget of one API key, shared by every process that uses the key. Source: our choice throughout; the service's
 * contract names no limit (docs/contract.md, "Limits" 3).
 */
import { LockstepError, messageOf } from '../../base/errors.ts';
import { inTime } from '../../base/in-time.ts';

/** What headers may say of a limit, in any of their spellings (call/rate-headers.ts). */
export interface RateHint {
  /** Calls left until the reset. */
  readonly remaining?: number;
  readonly resetMs?: number;
  /** Calls a window. */
  readonly limit?: number;
  readonly windowMs?: number;
}

/** A person waits for `interactive` work; `batch` work gets the rest, and at least a tenth. */
export const LANES = ['interactive', 'batch'] as const;
export type Lane = (typeof LANES)[number];

/** `fixed`: the operator knows what the service allows. `discover`: the budget finds the rate by trying. */
export type BudgetMode = 'fixed' | 'discover';

/**
 * What one key may do, as the operator configured it: the service sees at most `ratePerSecond · t + burst` calls in any
 * time t, and less after it has answered 429. A discovered rate never exceeds this limit.
 */
export interface BudgetLimits {
  /** Sustained calls per second, > 0. */
  readonly ratePerSecond: number;
  /** Calls that may be made at once after a pause, ≥ 1. */
  readonly burst: number;
  /** Calls in flight at once, from all processes together, ≥ 1. */
  readonly concurrency: number;
  /** Default: fixed. */
  readonly mode?: BudgetMode;
}

/**
 * What a store enforces: the limits less their margin for jitter (safe-limits.ts), and less what was learnt. `burst` ≥ 1
 * and need not be whole.
 */
export interface Pace {
  readonly ratePerSecond: number;
  readonly burst: number;
  /** Default: fixed. */
  readonly mode?: BudgetMode;
}

/** At most `ratePerSecond` for the next `forMs`, as the service's headers say. */
export interface RateBound {
  readonly ratePerSecond: number;
  readonly forMs: number;
}

/** One process's part of the calls that may be in flight: the slots it keeps and the slots it could use. */
export interface SlotAsk {
  /** Name of the process, unique while it runs. */
  readonly holder: string;
  /** Counts this holder's requests: a request that arrives after a later one changes nothing. */
  readonly seq: number;
  /** Slots it keeps until the answer: it has no more calls in flight. */
  readonly holding: number;
  /** Calls in flight and waiting; 0 with nothing held returns all slots. */
  readonly wanted: number;
  /** Calls in flight at most, all processes together. */
  readonly cap: number;
  /** Calls that need a slot and a token: one token beyond `want` for each slot granted beyond `holding`. */
  readonly extra: number;
}

export interface AcquireRequest {
  readonly lane: Lane;
  /** Calls waiting for a token; with 0, only asks whether the key is blocked. */
  readonly want: number;
  /** Tokens one call takes: 1, unless the settings give the operation a higher cost. */
  readonly cost: number;
  /** How long the most patient of these calls can wait; no token is granted for a later time. Default: no limit. */
  readonly withinMs?: number;
  readonly pace: Pace;
  readonly slots?: SlotAsk;
  readonly bound?: RateBound;
  /** Successful calls since the last request: each returns a tenth of a retry. */
  readonly successes?: number;
}

/** A store's answer to `acquire`. Times are delays in milliseconds from `storeNowMs`, with fractions. */
export interface Grant {
  /** Calls granted, 0 … want + extra. */
  readonly granted: number;
  /** The store's clock when it decided, in milliseconds since 1970. */
  readonly storeNowMs: number;
  /** When the first granted call may be made; each next one `intervalMs` later. Negative: it may be made now. */
  readonly usableInMs: number;
  readonly intervalMs: number;
  /** When to ask again for the calls that were not granted: this process's turn among the waiting processes. */
  readonly retryInMs: number;
  /** > 0 while the key is blocked: tokens granted earlier must not be used either. */
  readonly blockedForMs: number;
  /** Calls this process may have in flight from now on, if it asked for slots; may be fewer than it has. */
  readonly slots: number;
  /** The key's current rate: the rate of the pace, or a lower learnt rate. */
  readonly ratePerSecond: number;
}

/** A 429 answer, as reported to the store. */
export interface Congestion {
  /** No token for anyone until then. */
  readonly forMs: number;
  /** When the refused call was sent, on the store's clock. */
  readonly admittedAtMs: number;
  readonly pace: Pace;
}

export interface Cut {
  /** False if the call was sent before an earlier cut took effect: it belongs to the same congestion. */
  readonly isCut: boolean;
  readonly ratePerSecond: number;
  /** As in Grant. */
  readonly storeNowMs: number;
}

/**
 * Decides the budget of all keys: Redis or Postgres (docs/adr/0001-budget-stores.md). Both pass one suite, which compares
 * them with one pure function. Each method is atomic, on the store's clock. A key is the name of a scope or of a target, never
 * the API key itself. Every method throws when the store is unreachable: the budget fails closed, and no call is sent without a token.
 * The learnt rate survives restarts. The caller opens and closes the connection.
 */
export interface BudgetStore {
  /** For messages: what and where, without credentials. */
  readonly name: string;
  /** For messages: what to do when the store is unreachable. */
  readonly remedy: string;
  acquire(key: string, request: AcquireRequest): Promise<Grant>;
  /** No token for anyone until `forMs` from now; a shorter block never shortens a longer one. */
  block(key: string, forMs: number): Promise<void>;
  /** Blocks, and cuts the rate once per congestion. */
  limited(key: string, congestion: Congestion): Promise<Cut>;
  /** The processes that hold slots. */
  holders(key: string): Promise<readonly string[]>;
  /** Frees the slots of a process that has ended; otherwise they expire 15 s after its last request. */
  forget(key: string, holder: string): Promise<void>;
  /** Takes one retry; `successes` as in `acquire`. */
  retry(key: string, successes: number): Promise<RetryTaken>;
}

export type RetryTaken = { readonly status: 'granted' } | { readonly status: 'empty'; readonly retryAfterMs: number };

/** Taken before every call and released after it. */
export interface Permit {
  /** Ends the call in flight; idempotent. */
  release(): void;
  /**
   * The call was answered with 429, or with 503 and `Retry-After`: all calls stop for `retryAfterMs`, in other processes within 250 ms, and continue slower.
   * Throws BUDGET_STORE_AWAY.
   */
  limited(retryAfterMs: number): Promise<void>;
  /** Reports what the answer's headers say about the limit; this only lowers the rate. Throws BUDGET_STORE_AWAY. */
  hinted(hint: RateHint): Promise<void>;
  succeeded(): void;
}

export interface TakeOptions {
  readonly lane: Lane;
  /** A whole number, 1 … burst. Default 1. */
  readonly cost?: number;
  readonly signal?: AbortSignal;
  /**
   * How long the caller can wait; after that the answer is `wait` and no token is kept. Default: no limit. The budget
   * always waits for the store's answer: with 0, it takes a token that is free now.
   */
  readonly maxWaitMs?: number;
}

export type Taken =
  | { readonly status: 'taken'; readonly permit: Permit }
  | { readonly status: 'wait'; readonly retryAfterMs: number };

/** Within 1%; undefined before the first caller. */
export interface WaitStats {
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
}

/** Figures of this process; the rate is shared. */
export interface BudgetStats {
  /** Tokens used. */
  readonly used: number;
  /** 429 answers reported. */
  readonly limited: number;
  /** The key's rate as the store last said; undefined before its first answer. */
  readonly ratePerSecond: number | undefined;
  /** The same, if the service has lowered it. */
  readonly learntPerSecond: number | undefined;
  /** How long no call may be made, as far as this process knows: the key is blocked, or its rate allows no call before. */
  readonly blockedForMs: number;
  readonly retries: { readonly granted: number; readonly empty: number };
  /** How long callers with a token waited. */
  readonly waits: Readonly<Record<Lane, WaitStats>>;
}

/** One key's budget in this process: one acquirer feeds all its callers. */
export interface Budget {
  /**
   * Resolves when a call may be sent now: send it in the same tick. Throws the signal's reason when aborted,
   * BUDGET_STORE_AWAY when the store is unreachable, BUDGET_CLOSED after `close`, and BUDGET_COST for a cost above the
   * burst.
   */
  take(options: TakeOptions): Promise<Taken>;
  /** Call this before a retry: each key may retry a tenth as often as it succeeds. Throws BUDGET_STORE_AWAY. */
  retry(): Promise<RetryTaken>;
  stats(): BudgetStats;
  /** Ends every waiting `take` with BUDGET_CLOSED; calls in flight are left to their callers. Idempotent. */
  close(): Promise<void>;
}

export function closedError(key: string): LockstepError {
  const why = 'its account was opened again with other settings, or this process is shutting down';
  return new LockstepError('BUDGET_CLOSED', `The budget of "${key}" is closed: ${why}. The work is retried later.`);
}

/** Throws BUDGET_COST. */
export function assertCost(key: string, cost: number, burst: number): void {
  if (Number.isInteger(cost) && cost >= 1 && cost <= burst) return;
  const message = `A call that counts as ${cost} does not fit the budget of "${key}": expected a whole number from 1 to its burst, ${burst}.`;
  throw new LockstepError('BUDGET_COST', message);
}

/**
 * The store's answer. Throws BUDGET_STORE_AWAY for any error and after `timeoutMs` without an answer: the budget fails
 * closed.
 */
export async function orStoreAway<T>(
  answer: Promise<T>,
  key: string,
  store: BudgetStore,
  timeoutMs: number,
): Promise<T> {
  try {
    return await inTime(answer, timeoutMs);
  } catch (cause) {
    const why = wordsOf(cause);
    const what = `The rate budget of "${key}" cannot be read, so nothing is sent`;
    const message = `${what}: ${store.name} is unavailable (${why}). Remedy: ${store.remedy}.`;
    throw new LockstepError('BUDGET_STORE_AWAY', message, { cause });
  }
}

/** Of a lost connection, ioredis only says which of its own options limits the retries. */
function wordsOf(cause: unknown): string {
  const isLost = cause instanceof Error && cause.name === 'MaxRetriesPerRequestError';
  return isLost ? 'no connection' : messageOf(cause);
}
