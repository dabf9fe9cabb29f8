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

/** Of a create: the kind of record that it made; undefined if no list shows it. */
export function kindSent({ operation }: Pick<HandCall, 'operation'>): RecordKind | 'subtasks' | undefined {
  if (operation === 'subtasks.create') return 'subtasks';
  if (operation === 'customers.import') return 'customers';
  return RECORD_KINDS.find((one) => operation === `${one}.create`);
}

export async function findSent(account: Account, call: HandCall): Promise<Sent> {
  const { operation, body } = call;
  const kind = kindSent(call);
  const values = typeof body === 'object' && body !== null ? body : {};
  if (kind === 'subtasks') {
    const { task_id, ...own } = { task_id: '', ...values };
    const read = await readSubtasks(account, String(task_id));
    const [records, problem] = read.status === 'read' ? [read.value, undefined] : [[], read.why];
    const like = isLike(own);
    const found = records.filter(({ record }) => like(record));
    return { status: 'listed', kind: 'subtasks', records: found, isWhole: problem === undefined, problem };
  }
  if (operation === 'customers.import') return findImported(account, String({ contact_id: '', ...values }.contact_id));
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
