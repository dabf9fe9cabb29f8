import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Operation, type OperationName, operationNames, operations } from '../../src/contract/operations.ts';
import { seedWorkspace } from '../../src/service/testbed/seed.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { command, databaseUrl, scratchFolders } from './command.ts';

const DEMO_KEY = 'the-key-of-the-demo-account';
const folder = scratchFolders();
let database: FreshDatabase;
/** A record of the sample workspace; updating a subtask needs both ids. */
let subtask: { readonly id: string; readonly task_id: string };
beforeAll(async () => {
  database = await freshDatabase();
  await seedWorkspace(database.pool, { contacts: 200, tenants: [{ name: 'demo', key: DEMO_KEY }] });
  subtask = (await database.pool.query('select id, task_id from service.subtasks order by id limit 1')).rows[0];
});
afterAll(() => database.close());

async function lockstep(...args: readonly string[]) {
  const cwd = await folder();
  const settings = 'accounts: { demo: { apiKey: { env: DEMO_KEY }, budget: { requests: 2000, per: 1s } } }';
  await writeFile(path.join(cwd, 'lockstep.yaml'), settings);
  const env = { DATABASE_URL: databaseUrl(database.connection), DEMO_KEY };
  return command([...args, '--account', 'demo', '--config', 'lockstep.yaml', '--json'], { cwd, env });
}

const [CONTACT, CUSTOMER, ORDER, TASK, PIPELINE, CARD, COLUMN] = [1, 1, 1, 1, 1, 1, 2];
const task = ['--param', `task_id=${TASK}`];
const body = (value: unknown) => ['--body', JSON.stringify(value)];

const calls = (): Readonly<Record<OperationName, readonly string[]>> => ({
  'contacts.create': body({ first_name: 'Ann' }),
  'contacts.update': ['--param', `contact_id=${CONTACT}`, ...body({ last_name: 'Lee' })],
  'contacts.get': ['--param', `contact_id=${CONTACT}`],
  'contacts.getall': ['--param', 'page=0', '--param', 'rows_per_page=5'],
  'contacts.search': ['--param', 'search_term=a'],
  'contacts.comment': body({ comment_text: 'Called.', module_type: 'contact', module_id: CONTACT }),
  'customers.import': body({ contact_id: CONTACT }),
  'customers.create': body({ full_name: 'Ann Lee' }),
  'customers.update': body({ id: CUSTOMER, full_name: 'Ann Lee' }),
  'customers.get': ['--param', `id=${CUSTOMER}`],
  'customers.getall': [],
  'orders.create': body({ client_id: CUSTOMER, order_id: 'A-1', amount: 12.5 }),
  'orders.update': body({ id: ORDER, status: 'paid' }),
  'orders.get': ['--param', `id=${ORDER}`],
  'orders.getall': [],
  'tasks.create': body({ taskName: 'Call Ann' }),
  'tasks.update': [...task, ...body({ taskName: 'Call Ann Lee' })],
  'tasks.get': ['--param', `id=${TASK}`],
  'tasks.getall': ['--param', 'page=0'],
  'tasks.complete': [...task, ...body({ isCompleted: true })],
  'subtasks.create': body({ task_id: TASK, item_name: 'Find the number' }),
  'subtasks.update': ['--param', `task_id=${subtask.task_id}`, ...body({ id: Number(subtask.id), isCompleted: true })],
  'subtasks.getall': task,
  'pipelines.getall': [],
  'pipelines.get': ['--param', `pipeline_id=${PIPELINE}`],
  'pipelines.moveCard': body({ card_id: CARD, column_id: COLUMN }),
  'pipelines.comment': body({ comment_text: 'Good.', module_type: 'card', module_id: CARD }),
});

test.each(operationNames)('lockstep call %s reports its outcome', async (name) => {
  const { code, json, stderr } = await lockstep('call', name, ...calls()[name]);
  expect([code, stderr]).toEqual([0, '']);
  expect(json).toMatchObject({ operation: name, outcome: { status: 'applied', httpStatus: 200 } });
  const { result }: Operation = operations[name];
  expect(json.outcome.content === null).toBe(result === undefined); // only a read returns a result
});

test('a refused operation ends with 1 and shows the service’s message', async () => {
  const { code, json, stderr } = await lockstep('call', 'contacts.get', '--param', 'contact_id=999999');
  expect([code, json.outcome.status, json.outcome.httpStatus]).toEqual([1, 'refused', 404]);
  expect(stderr).toContain('lockstep: contacts.get: refused (HTTP 404)');
});
