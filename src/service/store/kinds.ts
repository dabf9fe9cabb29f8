/**
 * The four kinds of records with the same form in the store: the sent members in `fields`, and at most one column that
 * refers to another record. Pipelines, their cards and comments are in separate files.
 */
export type StoredKind = 'contact' | 'customer' | 'order' | 'task' | 'subtask';

export interface KindOfRecord {
  readonly table: string;
  /** The column that refers to another record, and the table in which that record has to exist (absent: not checked). */
  readonly link?: { readonly column: string; readonly parent?: string };
  /** The record as the API shows it, as JSON text over a row named `r`. */
  readonly json: string;
}

export const kinds: Readonly<Record<StoredKind, KindOfRecord>> = {
  contact: { table: 'service.contacts', json: shown() },
  customer: { table: 'service.customers', link: { column: 'contact_id' }, json: shown('contact_id') },
  order: {
    table: 'service.orders',
    link: { column: 'client_id', parent: 'service.customers' },
    json: shown('client_id'),
  },
  task: { table: 'service.tasks', json: shown() },
  subtask: { table: 'service.subtasks', link: { column: 'task_id', parent: 'service.tasks' }, json: shown('task_id') },
};

export function perKind<T>(make: (kind: StoredKind) => T): Readonly<Record<StoredKind, T>> {
  const [contact, customer, order] = [make('contact'), make('customer'), make('order')];
  return { contact, customer, order, task: make('task'), subtask: make('subtask') };
}

/** Concatenates two texts, which takes half as long as merging two jsonb objects. */
function shown(link?: string): string {
  const members = ['id', 'tenant_id', 'created_at', 'updated_at', ...(link === undefined ? [] : [link])];
  const own = `json_build_object(${members.map((name) => `'${name}', r.${name}`).join(', ')})::text`;
  return `(left(${own}, -1) || case r.fields when '{}' then '}' else ', ' || substr(r.fields::text, 2) end)`;
}
