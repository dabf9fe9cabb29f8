/**
 * Every operation, under both prefixes and by every method, with every id of another tenant in every parameter that takes an
 * id, and in some that do not: no data of that tenant is shown or changed.
 */
import { afterAll, expect, test } from 'vitest';
import { type Operation, PREFIXES } from '../../src/contract/operation.ts';
import { type OperationName, operationNames, operations } from '../../src/contract/operations.ts';
import { createPipeline } from '../../src/service/administration.ts';
import { createKey, createTenant } from '../../src/service/tenants.ts';
import { type Received, type Sent, startedService } from './started-service.ts';

/** Part of every text of the other tenant, which must not be seen. */
const MARK = 'Secret';
const ABSENT = 999_999;
/** Members that a caller may add to any body or query. */
const TRIED = ['id', 'tenant_id', 'contact_id', 'client_id', 'task_id', 'module_id'] as const;

interface Ids {
  readonly [kind: string]: number;
  readonly tenant: number;
  readonly contact: number;
  readonly customer: number;
  readonly order: number;
  readonly task: number;
  readonly subtask: number;
  readonly pipeline: number;
  readonly column: number;
  readonly card: number;
}

let calls = 0;

const at = await startedService();
const foreign = await workspace(at.tenantId, at.key, MARK);
// The ids of the two are all different, so that none of them is also the id of an own record of another kind.
const advance = `select setval(c.oid, 5000) from pg_class c where relkind = 'S' and relnamespace = 'service'::regnamespace`;
await at.pool.query(advance);
const { id } = await createTenant(at.pool, 'stranger');
const stranger = (await createKey(at.pool, id)).key;
const own = await workspace(id, stranger, 'Own');
afterAll(async () => {
  process.stderr.write(`tenant matrix: ${operationNames.length} operations, ${calls} calls\n`);
  await at.close();
});

/** One record of every kind, made by its key. */
async function workspace(tenant: number, key: string, text: string): Promise<Ids> {
  const make = async (name: OperationName, body: object): Promise<number> => {
    await at.content(name, { key, body });
    const sql = 'select record_id from service.commits where operation = $1 order by seq desc limit 1';
    return Number((await at.pool.query(sql, [name])).rows[0].record_id);
  };
  const contact = await make('contacts.create', { first_name: text, email: `${text}@example.org` });
  const customer = await make('customers.create', { full_name: text });
  const order = await make('orders.create', { client_id: customer, order_id: text, description: text });
  const task = await make('tasks.create', { taskName: text });
  const subtask = await make('subtasks.create', { task_id: task, item_name: text });
  const columns = [{ name: text, cards: [{ title: text }] }, { name: `${text} 2` }];
  const { id: pipeline, columns: made } = await createPipeline(at.pool, tenant, { name: text, columns });
  const [card = 0, column = 0] = [made[0]?.cards[0]?.id, made[1]?.id];
  return { tenant, contact, customer, order, task, subtask, pipeline, column, card };
}

