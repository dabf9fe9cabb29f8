/** Small reads that show whether a service answers and takes the key. */
import type { CallOptions, Client } from '../client/client.ts';
import type { Dialect } from '../client/dialect.ts';
import type { Outcome, Refused, StreamOutcome } from '../client/outcome.ts';
import { type Failure, isKeyRefused } from '../client/retry-policy.ts';
import type { OperationName } from '../contract/operations.ts';
import type { Account } from './accounts.ts';
import { type KeyRefused, keyRefused, operationForbidden, RetryLater, type Stop, wordsOf } from './trouble.ts';

export type KeyFound =
  /** `by`: the read that was answered. */
  | { readonly status: 'accepted'; readonly by: OperationName }
  | { readonly status: 'refused'; readonly refused: KeyRefused }
  /** The service could not be asked, or its answers say nothing about the key. */
  | { readonly status: 'unclear' };

const CONTACTS: OperationName = 'contacts.getall';
/** The reads that show whether a key is accepted, the cheapest first. */
const LISTS: readonly OperationName[] = [CONTACTS, 'customers.getall', 'orders.getall', 'tasks.getall'];

/** The cheapest read there is: one contact. */
export function lookAtContacts(client: Client, dialect: Dialect, options: CallOptions): Promise<Outcome> {
  const { body: _body, path: _path, ...rest } = options;
  return client.call(CONTACTS, { ...rest, query: firstOfPage(dialect) });
}

/**
 * Tries the account's key with lists, of which no more is read than the beginning, until one is answered. `except`: the
 * operation whose refusal is in question: a key without the right to one operation is no refused key.
 */
export async function tryKey(account: Account, except?: OperationName): Promise<KeyFound> {
  const refusals: Refused[] = [];
  for (const operation of LISTS) {
    if (operation === except) continue;
    const outcome = await beginningOf(account, operation);
    if (outcome === 'answered' || outcome.status === 'applied') return { status: 'accepted', by: operation };
    if (outcome.status !== 'refused') return { status: 'unclear' };
    refusals.push(outcome);
  }
  const refusal = refusals.find(isKeyRefused) ?? refusals[0];
  return refusal ? { status: 'refused', refused: keyRefused(account, refusal, CONTACTS) } : { status: 'unclear' };
}

/** What follows from a read that was refused in the words of a refused key: another read tells whether it is the key. */
export async function stopAfterRefusal(account: Account, failure: Failure, operation: OperationName): Promise<Stop> {
  const key = await account.checkKey(operation);
  switch (key.status) {
    case 'accepted':
      return operationForbidden(account, failure, operation);
    case 'refused':
      return keyRefused(account, failure, operation);
    case 'unclear':
      return new RetryLater(`${operation}: ${wordsOf(failure)}`, UNCLEAR_MS);
    default:
      return key satisfies never;
  }
}

const UNCLEAR_MS = 2_000;

async function beginningOf(
  { client, dialect }: Account,
  operation: OperationName,
): Promise<StreamOutcome | 'answered'> {
  const enough = new Error('the beginning is enough');
  try {
    return await client.stream(operation, {
      lane: 'interactive',
      ...(operation === CONTACTS && { query: firstOfPage(dialect) }),
      onRecords: async () => {
        throw enough;
      },
    });
  } catch (error) {
    if (error === enough) return 'answered';
    throw error;
  }
}

function firstOfPage({ pageParam, rowsPerPageParam }: Dialect): Readonly<Record<string, number>> {
  return { [pageParam]: 0, [rowsPerPageParam]: 1 };
}
