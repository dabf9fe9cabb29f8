import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SeededTenant, seedWorkspace } from '../../src/service/testbed/seed.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { type StartedService, startedService } from './started-service.ts';

let at: StartedService;
let other: FreshDatabase;
let first: SeededTenant;

beforeAll(async () => {
  [at, other] = await Promise.all([startedService(), freshDatabase()]);
  const { tenants } = await seedWorkspace(at.pool);
  if (tenants[0] !== undefined) first = tenants[0];
});
afterAll(async () => {
  await Promise.all([at.close(), other.close()]);
});

// biome-ignore lint/suspicious/noExplicitAny: records as they came
const contacts = async (): Promise<any[]> => {
  const pages = [0, 1].map((page) =>
    at.content('contacts.getall', { key: first.key, query: { page, rows_per_page: 1_000 } }),
  );
  return (await Promise.all(pages)).flat();
};

test('the sample workspace has two tenants, whose keys work and whose counts are as said, and a second call adds nothing', async () => {
  const { tenants } = await seedWorkspace(at.pool);
  expect(tenants.map(({ status, key, counts }) => [status, key, counts.contacts])).toEqual([
    ['present', undefined, 2_000],
    ['present', undefined, 200],
  ]);
  expect(first.counts).toMatchObject({ contacts: 2_000, tasks: 100, pipelines: 1, cards: 40 });
  expect(await at.content('customers.getall', { key: first.key })).toHaveLength(first.counts.customers);
  expect(await at.content('orders.getall', { key: first.key })).toHaveLength(first.counts.orders);
  expect(await contacts()).toHaveLength(2_000);
});

test('its contacts are as untidy as real ones', async () => {
  const all = await contacts();
  const emails = all.map((contact) => contact.email).filter((email) => email !== undefined && email !== '');
  const phones = all.map((contact) => contact.phone);
  const share = (count: number): number => count / all.length;
  expect(share(all.length - emails.length)).toBeGreaterThan(0.04);
  expect(share(emails.length - new Set(emails).size)).toBeGreaterThan(0.03);
  expect(share(phones.filter((phone) => phone === null || phone === '' || phone === undefined).length)).toBeGreaterThan(
    0.1,
  );
  expect(new Set(phones.map((phone) => String(phone).replace(/\d/g, '9'))).size).toBeGreaterThan(20);
  expect(all.filter((contact) => /[^\p{Script=Latin}\p{P}\s]/u.test(contact.last_name)).length).toBeGreaterThan(300);
  expect(emails.every((email: string) => /[@.]example(\.(com|net|org))?\s*$/i.test(email))).toBe(true);
});

test('some customers are contacts already, and a few of them are ambiguous', async () => {
  const emails = new Set((await contacts()).map((contact) => String(contact.email).trim().toLowerCase()));
  const customers = await at.content('customers.getall', { key: first.key });
  const known = customers
    .map((one: { email?: string }) => one.email)
    .filter((email?: string) => email !== undefined && emails.has(email));
  expect(known.length).toBeGreaterThan(100);
  expect(known.length - new Set(known).size).toBeGreaterThan(2);
});

test('the same seed gives the same workspace, another seed another one', async () => {
  const fields = async (db: FreshDatabase['pool'], name: string) => {
    const tables = ['contacts', 'customers', 'orders', 'tasks', 'subtasks'];
    const hashes = tables.map(
      (table) =>
        `(select md5(string_agg(fields::text, ',' order by r.id)) from service.${table} r where r.tenant_id = t.id) as ${table}`,
    );
    return (await db.query(`select ${hashes.join(', ')} from service.tenants t where name = $1`, [name])).rows[0];
  };
  await seedWorkspace(other.pool, { tenants: [{ name: 'same', key: 'the-same-key-of-both' }] });
  await seedWorkspace(other.pool, { tenants: [{ name: 'different' }], seed: 2 });
  expect(await fields(other.pool, 'same')).toEqual(await fields(at.pool, first.name));
  expect(await fields(other.pool, 'different')).not.toEqual(await fields(at.pool, first.name));
});