/** The input of a successful call, for the caller's own workspace. */
const works: Readonly<Record<OperationName, (n: Ids) => Sent>> = {
  'contacts.create': () => ({ body: { first_name: 'x' } }),
  'contacts.update': (n) => ({ params: { contact_id: n.contact }, body: { first_name: 'x' } }),
  'contacts.get': (n) => ({ query: { contact_id: n.contact } }),
  'contacts.getall': () => ({ query: { page: 0, rows_per_page: 1000 } }),
  'contacts.search': () => ({ query: { search_term: 'secret' } }),
  'contacts.comment': (n) => ({ body: { module_type: 'contact', module_id: n.contact, comment_text: 'x' } }),
  'customers.import': (n) => ({ body: { contact_id: n.contact } }),
  'customers.create': () => ({ body: { full_name: 'x' } }),
  'customers.update': (n) => ({ body: { id: n.customer, tenant_id: n.tenant, full_name: 'x' } }),
  'customers.get': (n) => ({ query: { id: n.customer } }),
  'customers.getall': () => ({}),
  'orders.create': (n) => ({ body: { client_id: n.customer, amount: 1 } }),
  'orders.update': (n) => ({ body: { id: n.order, client_id: n.customer, status: 'x' } }),
  'orders.get': (n) => ({ query: { id: n.order } }),
  'orders.getall': () => ({}),
  'tasks.create': () => ({ body: { taskName: 'x' } }),
  'tasks.update': (n) => ({ params: { task_id: n.task }, body: { taskName: 'x' } }),
  'tasks.get': (n) => ({ query: { id: n.task } }),
  'tasks.getall': () => ({ query: { page: 0 } }),
  'tasks.complete': (n) => ({ params: { task_id: n.task }, body: { isCompleted: true } }),
  'subtasks.create': (n) => ({ body: { task_id: n.task, item_name: 'x' } }),
  'subtasks.update': (n) => ({ params: { task_id: n.task }, body: { id: n.subtask, item_name: 'x' } }),
  'subtasks.getall': (n) => ({ params: { task_id: n.task } }),
  'pipelines.getall': () => ({}),
  'pipelines.get': (n) => ({ query: { pipeline_id: n.pipeline } }),
  'pipelines.moveCard': (n) => ({ body: { card_id: n.card, column_id: n.column } }),
  'pipelines.comment': (n) => ({ body: { module_type: 'card', module_id: n.card, comment_text: 'x' } }),
};

test.each(operationNames)('%s shows and changes nothing of another tenant', async (name) => {
  const { method, otherMethod }: Operation = operations[name];
  const before = await everythingOf(foreign.tenant);
  for (const prefix of PREFIXES) {
    for (const by of [method, otherMethod ?? method]) {
      const sent = { ...works[name](own), prefix, method: by, key: stranger };
      const call = async (changed: Partial<Sent>): Promise<Received> => {
        calls += 1;
        const received = await at.call(name, { ...sent, ...changed });
        expect(received.text).not.toContain(MARK);
        return received;
      };
      expect((await call({})).status).toBe(200);
      const ids = new Set(Object.values(foreign));
      for (const [part, member] of placesIn(sent)) {
        const withId = (id: number) => call({ [part]: { ...Object(sent[part]), [member]: id } });
        const never = await withId(ABSENT);
        expect(never.status).toBeGreaterThanOrEqual(400);
        for (const id of ids) expect(anonymous(await withId(id))).toEqual(anonymous(never));
      }
      for (const id of ids) {
        const tried = Object.fromEntries(TRIED.map((member) => [member, id]));
        await call({
          query: { ...tried, ...sent.query },
          ...(sent.body !== undefined && { body: { ...tried, ...Object(sent.body) } }),
        });
      }
    }
  }
  expect(await everythingOf(foreign.tenant)).toEqual(before);
});

/** Where the operation takes an id: in a part of the request, under a name. */
function placesIn(sent: Sent): readonly (readonly ['params' | 'query' | 'body', string])[] {
  return (['params', 'query', 'body'] as const).flatMap((part) => {
    const members = Object.keys(Object(sent[part])).filter((member) => /(^|_)id$/.test(member));
    return members.map((member) => [part, member] as const);
  });
}

/** Only the ids may differ between the answers for another tenant's record and for one that never existed. */
function anonymous({ status, text }: Received): [number, string] {
  return [status, text.replace(/ \d+ /g, ' N ')];
}

async function everythingOf(tenant: number): Promise<unknown> {
  const tables = [
    'contacts',
    'customers',
    'orders',
    'tasks',
    'subtasks',
    'pipelines',
    'columns',
    'cards',
    'comments',
    'commits',
  ];
  const rows = tables.map(
    (table) => `(select jsonb_agg(t order by t::text) from service.${table} t where tenant_id = $1) as ${table}`,
  );
  return (await at.pool.query(`select ${rows.join(', ')}`, [tenant])).rows[0];
}
