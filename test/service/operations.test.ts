import { afterAll, describe, expect, test } from 'vitest';
import { type Operation, PREFIXES } from '../../src/contract/operation.ts';
import { operationNames, operations } from '../../src/contract/operations.ts';
import { startedService } from './started-service.ts';

const at = await startedService();
afterAll(() => at.close());

describe.each(PREFIXES)('under %s', (prefix) => {
  test.each(operationNames)('%s has a route, which refuses a call without a key', async (name) => {
    const params = { contact_id: 1, task_id: 1 };
    const { path, method, otherMethod }: Operation = operations[name];
    for (const one of otherMethod === undefined ? [method] : [method, otherMethod]) {
      const { status, json } = await at.call(name, { prefix, params, method: one, key: null });
      expect([path, status, json.status]).toEqual([path, 401, 'error']);
    }
  });
});

test('a contact comes back as it was sent, with what the service adds', async () => {
  const body = { first_name: 'Zoë', last_name: 'O’Brien', phone: null, by_email: true, linkedIn: 'zoe' };
  const contact_id = await at.create('contacts.create', body);
  const contact = await at.content('contacts.get', { query: { contact_id } });
  const added = {
    id: contact_id,
    tenant_id: at.tenantId,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  };
  expect(contact).toEqual({ ...body, ...added });
});

test.each([
  [
    'contacts.update',
    'contacts.get',
    'contacts.create',
    { first_name: 'A', phone: '1' },
    { phone: '', whatsapp: null },
    'contact_id',
  ],
  [
    'tasks.update',
    'tasks.get',
    'tasks.create',
    { taskName: 'A', isCompleted: true },
    { description: '<b>x</b>' },
    'task_id',
  ],
] as const)('%s changes the fields that are sent and no others', async (update, get, create, before, change, param) => {
  const id = await at.create(create, before);
  await at.content(update, { params: { [param]: id }, body: change });
  const query = get === 'contacts.get' ? { contact_id: id } : { id };
  expect(await at.content(get, { query })).toMatchObject({ ...before, ...change, id });
});

test('a customer and its order are created, updated by the id in the body, and listed', async () => {
  const id = await at.create('customers.create', { full_name: 'Ada', email: 'ada@example.org' });
  await at.content('customers.update', { body: { id, tenant_id: at.tenantId, gender: 'f' } });
  const order = await at.create('orders.create', { client_id: id, order_id: 'A-1', amount: 12.5 });
  await at.content('orders.update', { body: { id: order, status: 'paid' } });
  expect(await at.content('customers.get', { query: { id } })).toMatchObject({ full_name: 'Ada', gender: 'f' });
  const listed = await at.content('orders.getall');
  expect(listed.at(-1)).toMatchObject({ id: order, client_id: id, order_id: 'A-1', amount: 12.5, status: 'paid' });
});

test.each([
  ['0.1', '0.1'],
  ['1234567890123.45', '1234567890123.45'],
  ['-0.01', '-0.01'],
  ['1e3', '1000'],
])('the amount %s is answered as the number %s, to the digit', async (sent, answered) => {
  const client_id = await at.create('customers.create', { full_name: 'Ada' });
  const id = await at.create('orders.create', `{"client_id":${client_id},"amount":${sent}}`);
  const { text } = await at.call('orders.get', { query: { id } });
  expect(text).toContain(`"amount": ${answered}}`);
});

test('importing a contact makes a customer of it that says where it came from, and again makes another', async () => {
  const contact_id = await at.create('contacts.create', {
    first_name: 'Ada',
    last_name: 'Sample',
    email: 'ada@example.org',
    phone: '',
    organization: 'Sample Works',
  });
  const first = await at.create('customers.import', { contact_id });
  const second = await at.create('customers.import', { contact_id });
  expect(second).not.toBe(first);
  const customer = await at.content('customers.get', { query: { id: second } });
  expect(customer).toMatchObject({
    contact_id,
    full_name: 'Ada Sample',
    email: 'ada@example.org',
    organization: 'Sample Works',
  });
  expect(customer).not.toHaveProperty('phone_number');
});

test.each([
  ['PUT with a body', { method: 'PUT', body: { isCompleted: true } }, true],
  ['GET without a body', { method: 'GET' }, true],
  ['GET with a body', { method: 'GET', body: { isCompleted: false } }, false],
  ['GET with a query', { method: 'GET', query: { isCompleted: 'false' } }, false],
])('mark-complete by %s sets the flag to what it says', async (_form, sent, isCompleted) => {
  const task_id = await at.create('tasks.create', { taskName: 'T', isCompleted: !isCompleted });
  await at.content('tasks.complete', { params: { task_id }, ...sent });
  expect(await at.content('tasks.get', { query: { id: task_id } })).toMatchObject({ isCompleted });
});

test('subtasks belong to their task, and the id in the body names the one to update', async () => {
  const task_id = await at.create('tasks.create', { taskName: 'T' });
  const other = await at.create('tasks.create', { taskName: 'U' });
  const id = await at.create('subtasks.create', { task_id, item_name: 'a', taskItem_assignee: [{ who: 1 }, 'x'] });
  await at.content('subtasks.update', { params: { task_id }, body: { id, isCompleted: true } });
  const astray = await at.call('subtasks.update', { params: { task_id: other }, body: { id, item_name: 'b' } });
  expect(astray.status).toBe(404);
  const listed = await at.content('subtasks.getall', { params: { task_id } });
  expect(listed).toMatchObject([
    { id, task_id, item_name: 'a', isCompleted: true, taskItem_assignee: [{ who: 1 }, 'x'] },
  ]);
  expect(await at.content('subtasks.getall', { params: { task_id: other } })).toEqual([]);
});

test('a comment goes to the contact or the card that its module_type says', async () => {
  const contact = await at.create('contacts.create', { first_name: 'A' });
  const body = { comment_text: 'Called', module_type: 'contact', module_id: contact };
  expect((await at.call('contacts.comment', { body })).status).toBe(200);
  const { rows } = await at.pool.query('select module_type, module_id::int, comment_text from service.comments');
  expect(rows).toEqual([body]);
});
