/** Looks at the service for what a create sent whose outcome is unknown. */
import type { Account } from '../../engine/account/account.ts';
import type { HandCall } from '../../engine/ledger/console/hand-calls.ts';
import { customersLike } from './import.ts';
import { RECORD_KINDS, type RecordKind } from './kinds.ts';
import { isLike, type Listed, type ListedPage, listWhere, readRecord, readSubtasks } from './read.ts';

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
  const kind = kindSent(call);
  if (kind === undefined) return { status: 'not-listed' };
  const { records, next, problem } = await findLike(account, kind, call);
  return { status: 'listed', kind, records, isWhole: next === undefined && problem === undefined, problem };
}

function findLike(account: Account, kind: RecordKind | 'subtasks', { operation, body }: HandCall): Promise<ListedPage> {
  const values = typeof body === 'object' && body !== null ? body : {};
  if (kind === 'subtasks') return subtasksLike(account, { task_id: '', ...values });
  if (operation === 'customers.import') return findImported(account, String({ contact_id: '', ...values }.contact_id));
  return listWhere(account, kind, isLike(values));
}

async function subtasksLike(account: Account, { task_id, ...own }: { readonly task_id: string }): Promise<ListedPage> {
  const read = await readSubtasks(account, String(task_id));
  if (read.status === 'failed') return unread(read.why);
  const like = isLike(own);
  return { records: read.value.filter(({ record }) => like(record)), next: undefined, problem: undefined };
}

async function findImported(account: Account, contact: string): Promise<ListedPage> {
  const read = await readRecord(account, 'contacts', contact);
  return read.status === 'failed' ? unread(read.why) : customersLike(account, read.value);
}

const unread = (problem: string): ListedPage => ({ records: [], next: undefined, problem });
