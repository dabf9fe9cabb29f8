/** Small reads that show whether a service answers and accepts the key. */
import type { CallOptions, Client } from '../../client/call/client.ts';
import type { Dialect } from '../../client/call/dialect.ts';
import { callsFor, type Outcome, type Refused, type StreamOutcome } from '../../client/call/outcome.ts';
import { type Failure, isKeyRefused } from '../../client/call/retry-policy.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Account, KeyFound } from './account.ts';
import { keyRefused, operationForbidden, RetryLater, type Stop, wordsOf } from './failure.ts';

const CONTACTS: OperationName = 'contacts.getall';
/** The reads that show whether a key is accepted, the cheapest first. */
const LISTS: readonly OperationName[] = [CONTACTS, 'customers.getall', 'orders.getall', 'tasks.getall'];

/** The cheapest read: one contact. */
export function lookAtContacts(client: Client, dialect: Dialect, options: CallOptions): Promise<Outcome> {
  const { body: _body, path: _path, ...rest } = options;
  return client.call(CONTACTS, { ...rest, query: firstOfPage(dialect) });
}

/**
 * Tries the account's key with lists, reading only their beginning, until one gets an answer. `except`: the operation that
 * was refused, because a key without the right to one operation is not a refused key.
 */
export async function tryKey(account: Account, except?: OperationName): Promise<KeyFound> {
  const refusals: Refused[] = [];
  let calls = 0;
  for (const operation of LISTS) {
    if (operation === except) continue;
    const outcome = await beginningOf(account, operation);
    calls += outcome === 'answered' ? 1 : callsFor(outcome);
    if (outcome === 'answered' || outcome.status === 'applied') return { status: 'accepted', by: operation, calls };
    if (outcome.status !== 'refused') return { status: 'unclear', why: wordsOf(outcome), calls };
    refusals.push(outcome);
  }
  const refusal = refusals.find(isKeyRefused) ?? refusals[0];
  if (refusal === undefined) return { status: 'unclear', why: 'it was not asked', calls };
  return { status: 'refused', refused: keyRefused(account, refusal), failure: refusal, calls };
}

/** What follows from a call refused like a refused key: reads show whether the key is the cause. Their calls are added to `made`. */
export async function stopAfterRefusal(
  account: Account,
  failure: Failure,
  operation: OperationName,
  made: { calls: number },
): Promise<Stop> {
  const key = await account.checkKey(operation);
  made.calls += key.calls;
  switch (key.status) {
    case 'accepted':
      return operationForbidden(account, failure, operation);
    case 'refused':
      return keyRefused(account, failure);
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
