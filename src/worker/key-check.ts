/** Small reads that show whether a service answers and takes the key. */
import type { CallOptions, Client } from '../client/client.ts';
import type { Dialect } from '../client/dialect.ts';
import type { Outcome, StreamOutcome } from '../client/outcome.ts';
import { isKeyRefused } from '../client/retry-policy.ts';
import { type Operation, type OperationName, operations } from '../contract/operations.ts';
import type { Account } from './accounts.ts';
import { type KeyRefused, keyRefused } from './trouble.ts';

export type KeyFound =
  | { readonly status: 'accepted' }
  | { readonly status: 'refused'; readonly refused: KeyRefused }
  /** The service could not be asked, or its answer says nothing about the key. */
  | { readonly status: 'unclear' };

const CONTACTS: OperationName = 'contacts.getall';

/** The cheapest read there is: one contact. */
export function lookAtContacts(client: Client, dialect: Dialect, options: CallOptions): Promise<Outcome> {
  const { body: _body, path: _path, ...rest } = options;
  return client.call(CONTACTS, { ...rest, query: firstOfPage(dialect) });
}

/** Tries the account's key with a list; of that no more is read than its beginning. */
export async function tryKey(account: Account, wished: OperationName = CONTACTS): Promise<KeyFound> {
  const operation = isPlainList(wished) ? wished : CONTACTS;
  const outcome = await beginningOf(account, operation);
  if (outcome === 'answered' || outcome.status === 'applied') return { status: 'accepted' };
  if (outcome.status !== 'refused') return { status: 'unclear' };
  return isKeyRefused(outcome)
    ? { status: 'refused', refused: keyRefused(account, outcome, operation) }
    : { status: 'accepted' };
}

function isPlainList(name: OperationName): boolean {
  const { list, params }: Operation = operations[name];
  return list !== undefined && Object.keys(params.shape).length === 0 && name !== 'contacts.search';
}

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
