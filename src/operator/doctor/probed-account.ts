import type { Client } from '../../client/call/client.ts';
import type { Dialect } from '../../client/call/dialect.ts';
import type { Prefix } from '../../contract/operation.ts';

/** What is examined: an account's service, its client and budget, and its current settings. */
export interface ProbedAccount {
  readonly name: string;
  readonly baseUrl: string;
  /** Whether its service is the embedded one, whose lists are whole. */
  readonly isEmbedded: boolean;
  readonly client: Pick<Client, 'inspect'>;
  readonly prefix: 'auto' | Prefix;
  readonly dialect: Dialect;
  readonly hasAuthorization: boolean;
  /** Undefined if the budget discovers it. */
  readonly ratePerSecond: number | undefined;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly settleMs: number;
  /** Where the operator can replace a refused key. */
  readonly keySource: string;
}
