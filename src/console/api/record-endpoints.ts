/** The operations of the API that call the service of an account, as the pages of records do. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isRead } from '../../client/call/classify.ts';
import type { JsonObject } from '../../client/call/json.ts';
import { isOperationName, type OperationName } from '../../contract/operations.ts';
import { shownOf } from '../records/fields.ts';
import { callOnce } from '../records/read.ts';
import { recordPath } from '../records/record-words.ts';
import { handCallOf, requireUsable, settleByHand, writeAgain, writeByHand } from '../records/write.ts';
import { defineEndpoint, type Endpoint } from './endpoint.ts';
import { requireAction } from './shapes.ts';

const values = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).prefault({});
const operation = z
  .string()
  .refine(isOperationName, 'it is not an operation of the contract')
  .transform((name): OperationName => name)
  .meta({ description: 'An operation of the contract, such as orders.create.' });
const call = z.looseObject({ id: z.string(), operation: z.string(), status: z.string().nullable() });
const ofCall = z.object({ call: z.uuid().describe('The `id` of a write.') });

export const recordEndpoints: readonly Endpoint[] = [
  defineEndpoint({
    name: 'call-operation',
    summary:
      'Call an operation of the service with the key and the budget of an account; a write is stored first, and sent once',
    route: 'POST /accounts/{account}/calls/{operation}',
    params: z.object({ account: z.string(), operation }),
    body: z.object({
      id: z.uuid().optional().describe('Id of a write. A write with the same id is sent only once. Default: a new id.'),
      path: values.describe('Parameters of the path.'),
      query: values.describe('Parameters of the query.'),
      body: z.record(z.string(), z.unknown()).optional(),
      was: z
        .record(z.string(), z.unknown())
        .optional()
        .describe(
          'Of an update: the record as it was read. Of a card that is moved: its `pipeline_id` and `column_id`. The record is read again: if a field that the operation can change has another value now, nothing is sent (RECORD_CHANGED). A change between this read and the write is not seen.',
        ),
    }),
    answer: z.looseObject({ status: z.string().nullable() }),
    async work(
      needs,
      { taking, params: { account: name, operation }, body: { id = randomUUID(), path, query, body, was } },
    ) {
      if (isRead(operation)) {
        const account = await needs.openAccount(name);
        await requireUsable(needs.pool, account);
        return callOnce(account, operation, { path: texts(path), query, body });
      }
      const page = recordPath(name, 'contacts');
      const writing = { id, account: name, operation, path: texts(path), body, page, besides: 'any' }; // a program chooses the id
      // Safe: a part of JSON.
      const shown = was && { shown: shownOf(operation, was as JsonObject), pipeline: String(was.pipeline_id) };
      return writeByHand(needs, taking, { ...writing, ...shown });
    },
  }),
  defineEndpoint({
    name: 'call',
    summary: 'A write that was made by hand, and its outcome',
    route: 'GET /calls/{call}',
    params: ofCall,
    answer: call,
    work: ({ pool }, { params }) => handCallOf(pool, params.call),
  }),
  defineEndpoint({
    name: 'settle-call',
    summary: 'Say that a write with an unknown outcome was applied, or send a write again that was not applied',
    route: 'POST /calls/{call}/{action}',
    params: ofCall.extend({ action: z.enum(['applied', 'again']) }),
    body: z.object({ id: z.uuid().optional().describe('Of the new write, if it is sent again.') }),
    answer: call,
    async work(needs, { taking, params: { call, action }, body }) {
      requireAction(action, 'again', body);
      if (action === 'applied') return settleByHand(needs, taking, call, 'applied');
      return writeAgain(needs, taking, call, body.id ?? randomUUID());
    },
  }),
];

function texts(path: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(path).map(([name, value]) => [name, String(value)]));
}
