/**
 * The five kinds of records with the same form in the store: the sent members in `fields`, at most one column that refers
 * to another record, and the record as the API shows it in `json`. Pipelines, their cards and comments are in separate files.
 */
export type StoredKind = 'contact' | 'customer' | 'order' | 'task' | 'subtask';

export interface KindOfRecord {
  readonly table: string;
  /** The column that refers to another record, and the table in which that record has to exist (absent: not checked). */
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
