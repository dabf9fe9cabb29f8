/** The kinds of records that people see and change by hand: their operations, and what a list shows of each. */
import type { OperationName } from '../../contract/operations.ts';

export const RECORD_KINDS = ['contacts', 'customers', 'orders', 'tasks', 'pipelines'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

interface KindSpec {
  /** One of them. */
  readonly one: string;
  /** How the list is read: by page number, or in one answer. */
  readonly list: 'paged' | 'all';
  /** Members whose first that is filled names the record; those of a group are written together. */
  readonly titles: readonly (readonly string[])[];
  /** Other columns of the list. */
  readonly columns: readonly string[];
  readonly create?: OperationName;
  readonly update?: { readonly operation: OperationName; readonly idIn: 'path' | 'body'; readonly name: string };
}

export const KIND: Readonly<Record<RecordKind, KindSpec>> = {
  contacts: {
    one: 'contact',
    list: 'paged',
    titles: [['first_name', 'last_name'], ['full_name'], ['email']],
    columns: ['email', 'phone', 'organization'],
    create: 'contacts.create',
    update: { operation: 'contacts.update', idIn: 'path', name: 'contact_id' },
  },
  customers: {
    one: 'customer',
    list: 'all',
    titles: [['full_name'], ['email']],
    columns: ['email', 'phone_number', 'organization'],
    create: 'customers.create',
    update: { operation: 'customers.update', idIn: 'body', name: 'id' },
  },
  orders: {
    one: 'order',
    list: 'all',
    titles: [['order_id'], ['description']],
    columns: ['amount', 'status', 'client_id', 'description'],
    create: 'orders.create',
    update: { operation: 'orders.update', idIn: 'body', name: 'id' },
  },
  tasks: {
    one: 'task',
    list: 'paged',
    titles: [['taskName']],
    columns: ['isCompleted', 'endDate', 'description'],
    create: 'tasks.create',
    update: { operation: 'tasks.update', idIn: 'path', name: 'task_id' },
  },
  pipelines: {
    one: 'pipeline',
    list: 'all',
    titles: [['name'], ['title']],
    columns: [],
  },
};
