/** The list of an answer, or an error that names the setting to change. */
import { adviceOnList, type FoundList, likelyFirst, listIn } from '../../client/call/decode.ts';
import type { Kind } from '../../contract/kinds.ts';
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
