import type { Client } from '../../client/call/client.ts';
import type { Prefix } from '../../contract/operation.ts';
import type { Account } from '../../engine/account/account.ts';

/** What is examined: an account's service, its client and budget, and its current settings. */
export interface ProbedAccount
  extends Pick<Account, 'name' | 'baseUrl' | 'dialect' | 'concurrency' | 'timeoutMs' | 'settleMs' | 'keySource'> {
  /** Whether its service is the embedded one, whose lists are whole. */
  readonly isEmbedded: boolean;
  readonly client: Pick<Client, 'inspect'>;
  readonly prefix: 'auto' | Prefix;
  readonly hasAuthorization: boolean;
  /** Undefined if the budget discovers it. */
  readonly ratePerSecond: number | undefined;
}
