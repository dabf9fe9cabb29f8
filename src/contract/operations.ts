/**
 * The 27 operations of the service's contract. The client's calls, the service's routes and the OpenAPI document are
 * all made from this table.
 */
import { z } from 'zod';
import type { Operation } from './operation.ts';
import {
  cardMove,
  comment,
  contactCreate,
  contactRecord,
  contactUpdate,
  customerCreate,
  customerImport,
  customerRecord,
  customerUpdate,
  orderCreate,
  orderRecord,
  orderUpdate,
  pipelineRecord,
  pipelineWithColumns,
  subtaskCreate,
  subtaskRecord,
  subtaskUpdate,
  taskCompletion,
  taskFields,
  taskRecord,
} from './records.ts';

const none = z.object({});
/** Neither in the path nor in the query. */
const noInput = { params: none, query: none };
const idInUrl = z.coerce.number().int().positive();
// as: a computed key widens to string, and the callers need the parameter by its name.
const idParam = <const N extends string>(name: N) => z.object({ [name]: idInUrl } as Record<N, typeof idInUrl>);
const inPath = <const N extends string>(name: N) => ({ params: idParam(name), query: none });
const inQuery = <const N extends string>(name: N) => ({ params: none, query: idParam(name) });
const onlyBody = z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0', ''] }).optional();
const page = z.coerce.number().int().min(0).optional();

