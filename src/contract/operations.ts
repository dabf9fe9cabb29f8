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

/** A list comes whole, in one answer, unless its row says otherwise. */
const gets = <R extends z.ZodType>(summary: string, path: string, result: R) =>
  ({ summary, method: 'GET', path, ...noInput, result, repeatable: true }) as const;
const lists = <R extends z.ZodType>(summary: string, path: string, record: R) =>
  ({ ...gets(summary, path, z.array(record)), list: 'all' }) as const;
/** Sent twice, it may create two records. */
const creates = <B extends z.ZodObject>(summary: string, path: string, body: B) =>
  ({ summary, method: 'POST', path, ...noInput, body, repeatable: false }) as const;
const updates = <B extends z.ZodObject>(summary: string, path: string, body: B) =>
  ({ summary, method: 'PUT', path, ...noInput, body, repeatable: true }) as const;

const rows = {
  'contacts.create': { ...creates('Create contact', '/contacts/create', contactCreate), readBack: 'contacts.getall' },
  'contacts.update': {
    ...updates('Update contact', '/contacts/{contact_id}/update', contactUpdate),
    ...inPath('contact_id'),
    readBack: 'contacts.get',
  },
  'contacts.get': { ...gets('Get contact', '/contacts/get', contactRecord), ...inQuery('contact_id') },
  'contacts.getall': {
    ...lists('Get all contacts', '/contacts/getall', contactRecord),
    list: 'paged',
    query: z.object({ only_body: onlyBody, page, rows_per_page: z.coerce.number().int().min(1).optional() }),
  },
  'contacts.search': {
    ...lists('Search contacts', '/contacts/search', contactRecord),
    query: z.object({ search_term: z.string(), only_body: onlyBody }),
  },
  'contacts.comment': creates('Add comment to contact', '/pipelines/add-comment', comment),
  'customers.import': {
    ...creates('Import contact as customer', '/customers/import', customerImport),
    readBack: 'customers.getall',
  },
  'customers.create': {
    ...creates('Create customer', '/customers/create', customerCreate),
    readBack: 'customers.getall',
  },
  'customers.update': { ...updates('Update customer', '/customers/update', customerUpdate), readBack: 'customers.get' },
  'customers.get': { ...gets('Get customer', '/customers/get', customerRecord), ...inQuery('id') },
  'customers.getall': lists('Get all customers', '/customers/getall', customerRecord),
  'orders.create': { ...creates('Create order', '/orders/create', orderCreate), readBack: 'orders.getall' },
  'orders.update': { ...updates('Update order', '/orders/update', orderUpdate), readBack: 'orders.get' },
  'orders.get': { ...gets('Get order', '/orders/get', orderRecord), ...inQuery('id') },
  'orders.getall': lists('Get all orders', '/orders/getall', orderRecord),
  'tasks.create': { ...creates('Create task', '/tasks/create', taskFields), readBack: 'tasks.getall' },
  'tasks.update': {
    ...updates('Update task', '/tasks/{task_id}/update', taskFields),
    ...inPath('task_id'),
    readBack: 'tasks.get',
  },
  'tasks.get': { ...gets('Get task', '/tasks/getTaskById', taskRecord), ...inQuery('id') },
  'tasks.getall': {
    ...lists('Get all tasks', '/tasks/getall', taskRecord),
    list: 'paged',
    query: z.object({ page }),
  },
  'tasks.complete': {
    ...updates('Mark task complete', '/tasks/{task_id}/saveCheckStatus', taskCompletion),
    otherMethod: 'GET',
    ...inPath('task_id'),
    readBack: 'tasks.get',
  },
  'subtasks.create': {
    ...creates('Create subtask', '/tasks/createSubTask', subtaskCreate),
    readBack: 'subtasks.getall',
  },
  'subtasks.update': {
    ...updates('Update subtask', '/tasks/{task_id}/updateSubTask', subtaskUpdate),
    ...inPath('task_id'),
    readBack: 'subtasks.getall',
  },
  'subtasks.getall': {
    ...lists('Get all subtasks', '/tasks/{task_id}/getSubTasks', subtaskRecord),
    ...inPath('task_id'),
  },
  'pipelines.getall': { ...lists('Get pipelines', '/pipelines/getall', pipelineRecord), method: 'POST' },
  'pipelines.get': {
    ...gets('Get pipeline', '/pipelines/get-pipeline', pipelineWithColumns),
    method: 'POST',
    ...inQuery('pipeline_id'),
  },
  'pipelines.moveCard': creates('Move card', '/pipelines/move-card', cardMove),
  'pipelines.comment': creates('Add comment to card', '/pipelines/add-comment', comment),
} satisfies Record<string, Operation>;

export type OperationTable = typeof rows;
export type OperationName = keyof OperationTable;

export const operations: OperationTable & Record<OperationName, Operation> = rows;

export const operationNames = Object.keys(operations) as readonly OperationName[];

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(operations, name);
}
