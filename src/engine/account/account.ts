/** An account as jobs see it: its identity, its client with the rate budget, and what is known about its key. */
import type { BudgetStats, RetryTaken } from '../../client/budget/budget.ts';
import type { Client } from '../../client/call/client.ts';
import type { Dialect } from '../../client/call/dialect.ts';
import type { Refused } from '../../client/call/outcome.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { KeyRefused } from './failure.ts';
import type { Permissions } from './permissions.ts';

/** What a check of the key has found; `calls`: that it made itself. */
export type KeyFound = { readonly calls: number } & KeyStatus;

type KeyStatus =
  /** `by`: the read that got an answer. */
  | { readonly status: 'accepted'; readonly by: OperationName }
  | { readonly status: 'refused'; readonly refused: KeyRefused; readonly failure: Refused }
  /** The service was unreachable, or its answers say nothing about the key. */
  | { readonly status: 'unclear'; readonly why: string };

/** How the settings name the embedded service. */
export const EMBEDDED = 'embedded';

export interface Account {
  readonly name: string;
  /** The tenant of the account; the ledger's knowledge belongs to it. */
  readonly scope: string;
  readonly baseUrl: string;
  /** The service as the settings named it when the tenant was first used: its address, or `embedded`. */
  readonly service: string;
  readonly client: Client;
  readonly dialect: Dialect;
  /** Maximum calls in flight, over all processes. */
  readonly concurrency: number;
  readonly ratePerSecond: number;
  readonly timeoutMs: number;
  readonly settleMs: number;
  /** Where the operator fixes a refused key. */
  readonly keySource: string;
  /**
   * Tries the key with reads other than the refused operation. Concurrent callers share one try, and an accepted key is
   * trusted for half a minute.
   */
  checkKey(refused?: OperationName): Promise<KeyFound>;
  /** Which operations the key may use, as learnt from writes. */
  readonly permissions: Permissions;
  /**
   * Takes a token of the key's retry budget before retrying a call that the service may have seen. `empty`: this key
   * had too many retries recently, and the work is postponed.
   */
  takeRetry(): Promise<RetryTaken>;
  /** This process's figures for the key's budget. */
  budgetStats(): BudgetStats;
}
