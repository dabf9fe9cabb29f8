/**
 * What the service says of a record that was just sent, and a record that is updated whole, as it is now: its list may have been
 * read long ago, and an update that sends what the list showed would undo what people have changed since.
 */
import { recordIn } from '../client/call/decode.ts';
import { idOf, isJsonArray, isJsonObject } from '../client/call/dialect.ts';
import type { JsonObject } from '../client/call/json.ts';
import type { WholeKind } from '../contract/kinds.ts';
import type { Account } from '../engine/account/account.ts';
import { lookUp } from '../engine/account/look-up.ts';
import type { WriteOptions, WriteReport } from '../engine/account/writes.ts';
import type { Before, ClaimedRow } from '../engine/ledger/rows.ts';
import type { SentRow } from '../engine/worker/sent-row.ts';

/** What the record of row `n` held when its update was planned. */
export type ReadBefore = (n: number) => Promise<Before>;

export interface RecordNow {
  /** Undefined if the service cannot be asked for it. */
  readonly record: JsonObject | undefined;
  readonly calls: number;
  readonly limited: number;
}

export async function readNow(
  account: Account,
  kind: 'customers' | 'orders',
  { recordId = '' }: ClaimedRow,
  { lane = 'batch', stopWaiting: signal }: WriteOptions,
): Promise<RecordNow> {
  const { made, onCalls } = countCalls();
  const found = await lookUp(account, kind, recordId, { lane, signal, onCalls }).catch(() => undefined);
  return { record: found?.status === 'found' ? found.record : undefined, ...made };
}

/** Adds up the calls of reads. */
export function countCalls() {
  const made = { calls: 0, limited: 0 };
  const onCalls = async ({ calls, limited }: Omit<RecordNow, 'record'>) => {
    made.calls += calls;
    made.limited += limited;
  };
  return { made, onCalls };
}

/** Adds other calls to those of the row. */
export function withCalls(sent: SentRow, { calls, limited }: Omit<RecordNow, 'record'>): SentRow {
  return { ...sent, calls: sent.calls + calls, limited: sent.limited + limited };
}

/**
 * The id that the answer to a create has; the contract does not say that it has one (docs/gaps.md). It may also be the id of
 * something else: read the record before you rely on it.
 */
export function createdId(
  { dialect }: Pick<Account, 'dialect'>,
  kind: WholeKind,
  { written }: WriteReport,
): string | undefined {
  const content = written.status === 'applied' ? written.outcome.content : undefined;
  if (!isJsonObject(content) && !isJsonArray(content)) return undefined;
  return idOf(recordIn(content, dialect, kind), kind, dialect);
}
