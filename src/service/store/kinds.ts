/**
 * The five kinds of records that look alike in the store: what a caller sent in `fields`, at most one column that points at
 * another record, and the record as the API shows it in `json`. Pipelines, their cards and comments are in files of their own.
 */
export type StoredKind = 'contact' | 'customer' | 'order' | 'task' | 'subtask';

export interface KindOfRecord {
  readonly table: string;
  /** The column that points at another record, and the table it has to exist in (absent: it is only remembered). */
  readonly link?: { readonly column: string; readonly parent?: string };
}

export const kinds: Readonly<Record<StoredKind, KindOfRecord>> = {
  contact: { table: 'service.contacts' },
  customer: { table: 'service.customers', link: { column: 'contact_id' } },
  order: { table: 'service.orders', link: { column: 'client_id', parent: 'service.customers' } },
  task: { table: 'service.tasks' },
  subtask: { table: 'service.subtasks', link: { column: 'task_id', parent: 'service.tasks' } },
};

export function perKind<T>(make: (kind: StoredKind) => T): Readonly<Record<StoredKind, T>> {
  const [contact, customer, order] = [make('contact'), make('customer'), make('order')];
  return { contact, customer, order, task: make('task'), subtask: make('subtask') };
}
