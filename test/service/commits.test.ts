import { afterAll, expect, test } from 'vitest';
import type { FaultKind } from '../../src/service/testbed/behaviour.ts';
import { startedService } from './started-service.ts';

const at = await startedService();
afterAll(() => at.close());

/** Records of a table without exactly one create in the log, and creates in the log without a record. */
async function disagreements(): Promise<unknown[]> {
  const kinds = ['contact', 'customer', 'order', 'task', 'subtask', 'comment'];
  const found = [];
  for (const kind of kinds) {
    const { rows } = await at.pool.query(
      `select r.id as record, c.record_id as commit from service.${kind}s r
       full join (select * from service.commits where kind = $1 and operation ~ '(create|import|comment)$') c
         on c.tenant_id = r.tenant_id and c.record_id = r.id
       where r.id is null or c.record_id is null`,
      [kind],
    );
    found.push(...rows);
  }
  return found;
}

test('every write is in the commit log once, with what the caller called the record', async () => {
  const contact = await at.create('contacts.create', { email: 'a@example.org' });
  const customer = await at.create('customers.import', { contact_id: contact });
  const order = await at.create('orders.create', { client_id: customer, order_id: 'A-1' });
  await at.content('orders.update', { body: { id: order, status: 'paid' } });
  const task = await at.create('tasks.create', { taskName: 'T' });
  await at.content('tasks.complete', { params: { task_id: task }, body: { isCompleted: true } });
  const { rows } = await at.pool.query(
    'select operation, kind, record_id::int, natural_key from service.commits order by seq',
  );
  expect(rows.map((row) => [row.operation, row.kind, row.record_id, row.natural_key])).toEqual([
    ['contacts.create', 'contact', contact, 'a@example.org'],
    ['customers.import', 'customer', customer, String(contact)],
    ['orders.create', 'order', order, 'A-1'],
    ['orders.update', 'order', order, null],
    ['tasks.create', 'task', task, 'T'],
    ['tasks.complete', 'task', task, null],
  ]);
});

test('a refused write leaves nothing in the commit log', async () => {
  const count = async () => (await at.pool.query('select count(*)::int as n from service.commits')).rows[0].n;
  const before = await count();
  await at.call('orders.create', { body: { client_id: 999_999 } });
  await at.call('orders.update', { body: { id: 999_999, status: 'x' } });
  await at.call('customers.import', { body: { contact_id: 999_999 } });
  await at.call('pipelines.moveCard', { body: { card_id: 1, column_id: 1 } });
  expect(await count()).toBe(before);
});

test('under concurrent writes and every fault, the log and the records agree: nothing lost, nothing twice', async () => {
  const kinds: FaultKind[] = ['reset-before', 'reset-after', '5xx-before', '5xx-after', 'truncate', 'late-commit'];
  const other = await at.another({ faults: { rate: 0.3, kinds, lateMs: 20 } });
  const client_id = await at.create('customers.create', { full_name: 'Busy' });
  const task_id = await at.create('tasks.create', { taskName: 'Busy' });
  const contact_id = await at.create('contacts.create', { first_name: 'Busy' });
  const calls = Array.from({ length: 300 }, (_, n) =>
    [
      () => other.call('orders.create', { body: { client_id, order_id: `B-${n}` } }),
      () => other.call('subtasks.create', { body: { task_id, item_name: `${n}` } }),
      () => other.call('customers.import', { body: { contact_id } }),
      () =>
        other.call('contacts.comment', {
          body: { module_type: 'contact', module_id: contact_id, comment_text: `${n}` },
        }),
    ]
      [n % 4]?.()
      .catch(() => undefined),
  );
  await Promise.all(calls);
  await other.close();
  expect(await disagreements()).toEqual([]);
  const { rows } = await at.pool.query(
    `select count(*)::int as n from service.commits group by kind, natural_key having count(*) > 1 and kind = 'order' and natural_key like 'B-%'`,
  );
  expect(rows).toEqual([]);
});
