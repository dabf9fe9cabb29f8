/** Reports a record without a usable id. */
import { whyNoId } from '../../client/call/dialect.ts';
import type { Json } from '../../client/call/json.ts';
import type { Account } from './account.ts';
import { RunFailed } from './failure.ts';

/** The error for a record whose id member has an unknown name. */
export function withoutId(
  kind: 'contact' | 'customer' | 'order' | 'task' | 'subtask',
  record: Json,
  account: Account,
): RunFailed {
  return new RunFailed(
    'RECORD_WITHOUT_ID',
    `${kind === 'order' ? 'An' : 'A'} ${kind} has no id; ${whyNoId(record, `${kind}s`, account.dialect)}. ` +
      `Set accounts.${account.name}.dialect.idField.${kind}s to the name of the id member.`,
  );
}
