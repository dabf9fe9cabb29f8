/** The id that the answer to a create has; the contract does not say that it has one (docs/gaps.md). */

import { recordIn } from '../client/call/decode.ts';
import { idOf, isJsonArray, isJsonObject } from '../client/call/dialect.ts';
import type { WholeKind } from '../contract/kinds.ts';
import type { Account } from '../engine/account/account.ts';
import type { WriteReport } from '../engine/account/writes.ts';

/** Undefined if the answer has none. It may also be the id of something else: read the record before you rely on it. */
export function createdId(
  { dialect }: Pick<Account, 'dialect'>,
  kind: WholeKind,
  { written }: WriteReport,
): string | undefined {
  const content = written.status === 'applied' ? written.outcome.content : undefined;
  if (!isJsonObject(content) && !isJsonArray(content)) return undefined;
  return idOf(recordIn(content, dialect, kind), kind, dialect);
}
