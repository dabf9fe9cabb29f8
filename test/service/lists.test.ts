import { afterAll, expect, test } from 'vitest';
import { createKey, createTenant } from '../../src/service/tenants.ts';
import { startedService } from './started-service.ts';

const COUNT = 1_234;

const at = await startedService();
// Another tenant's contacts among ours: a page that counted them would be short.
const { id } = await createTenant(at.pool, 'neighbour');
await at.pool.query(
  `insert into service.contacts (tenant_id, fields, folded) select $1, '{}', '{}' from generate_series(1, 300)`,
  [id],
);
await at.pool.query(
  `insert into service.contacts (tenant_id, fields, folded)
   select $1, jsonb_build_object('first_name', 'N' || n), jsonb_build_object('first_name', 'n' || n)
   from generate_series(1, $2) n order by n`,
  [at.tenantId, COUNT],
);
await at.pool.query(
  `insert into service.customers (tenant_id, fields) select $1, jsonb_build_object('full_name', 'C' || n) from generate_series(1, 2500) n`,
  [at.tenantId],
);
afterAll(() => at.close());

// biome-ignore lint/suspicious/noExplicitAny: records as they came
const names = (records: any): string[] => records.map((one: { first_name: string }) => one.first_name);

test.each([
  [{}, 'N1', 100],
  [{ page: 0, rows_per_page: 500 }, 'N1', 500],
  [{ page: 2, rows_per_page: 500 }, 'N1001', 234],
  [{ page: 1, rows_per_page: 5_000 }, 'N1001', 234],
  [{ page: 3, rows_per_page: 500 }, undefined, 0],
])('the contacts for %o begin with %s and are %i', async (query, first, count) => {
  const listed = names(await at.content('contacts.getall', { query }));
  expect([listed[0], listed.length]).toEqual([first, count]);
});

test('all pages together are every contact once, oldest or newest first', async () => {
  const all = Array.from({ length: COUNT }, (_, index) => `N${index + 1}`);
  for (const order of ['oldest', 'newest'] as const) {
    const other = await at.another({ order });
    const pages = await Promise.all(
      [0, 1, 2, 3, 4].map((page) => other.content('contacts.getall', { query: { page, rows_per_page: 250 } })),
    );
    expect(names(pages.flat())).toEqual(order === 'oldest' ? all : all.toReversed());
  }
});

test('only_body omits the envelope, on a page, a search and a whole list', async () => {
  const query = { only_body: true };
  expect((await at.call('contacts.getall', { query })).json).toHaveLength(100);
  expect((await at.call('contacts.search', { query: { ...query, search_term: 'n77' } })).json).toHaveLength(11);
  expect((await at.call('customers.getall', { query })).json).toHaveLength(2_500);
});

test('a list without pages comes whole, in one envelope, from several batches', async () => {
  const { json } = await at.call('customers.getall');
  expect({ ...json, content: json.content.length }).toEqual({ status: 'success', content: 2_500, message: 'OK' });
  expect(new Set(json.content.map((one: { id: number }) => one.id)).size).toBe(2_500);
});

test('an empty list is an empty list', async () => {
  expect((await at.call('orders.getall')).json).toEqual({ status: 'success', content: [], message: 'OK' });
  expect((await at.call('pipelines.getall', { query: { only_body: 'true' } })).json).toEqual([]);
});

test.each([
  ['ÉLODIE', true],
  ['marchand@EXAMPLE', true],
  ['98 76', true],
  ['lodie mar', true],
  ['e\u0301lodie', true],
  ['elodie', false],
  ['100%', true],
  ['_', false],
  ['Élodie Marchand 100%', true],
  ['a.marchand 100%', false],
  ['100%\ne.marchand', false],
  ['f.marchand@example.org', false],
  ['@example.org', true],
  ['李小', true],
  ['小李', false],
  ['aa', false],
])('a search for %s finds Élodie Marchand: %s', async (search_term, finds) => {
  const seller = await createTenant(at.pool, `search ${search_term}`);
  const { key } = await createKey(at.pool, seller.id);
  const body = {
    first_name: 'Élodie',
    last_name: 'Marchand 100% 李小龙',
    email: 'e.marchand@example.org',
    phone: '+33 98 76',
  };
  await at.content('contacts.create', { key, body });
  await at.content('contacts.create', { key, body: { first_name: 'Someone', phone: null } });
  expect(await at.content('contacts.search', { key, query: { search_term } })).toHaveLength(finds ? 1 : 0);
});

test('a search finds what an update wrote, and no longer what it replaced', async () => {
  const contact_id = await at.create('contacts.create', { first_name: 'Before', last_name: 'Kept' });
  await at.content('contacts.update', { params: { contact_id }, body: { first_name: 'After' } });
  const count = async (search_term: string) => (await at.content('contacts.search', { query: { search_term } })).length;
  expect([await count('before'), await count('after kept')]).toEqual([0, 1]);
});

test('a search is planned for its own term: a plan for any term may not use the index', async () => {
  await at.content('contacts.search', { query: { search_term: 'n77' } });
  const { rows } = await at.pool.query(
    "select 1 from pg_prepared_statements where statement like '%strpos(r.searched%'",
  );
  expect(rows).toEqual([]);
});

test('contacts of a database without the search index are found after its upgrade', async () => {
  const contact_id = await at.create('contacts.create', { first_name: 'Łucja', last_name: 'Old\\\n', phone: '' });
  await at.pool.query('alter table service.contacts drop column searched');
  await at.pool.query("delete from public.lockstep_migrations where name = '002-search'");
  await at.pool.query(`update service.contacts set folded = folded || $2 where id = $1`, [
    contact_id,
    { first_name: 'łucja', last_name: 'old\\\n', email: null },
  ]);
  const upgraded = await at.another({});
  const { rows } = await at.pool.query("select 1 from pg_indexes where indexname = 'contacts_by_text'");
  expect(rows).toHaveLength(1);
  for (const search_term of ['ŁUCJA', 'cja old', 'old\\\n']) {
    const found = await upgraded.content('contacts.search', { query: { search_term } });
    expect([search_term, found.map(({ id }: { id: number }) => id)]).toEqual([search_term, [contact_id]]);
  }
});

test('tasks come in pages of 100 from page 0; without a page number the first page comes', async () => {
  await at.pool.query(
    `insert into service.tasks (tenant_id, fields) select $1, jsonb_build_object('taskName', 'T' || n) from generate_series(1, 150) n`,
    [at.tenantId],
  );
  const sizes = [];
  for (const query of [{}, { page: 0 }, { page: 1 }, { page: 2 }])
    sizes.push((await at.content('tasks.getall', { query })).length);
  expect(sizes).toEqual([100, 100, 50, 0]);
});
