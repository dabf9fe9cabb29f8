/** Reads lists, and reports what is wrong with a list, or with a record of it, with the setting to change. */
import { shortJson } from '../../base/texts.ts';
import type { CallOptions } from '../../client/call/client.ts';
import { adviceOnList, type FoundList, likelyFirst, listIn } from '../../client/call/decode.ts';
import { isJsonObject, type LongIds, longIdsOf, whyNoId } from '../../client/call/dialect.ts';
import type { Json } from '../../client/call/json.ts';
import { shapeOf } from '../../client/call/shape.ts';
import type { Page } from '../../client/lists/scan-pages.ts';
import { type Kind, listOf, singular } from '../../contract/kinds.ts';
import type { JobContext } from '../worker/job.ts';
import type { Account } from './account.ts';
import { RunFailed } from './failure.ts';
import { checkShape } from './list-shapes.ts';
import { readCall, readsOf } from './reads.ts';

export type ListReader = (asked: Pick<CallOptions, 'path' | 'query'>) => Promise<Page<Json>>;

/**
 * Reads the list of a kind, or pages of it. Its first records, and the first ids that a float cannot represent, show its shape, which
 * is compared with the one seen before. @throws Stop; RunFailed SERVICE_UNREADABLE; RunPaused DIALECT_DRIFTED
 */
export function listReader(context: JobContext<unknown>, kind: Kind): ListReader {
  const { account } = context;
  let isShapeKnown = false;
  let longIds: LongIds | undefined;
  return async (asked) => {
    const { content, beside } = await readCall(account, listOf(kind), { ...asked, ...readsOf(context) });
    const { path, list } = listInAnswer(account, kind, content, asked.query !== undefined);
    const areNew = longIds === undefined ? longIdsOf(list, kind, account.dialect) : undefined;
    if (list.length > 0 && (!isShapeKnown || areNew !== undefined)) {
      isShapeKnown = true;
      longIds ??= areNew;
      const shape = shapeOf(path, list[0], kind, account.dialect);
      await checkShape(context, kind, { ...shape, ...(areNew && { longIds: areNew }) });
    }
    return { records: list, beside };
  };
}

function listInAnswer({ name, dialect }: Account, kind: Kind, content: unknown, isPage: boolean): FoundList {
  const found = listIn(content, dialect, kind, { of: 'content', isPage });
  if (found) return found;
  const operation = listOf(kind);
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
        'service: Lockstep never skips a part of a list.',
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
