/** Looks at the service for what a create sent whose outcome is unknown. */
import type { Account } from '../../engine/account/account.ts';
import type { HandCall } from '../../engine/ledger/console/hand-calls.ts';
import { customersLike } from './import.ts';
import { RECORD_KINDS, type RecordKind } from './kinds.ts';
import { isLike, type Listed, listLike, readRecord, readSubtasks } from './read.ts';

export type Sent =
  | {
      readonly status: 'listed';
      readonly kind: RecordKind | 'subtasks';
      /** Those that have all values that were sent; of an imported contact its e-mail address or phone number. */
      readonly records: readonly Listed[];
      readonly isWhole: boolean;
      readonly problem: string | undefined;
    }
  /** No list shows such a write. */
  | { readonly status: 'not-listed' };

export async function findSent(account: Account, { operation, body }: HandCall): Promise<Sent> {
  const values = typeof body === 'object' && body !== null ? body : {};
  if (operation === 'subtasks.create') {
    const { task_id, ...own } = { task_id: '', ...values };
    const read = await readSubtasks(account, String(task_id));
    const [records, problem] = read.status === 'read' ? [read.value, undefined] : [[], read.why];
    const like = isLike(own);
    const found = records.filter(({ record }) => like(record));
    return { status: 'listed', kind: 'subtasks', records: found, isWhole: problem === undefined, problem };
  }
  if (operation === 'customers.import') return findImported(account, String({ contact_id: '', ...values }.contact_id));
  const kind = RECORD_KINDS.find((one) => operation === `${one}.create`);
  if (kind === undefined) return { status: 'not-listed' };
  const { records, next, problem } = await listLike(account, kind, values);
  return { status: 'listed', kind, records, isWhole: next === undefined && problem === undefined, problem };
}

async function findImported(account: Account, contact: string): Promise<Sent> {
  const read = await readRecord(account, 'contacts', contact);
  if (read.status === 'failed')
    return { status: 'listed', kind: 'customers', records: [], isWhole: false, problem: read.why };
  const { records, next, problem } = await customersLike(account, read.value);
  return {
    status: 'listed',
    kind: 'customers',
    records,
    isWhole: next === undefined && problem === undefined,
    problem,
  };
}
