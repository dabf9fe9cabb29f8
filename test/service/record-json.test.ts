/** The JSON text that is stored with each record agrees with the other columns, which SQL may have written as well. */
import { afterAll, expect, test } from 'vitest';
import { makePool } from '../../src/storage/pool.ts';
import { freshDatabase } from '../support/database.ts';
import { type StartedService, serviceOver, startedService } from './started-service.ts';

const TABLES = ['contacts', 'customers', 'orders', 'tasks', 'subtasks'];

const at = await startedService();
const contact_id = await at.create('contacts.create', { first_name: 'Zoë', phone: null });
await at.create('contacts.create', {});
const client_id = await at.create('customers.import', { contact_id });
await at.create('customers.create', { full_name: 'No contact' });
await at.create('orders.create', { client_id, order_id: 'A-1', amount: 12.5 });
const task_id = await at.create('tasks.create', { taskName: 'T', description: '<b>"x"</b>\n' });
await at.create('subtasks.create', { task_id, item_name: 'a', taskItem_assignee: [{ who: 1 }] });
afterAll(() => at.close());

async function everything({ content }: StartedService): Promise<unknown[]> {
  return [
    await content('contacts.getall'),
    await content('customers.getall'),
    await content('orders.getall'),
    await content('tasks.getall'),
    await content('subtasks.getall', { params: { task_id } }),
  ];
}

test('records of a database without stored JSON are the same after its upgrade', async () => {
  const before = await everything(at);
  expect(before).toMatchObject([[{}, {}], [{ contact_id }, { contact_id: null }], [{}], [{}], [{ task_id }]]);
  for (const table of TABLES) await at.pool.query(`alter table service.${table} drop column json`);
  await at.pool.query(
    "drop function service.record_json; delete from public.lockstep_migrations where name = '003-json'",
  );
  expect(await everything(await at.another({}))).toEqual(before);
});

test('a record that SQL changed is shown as changed', async () => {
  const { rows } = await at.pool.query(
    `update service.orders set fields = fields || '{"status": "paid"}', updated_at = '2030-01-02T03:04:05.6Z'
     returning client_id::int, created_at`,
  );
  const [{ client_id, created_at }] = rows;
  const [order] = await at.content('orders.getall');
  expect(order).toMatchObject({ client_id, status: 'paid', updated_at: '2030-01-02T03:04:05.6+00:00' });
  expect(new Date(order.created_at)).toEqual(created_at);
});

test('times are in UTC in a database with another time zone', async () => {
  const database = await freshDatabase();
  const pool = makePool({ ...database.connection, options: '-c TimeZone=Asia/Kolkata' });
  const east = await serviceOver(pool);
  await east.content('tasks.create', { body: { taskName: 'T' } });
  await pool.query(`update service.tasks set created_at = '2030-01-02T03:04:05+05:30'`);
  const [task] = await east.content('tasks.getall');
  expect(task.created_at).toBe('2030-01-01T21:34:05+00:00');
  await east.close();
  await pool.end();
  await database.close();
});
