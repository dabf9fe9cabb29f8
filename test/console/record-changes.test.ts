/** A change of a record is sent only if the record is still as the person saw it. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createPipeline } from '../../src/service/administration.ts';
import { openOrdersHarness } from '../support/harness/orders.ts';
import { apiOf, pageAt, postForm } from './requests.ts';

const harness = await openOrdersHarness({ hasFront: true });
const web = await harness.workspace.serveConsole();
const call = apiOf(web);
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(1);
});
afterAll(() => harness.close());

/** Sends a form, and returns the address of the next page, or the page itself. */
async function post(at: string, fields: Readonly<Record<string, string>>, from?: string): Promise<string> {
  const answer = await postForm(web, at, fields, from);
  return answer.headers.get('location') ?? answer.text();
}

/** The fields of the first form of a page that is sent to `action`. */
async function formOn(page: string, action: string): Promise<Record<string, string>> {
  const [, form = ''] = (await pageAt(web, page)).split(`action="${action}"`);
  const inputs = form.slice(0, form.indexOf('</form>')).matchAll(/name="([\w.]+)" value="([^"]*)"/g);
  return Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, value]));
}

test('a record that is changed in two tabs keeps the first change, and the second form says that it is old', async () => {
  const change = '/records/test/call/customers.update';
  const open = () => formOn('/records/test/customers/1', change);
  const [one, other] = [await open(), await open()];
  const first = { ...one, organization: 'Lee Ltd' };
  await post(change, first);
  const refused = await post(change, { ...other, phone_number: '+49 30 1' }, '/records/test/customers/1');
  expect(refused).toContain('has changed since it was read');
  expect(refused).toContain('href="/records/test/customers/1">Back to the page</a>');
  expect(await post(change, first)).toBe('/records/test/customers/1');
  await post(change, { ...(await open()), phone_number: '+49 30 1' });
  const [customer] = await harness.customers();
  expect(customer).toMatchObject({ organization: 'Lee Ltd', phone_number: '+49 30 1' });
  expect([...(await harness.commitsBy('customers.update')).values()]).toEqual([2]);
});

test('a subtask that was renamed since its page was opened keeps its name when it is completed', async () => {
  await harness.call('tasks.create', { taskName: 'Call' });
  await harness.call('subtasks.create', { task_id: 1, item_name: 'Ann' });
  const change = '/records/test/call/subtasks.update';
  const old = await formOn('/records/test/tasks/1', change);
  await harness.call('subtasks.update', { id: 1, item_name: 'Ann Lee' }, 1);
  expect(await post(change, old)).toContain('has changed since it was read');
  expect(await harness.call('subtasks.getall', undefined, 1)).toMatchObject([{ item_name: 'Ann Lee' }]);
});

test('a card that was moved since its board was opened stays in its new column', async () => {
  const { id } = await createPipeline(harness.database.pool, harness.tenantId, {
    name: 'Sales',
    columns: [{ name: 'Lead', cards: [{ title: 'Ann' }, { title: 'Bob' }] }, { name: 'Call' }, { name: 'Won' }],
  });
  const move = '/records/test/call/pipelines.moveCard';
  const old = await formOn(`/records/test/pipelines/${id}`, move); // Ann: down
  await post(move, { ...(await formOn(`/records/test/pipelines/${id}`, move)), to: '3:0' });
  expect(await post(move, old)).toContain('has changed since it was read');
  const again = (column_id: number) =>
    call('/accounts/test/calls/pipelines.moveCard', {
      body: { card_id: 1, column_id: 2, position: 0 },
      was: { pipeline_id: id, column_id },
    });
  expect((await again(1)).json.error.code).toBe('RECORD_CHANGED');
  expect((await again(3)).json).toMatchObject({ status: 'applied' });
  expect([...(await harness.commitsBy('pipelines.moveCard')).values()]).toEqual([1, 1]);
});

test('an update through the API is sent only if the record is as it was read', async () => {
  const update = (was: object, operation = 'customers.update') =>
    call(`/accounts/test/calls/${operation}`, { body: { id: 1, full_name: 'Ann', organization: 'Lee Ltd' }, was });
  const [was] = await harness.customers();
  expect((await update({ ...was, full_name: 'Other' })).json.error.code).toBe('RECORD_CHANGED');
  expect((await update({ ...was })).json).toMatchObject({ status: 'applied' });
  expect((await update({ ...was })).json.error.code).toBe('RECORD_CHANGED');
  harness.front.set(async ({ method }, pass) => (method === 'GET' ? { status: 404, body: '{}' } : pass()));
  expect((await update({ ...was })).json.error.code).toBe('RECORD_UNREAD');
  harness.front.set();
  expect((await update({ ...was }, 'customers.create')).json.error).toMatchObject({ code: 'FIELD_WRONG' });
  expect([...(await harness.commitsBy('customers.update')).values()]).toEqual([1]);
});
