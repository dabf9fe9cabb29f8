/** The handlers of all operations: each receives one typed call of the contract and returns a tagged result. */
import type { z } from 'zod';
import type { OperationName, operations } from '../contract/operations.ts';
import { CARD_MODULE, CONTACT_MODULE } from '../contract/records.ts';
import { created, got, listed, updated, written } from './answers.ts';
import type { ImportForm } from './import-body.ts';
import type { Paging } from './paging.ts';
import { absent, found, invalid, type Result } from './result.ts';
import type { Records } from './store/records.ts';

type Table = typeof operations;
type BodyOf<N extends OperationName> = Table[N] extends { readonly body: infer B extends z.ZodObject }
  ? z.output<B>
  : undefined;

/** One call, checked against the operations table. */
interface Call<N extends OperationName> {
  readonly params: z.output<Table[N]['params']>;
  readonly query: z.output<Table[N]['query']>;
  readonly body: BodyOf<N>;
  /** The records of the calling tenant, and of no other tenant. */
  readonly records: Records;
}

type Handlers = { readonly [N in OperationName]: (call: Call<N>) => Promise<Result> };

/** The choices that affect handlers; the dialect makes all other choices about answers. */
interface Choices {
  readonly paging: Paging;
  readonly importForm: ImportForm | undefined;
  readonly importTwice: 'create' | 'refuse';
}

export function handlersFor(choices: Choices): Handlers {
  return {
    ...contactHandlers(choices),
    ...customerHandlers(choices),
    ...orderHandlers,
    ...taskHandlers(choices),
    ...subtaskHandlers,
    ...pipelineHandlers,
  };
}

const contactHandlers = ({ paging }: Choices) =>
  ({
    'contacts.create': ({ body, records }) => created(records, 'contact', { fields: body, naturalKey: body.email }),
    'contacts.update': ({ params, body, records }) =>
      updated(records, 'contact', params.contact_id, { fields: body, naturalKey: body.email }),
    'contacts.get': ({ query, records }) => got(records, 'contact', query.contact_id),
    'contacts.getall': ({ query, records }) => listed(records, 'contact', paging.contacts(query)),
    async 'contacts.search'({ query, records }) {
      const term = query.search_term.trim();
      if (term === '') return invalid('search_term', 'expected a word to search for');
      return { status: 'list', kind: 'contact', items: records.searchContacts(term) };
    },
  }) satisfies Partial<Handlers>;

const customerHandlers = ({ importForm, importTwice }: Choices) =>
  ({
    async 'customers.import'({ body, records }) {
      const contactIds = importForm?.contactIds(body) ?? [body.contact_id];
      const outcome = await records.importContacts(contactIds, importTwice);
      const [contactId = 0] = contactIds;
      switch (outcome.status) {
        case 'imported':
          return written(records, 'customer', outcome.ids[0] ?? 0);
        case 'absent':
          return absent('contact', contactId);
        case 'exists-already':
          return { status: 'refused', httpStatus: 409, message: `contact ${contactId} is already a customer` };
        default:
          return outcome satisfies never;
      }
    },
    'customers.create': ({ body, records }) =>
      created(records, 'customer', { fields: body, naturalKey: body.email ?? body.phone_number ?? body.full_name }),
    async 'customers.update'({ body, records }) {
      const { id, tenant_id, ...fields } = body;
      if (tenant_id !== undefined && tenant_id !== records.tenantId) {
        return invalid('tenant_id', 'not the tenant of this API key');
      }
      return updated(records, 'customer', id, { fields, naturalKey: body.email });
    },
    'customers.get': ({ query, records }) => got(records, 'customer', query.id),
    'customers.getall': ({ records }) => listed(records, 'customer', 'all'),
  }) satisfies Partial<Handlers>;

const EXACT_DIGITS = 15;
const TOO_LONG = `a JSON number is exact only up to ${EXACT_DIGITS} digits`;