const rows = {
  'contacts.create': {
    summary: 'Create contact',
    method: 'POST',
    path: '/contacts/create',
    ...noInput,
    body: contactCreate,
    repeatable: false,
    readBack: 'contacts.getall',
  },
  'contacts.update': {
    summary: 'Update contact',
    method: 'PUT',
    path: '/contacts/{contact_id}/update',
    ...inPath('contact_id'),
    body: contactUpdate,
    repeatable: true,
    readBack: 'contacts.get',
  },
  'contacts.get': {
    summary: 'Get contact',
    method: 'GET',
    path: '/contacts/get',
    ...inQuery('contact_id'),
    result: contactRecord,
    repeatable: true,
  },
  'contacts.getall': {
    summary: 'Get all contacts',
    method: 'GET',
    path: '/contacts/getall',
    list: 'paged',
    params: none,
    query: z.object({ only_body: onlyBody, page, rows_per_page: z.coerce.number().int().min(1).optional() }),
    result: z.array(contactRecord),
    repeatable: true,
  },
  'contacts.search': {
    summary: 'Search contacts',
    method: 'GET',
    path: '/contacts/search',
    list: 'all',
    params: none,
    query: z.object({ search_term: z.string(), only_body: onlyBody }),
    result: z.array(contactRecord),
    repeatable: true,
  },
  'contacts.comment': {
    summary: 'Add comment to contact',
    method: 'POST',
    path: '/pipelines/add-comment',
    ...noInput,
    body: comment,
    repeatable: false,
  },
  'customers.import': {
    summary: 'Import contact as customer',
    method: 'POST',
    path: '/customers/import',
    ...noInput,
    body: customerImport,
    repeatable: false,
    readBack: 'customers.getall',
  },
  'customers.create': {
    summary: 'Create customer',
    method: 'POST',
    path: '/customers/create',
    ...noInput,
    body: customerCreate,
    repeatable: false,
    readBack: 'customers.getall',
  },
  'customers.update': {
    summary: 'Update customer',
    method: 'PUT',
    path: '/customers/update',
    ...noInput,
    body: customerUpdate,
    repeatable: true,
    readBack: 'customers.get',
  },
  'customers.get': {
    summary: 'Get customer',
    method: 'GET',
    path: '/customers/get',
    ...inQuery('id'),
    result: customerRecord,
    repeatable: true,
  },
  'customers.getall': {
    summary: 'Get all customers',
    method: 'GET',
    path: '/customers/getall',
    list: 'all',
    ...noInput,
    result: z.array(customerRecord),
    repeatable: true,
  },
  'orders.create': {
    summary: 'Create order',
    method: 'POST',
    path: '/orders/create',
    ...noInput,
    body: orderCreate,
    repeatable: false,
    readBack: 'orders.getall',
  },
  'orders.update': {
    summary: 'Update order',
    method: 'PUT',
    path: '/orders/update',
    ...noInput,
    body: orderUpdate,
    repeatable: true,
    readBack: 'orders.get',
  },
  'orders.get': {
    summary: 'Get order',
    method: 'GET',
    path: '/orders/get',
    ...inQuery('id'),
    result: orderRecord,
    repeatable: true,
  },
  'orders.getall': {
    summary: 'Get all orders',
    method: 'GET',
    path: '/orders/getall',
    list: 'all',
    ...noInput,
    result: z.array(orderRecord),
    repeatable: true,
  },
  'tasks.create': {
    summary: 'Create task',
    method: 'POST',
    path: '/tasks/create',
    ...noInput,
    body: taskFields,
    repeatable: false,
    readBack: 'tasks.getall',
  },
  'tasks.update': {
    summary: 'Update task',
    method: 'PUT',
    path: '/tasks/{task_id}/update',
    ...inPath('task_id'),
    body: taskFields,
    repeatable: true,
    readBack: 'tasks.get',
  },
  'tasks.get': {
    summary: 'Get task',
    method: 'GET',
    path: '/tasks/getTaskById',
    ...inQuery('id'),
    result: taskRecord,
    repeatable: true,
  },
  'tasks.getall': {
    summary: 'Get all tasks',
    method: 'GET',
    path: '/tasks/getall',
    list: 'paged',
    params: none,
    query: z.object({ page }),
    result: z.array(taskRecord),
    repeatable: true,
  },
  'tasks.complete': {
    summary: 'Mark task complete',
    method: 'PUT',
    otherMethod: 'GET',
    path: '/tasks/{task_id}/saveCheckStatus',
    ...inPath('task_id'),
    body: taskCompletion,
    repeatable: true,
    readBack: 'tasks.get',
  },
  'subtasks.create': {
    summary: 'Create subtask',
    method: 'POST',
    path: '/tasks/createSubTask',
    ...noInput,
    body: subtaskCreate,
    repeatable: false,
    readBack: 'subtasks.getall',
  },
  'subtasks.update': {
    summary: 'Update subtask',
    method: 'PUT',
    path: '/tasks/{task_id}/updateSubTask',
    ...inPath('task_id'),
    body: subtaskUpdate,
    repeatable: true,
    readBack: 'subtasks.getall',
  },
  'subtasks.getall': {
    summary: 'Get all subtasks',
    method: 'GET',
    path: '/tasks/{task_id}/getSubTasks',
    list: 'all',
    ...inPath('task_id'),
    result: z.array(subtaskRecord),
    repeatable: true,
  },
  'pipelines.getall': {
    summary: 'Get pipelines',
    method: 'POST',
    path: '/pipelines/getall',
    list: 'all',
    ...noInput,
    result: z.array(pipelineRecord),
    repeatable: true,
  },
  'pipelines.get': {
    summary: 'Get pipeline',
    method: 'POST',
    path: '/pipelines/get-pipeline',
    ...inQuery('pipeline_id'),
    result: pipelineWithColumns,
    repeatable: true,
  },
  'pipelines.moveCard': {
    summary: 'Move card',
    method: 'POST',
    path: '/pipelines/move-card',
    ...noInput,
    body: cardMove,
    repeatable: false,
  },
  'pipelines.comment': {
    summary: 'Add comment to card',
    method: 'POST',
    path: '/pipelines/add-comment',
    ...noInput,
    body: comment,
    repeatable: false,
  },
} satisfies Record<string, Operation>;

/** The rows with their literal types. */
export type OperationTable = typeof rows;
export type OperationName = keyof OperationTable;

export const operations: OperationTable & Record<OperationName, Operation> = rows;

export const operationNames = Object.keys(operations) as readonly OperationName[];

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(operations, name);
}
