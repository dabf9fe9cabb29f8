import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Between } from '../support/harness/front-server.ts';
import { type OwnService, type OwnServices, openOwnServices } from './own-services.ts';

let at: OwnServices;
let service: OwnService;
beforeEach(async () => {
  at = await openOwnServices();
  service = await at.start();
  await at.settle({ acme: { url: service.url } });
});
afterEach(() => at.close());

async function addCustomers(count: number): Promise<void> {
  await service.database.pool.query(
    `insert into service.customers (tenant_id, fields)
     select (select id from service.tenants limit 1), jsonb_build_object('full_name', 'Customer ' || n, 'email', 'c' || n || '@example.com')
     from generate_series(1, $1) n`,
    [count],
  );
}

async function addContacts(from: number, to: number): Promise<void> {
  await service.database.pool.query(
    `insert into service.contacts (tenant_id, folded, fields)
     select (select id from service.tenants limit 1), '{}', jsonb_build_object('first_name', 'Contact', 'last_name', n::text, 'email', 'p' || n || '@example.com')
     from generate_series($1::int, $2::int) n`,
    [from, to],
  );
}

async function ordersThere(): Promise<{ readonly all: number; readonly distinct: number }> {
  const found = await service.database.pool.query(
    `select count(*)::int as all, count(distinct fields->>'order_id')::int as distinct from service.orders`,
  );
  return found.rows[0];
}

/** Makes lists of one kind show only some of their records. */
const showing =
  (path: string, some: (records: readonly Record<string, unknown>[]) => readonly unknown[]): Between =>
  async (request, pass) => {
    const reply = await pass();
    if (!request.path.endsWith(path) || typeof reply.body !== 'string') return reply;
    const answer = JSON.parse(reply.body);
    return { ...reply, body: JSON.stringify({ ...answer, content: some(answer.content) }) };
  };

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i): [string, number] => [`O-${from + i}`, ((from + i) % 3) + 1]);

describe('a list of orders that is cut off at its newest 50', () => {
  test('duplicates none of the orders in the ledger', async () => {
    await addCustomers(3);
    expect((await at.load('first.csv', numbered(1, 60))).json.counts.created).toBe(60);
    service.between(showing('/orders/getall', (orders) => orders.slice(-50)));
    const second = await at.load('second.csv', numbered(1, 65));
    expect([second.code, second.json.counts]).toMatchObject([1, { existing: 60, created: 0, review: 5 }]);
    expect(await ordersThere()).toEqual({ all: 60, distinct: 60 });
    const shown = await at.run('runs', 'show', second.json.run);
    expect(shown.json.notes.join()).toContain('the list of orders is partial');
  });

  test('duplicates none of them at a service that shows no order by its id', async () => {
    await addCustomers(3);
    expect((await at.load('first.csv', numbered(1, 60))).json.counts.created).toBe(60);
    const newest = showing('/orders/getall', (orders) => orders.slice(-50));
    service.between(async (request, pass) =>
      request.path.endsWith('/orders/get') ? { status: 404, body: 'no such page' } : newest(request, pass),
    );
    const second = await at.load('second.csv', numbered(1, 65));
    expect(second.json.counts).toMatchObject({ existing: 50, created: 0, review: 15 });
    expect(await ordersThere()).toEqual({ all: 60, distinct: 60 });
  });

  test('duplicates none of the orders that existed before Lockstep', async () => {
    await addCustomers(3);
    await service.database.pool.query(
      `insert into service.orders (tenant_id, client_id, fields)
       select (select id from service.tenants limit 1), n % 3 + 1, jsonb_build_object('order_id', 'O-' || n, 'amount', 1)
       from generate_series(1, 60) n`,
    );
    service.between(showing('/orders/getall', (orders) => orders.slice(-50)));
    const loaded = await at.load('first.csv', numbered(1, 20));
    expect(loaded.json.counts).toMatchObject({ created: 0, review: expect.any(Number) });
    expect(await ordersThere()).toEqual({ all: 60, distinct: 60 });
  });
});

test('a partial list of customers causes no second import of a contact', async () => {
  await addContacts(1, 30);
  expect((await at.run('run', 'sync-acme')).json.counts).toMatchObject({ created: 30, in: 30 });
  await addContacts(31, 40);
  service.between(showing('/customers/getall', (customers) => customers.filter(({ id }) => Number(id) > 15)));
  const night = await at.run('run', 'sync-acme');
  expect([night.code, night.json.counts]).toMatchObject([1, { created: 0, in: 40 }]);
  service.between();
  const next = await at.run('run', 'sync-acme');
  expect([next.code, next.json.counts]).toMatchObject([0, { created: 10, unchanged: 30 }]);
  const found = await service.database.pool.query('select count(*)::int as n from service.customers');
  expect(found.rows[0].n).toBe(40);
});

test('a list of contacts that ends at a limit is unproven', async () => {
  await addContacts(1, 30);
  service.between(showing('/contacts/getall', (contacts) => contacts.filter(({ id }) => Number(id) <= 25)));
  const night = await at.run('run', 'sync-acme');
  expect([night.code, night.json.scan, night.json.counts]).toMatchObject([1, 'unproven', { created: 25 }]);
  const shown = await at.run('runs', 'show', night.json.run);
  expect(shown.json.notes.join()).toContain('Contacts that it does not show are not imported');
  service.between();
  const next = await at.run('run', 'sync-acme');
  expect([next.code, next.json.scan, next.json.counts]).toMatchObject([0, 'proven', { created: 5, unchanged: 25 }]);
});

test('a few customers deleted by id are not a partial list and stop nothing', async () => {
  await addContacts(1, 30);
  await at.run('run', 'sync-acme');
  await service.database.pool.query('delete from service.customers where id in (3, 4)');
  await addContacts(31, 35);
  expect((await at.run('run', 'sync-acme')).json.counts).toMatchObject({ created: 5, in: 35 });
});

test('does not overwrite a customer that became another person, and updates the others', async () => {
  await addContacts(1, 30);
  await at.run('run', 'sync-acme');
  await service.database.pool.query(
    `update service.customers set fields = '{"full_name": "Another Person", "email": "else@example.com"}' where id = 7`,
  );
  await service.database.pool.query(
    `update service.contacts set fields = fields || '{"organization": "New Ltd"}'::jsonb`,
  );
  const night = await at.run('run', 'sync-acme');
  expect([night.code, night.json.counts]).toMatchObject([1, { updated: 29, review: 1, in: 30 }]);
  const found = await service.database.pool.query('select fields from service.customers where id = 7');
  expect(found.rows[0].fields).toMatchObject({ full_name: 'Another Person', email: 'else@example.com' });
});