/** Each order belongs to an existing customer of the same tenant (docs/contract.md, "Order"). */
const orderHandlers = {
  async 'orders.create'({ body, records }) {
    const { client_id, ...fields } = body;
    if (client_id === undefined) return invalid('client_id', 'an order requires an existing customer');
    if (isTooLong(fields.amount)) return invalid('amount', TOO_LONG);
    return created(records, 'order', { fields, link: client_id, naturalKey: body.order_id });
  },
  async 'orders.update'({ body, records }) {
    const { id, client_id, ...fields } = body;
    if (isTooLong(fields.amount)) return invalid('amount', TOO_LONG);
    return updated(records, 'order', id, { fields, link: client_id, naturalKey: body.order_id });
  },
  'orders.get': ({ query, records }) => got(records, 'order', query.id),
  'orders.getall': ({ records }) => listed(records, 'order', 'all'),
} satisfies Partial<Handlers>;

/** True for an amount with more digits than a JSON number can represent exactly. Money is refused, never rounded. */
function isTooLong(amount: number | undefined): boolean {
  return amount !== undefined && Number(amount.toPrecision(EXACT_DIGITS)) !== amount;
}

const taskHandlers = ({ paging }: Choices) =>
  ({
    'tasks.create': ({ body, records }) =>
      created(records, 'task', { fields: { isCompleted: false, ...body }, naturalKey: body.taskName }),
    'tasks.update': ({ params, body, records }) =>
      updated(records, 'task', params.task_id, { fields: body, naturalKey: body.taskName }),
    'tasks.get': ({ query, records }) => got(records, 'task', query.id),
    'tasks.getall': ({ query, records }) => listed(records, 'task', paging.tasks(query)),
    'tasks.complete': ({ params, body, records }) =>
      updated(records, 'task', params.task_id, {
        operation: 'tasks.complete',
        fields: { isCompleted: body.isCompleted },
      }),
  }) satisfies Partial<Handlers>;

const subtaskHandlers = {
  async 'subtasks.create'({ body, records }) {
    const { task_id, ...sent } = body;
    if (task_id === undefined) return invalid('task_id', 'a subtask requires an existing task');
    const fields = { isCompleted: false, ...sent };
    return created(records, 'subtask', { fields, link: task_id, naturalKey: body.item_name });
  },
  async 'subtasks.update'({ params, body, records }) {
    const { id, ...fields } = body;
    if (id === undefined)
      return invalid('id', 'the path has only the id of the task, so the body needs the id of the subtask');
    return updated(records, 'subtask', id, { fields, link: params.task_id, naturalKey: body.item_name });
  },
  async 'subtasks.getall'({ params, records }) {
    const task = await records.get('task', params.task_id);
    if (task === undefined) return absent('task', params.task_id);
    return { status: 'list', kind: 'subtask', items: records.subtasksOf(params.task_id) };
  },
} satisfies Partial<Handlers>;

const pipelineHandlers = {
  async 'pipelines.getall'({ records }) {
    return { status: 'list', kind: 'pipeline', items: await records.pipelines() };
  },
  async 'pipelines.get'({ query, records }) {
    return found('pipeline', query.pipeline_id, await records.pipeline(query.pipeline_id));
  },
  async 'pipelines.moveCard'({ body, records }) {
    const { card_id: cardId, column_id: columnId, position } = body;
    const outcome = await records.moveCard({ cardId, columnId, position });
    switch (outcome.status) {
      case 'moved':
        return { status: 'written', kind: 'card', id: cardId, read: () => records.card(cardId) };
      case 'no-card':
        return absent('card', cardId);
      case 'no-column':
        return invalid('column_id', `no column ${columnId} in the card's pipeline`);
      default:
        return outcome satisfies never;
    }
  },
  'pipelines.comment': addComment,
  'contacts.comment': addComment,
} satisfies Partial<Handlers>;

/** `module_type` decides whether the comment belongs to a contact or a card. */
async function addComment({ body, records }: Call<'pipelines.comment' | 'contacts.comment'>): Promise<Result> {
  const { comment_text: text, module_type: type, module_id: id } = body;
  if (type !== CONTACT_MODULE && type !== CARD_MODULE) {
    return invalid('module_type', `expected "${CONTACT_MODULE}" or "${CARD_MODULE}"`);
  }
  if (id === undefined) return invalid('module_id', `expected the id of the ${type}`);
  if (text === undefined) return invalid('comment_text', 'expected the text of the comment');
  const commentId = await records.addComment({ type, id }, text);
  if (commentId === undefined) return absent(type, id);
  return { status: 'written', kind: 'comment', id: commentId, read: () => records.comment(commentId) };
}
