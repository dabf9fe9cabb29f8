/** The list of an answer and its records, or an error that names the setting to change. */
import { shortJson } from '../../base/texts.ts';
import { adviceOnList, type FoundList, likelyFirst, listIn } from '../../client/call/decode.ts';
import { isJsonObject, whyNoId } from '../../client/call/dialect.ts';
import type { Json } from '../../client/call/json.ts';
import { type Kind, singular } from '../../contract/kinds.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Account } from './account.ts';
import { RunFailed } from './failure.ts';

interface ListAnswer {
  readonly operation: OperationName;
  readonly kind: Kind;
  readonly content: unknown;
  /** Whether a page of the list was asked for. */
  readonly isPage: boolean;
}

/** @throws RunFailed SERVICE_UNREADABLE */
export function listInAnswer({ name, dialect }: Account, { operation, kind, content, isPage }: ListAnswer): FoundList {
  const found = listIn(content, dialect, kind, { of: 'content', isPage });
  if (found) return found;
  const what = `has no list of ${kind} that Lockstep recognises`;
  const advice = adviceOnList(likelyFirst(content, kind), kind, dialect, `accounts.${name}.dialect`);
  throw new RunFailed('SERVICE_UNREADABLE', `The service's answer to ${operation} ${what}. ${advice}`);
}

const MOST_SHOWN = 40;
/** So much of a record that people recognise it. */
const MOST_OF_RECORD = 120;

/** The error for a record whose id member has an unknown name, and for what is no record. */
export function withoutId(kind: Kind, record: Json, account: Account): RunFailed {
  if (!isJsonObject(record)) {
    const what = shortJson(record, MOST_SHOWN);
    return new RunFailed(
      'RECORD_WITHOUT_ID',
      `The service of account "${account.name}" lists ${what} among its ${kind}, which is not a record. Fix the list at the ` +
        'service: Lockstep leaves out no part of a list.',
    );
  }
  const what = singular(kind);
  return new RunFailed(
    'RECORD_WITHOUT_ID',
    `${kind === 'orders' ? 'An' : 'A'} ${what} has no id; ${whyNoId(record, kind, account.dialect)}. ` +
      `Set accounts.${account.name}.dialect.idField.${kind} to the name of the id member. If only this ${what} has no id, fix or ` +
      `delete it at the service; it begins with ${shortJson(record, MOST_OF_RECORD)}`,
  );
}
