/** A record that cannot be named cannot be followed. */
import { type Json, whyNoId } from '../client/dialect.ts';
import type { Account } from './accounts.ts';
import { RunFailed } from './trouble.ts';

/** The error for a record whose id is under no name that Lockstep knows. */
export function withoutId(
  kind: 'contact' | 'customer' | 'order' | 'task' | 'subtask',
  record: Json,
  account: Account,
): RunFailed {
  return new RunFailed(
    'RECORD_WITHOUT_ID',
    `${kind === 'order' ? 'An' : 'A'} ${kind} came without an id; ${whyNoId(record, `${kind}s`, account.dialect)}. ` +
      `Name the member that holds it under accounts.${account.name}.dialect.idField.${kind}s.`,
  );
}
