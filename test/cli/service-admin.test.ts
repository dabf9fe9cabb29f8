import { afterAll, expect, test } from 'vitest';
import { createKey, OF_ACCOUNT } from '../../src/service/tenants.ts';
import { freshDatabase } from '../support/database.ts';
import { command, databaseUrl, scratchFolders } from './command.ts';

const folder = scratchFolders();
const database = await freshDatabase();
afterAll(() => database.close());

/** Splits at blanks, so words have none; the rest of the command line is the same for all tests. */
async function service(words: string, options: readonly string[] = ['--json']) {
  const env = { DATABASE_URL: databaseUrl(database.connection) };
  return command(['service', ...words.split(' '), ...options], { cwd: await folder(), env });
}

test('adds a tenant once and lists tenants', async () => {
  const { json } = await service('tenants add acme');
  expect((await service('tenants add acme')).json.error.code).toBe('TENANT_EXISTS');
  expect((await service('tenants')).json).toEqual({ tenants: [json.tenant] });
});

test('shows a key only when it is made, and revokes it by its id', async () => {
  await service('tenants add keyed');
  const { json: made } = await service('keys add --tenant keyed');
  expect(made.key.value).toMatch(/^[\w-]{43}$/);
  const listed = await service('keys --tenant keyed');
  expect(listed.json.keys).toEqual([expect.objectContaining({ id: made.key.id, revokedAt: null })]);
  expect(listed.stdout).not.toContain(made.key.value);
  expect((await service(`keys revoke ${made.key.id} --tenant keyed`)).code).toBe(0);
  expect((await service(`keys --tenant keyed revoke ${made.key.id}`)).json.error.code).toBe('NO_SUCH_KEY');
});

test('says of a revoked key that it works again if the account of a workspace has it', async () => {
  const { json } = await service('tenants add worked');
  await createKey(database.pool, json.tenant.id, { label: `${OF_ACCOUNT}shop` });
  const [{ id }] = (await service('keys --tenant worked')).json.keys;
  const { stdout } = await service(`keys revoke ${id} --tenant worked`, []);
  expect(stdout).toMatch(/Account shop has this key: the key works again .*apiKey.*delete the file keys\/shop/s);
});

test('adds a pipeline with its columns', async () => {
  await service('tenants add piped');
  const { json } = await service('pipelines add Sales --columns lead,won,lost --tenant piped');
  expect(json.pipeline.columns.map((column: { name: string }) => column.name)).toEqual(['lead', 'won', 'lost']);
  expect((await service('pipelines --tenant piped')).json.pipelines).toEqual([
    { id: json.pipeline.id, name: 'Sales', columns: 3, cards: 0 },
  ]);
});

test('fills a tenant once; deletes its records except those that others need', async () => {
  const { json } = await service('seed --tenant filled --contacts 50');
  expect(json.tenants).toEqual([expect.objectContaining({ status: 'seeded', name: 'filled' })]);
  expect((await service('seed --tenant filled')).json.tenants[0]).toMatchObject({
    status: 'present',
    counts: { contacts: 50 },
  });
  const ids = await database.pool.query(
    `select (select min(id) from service.contacts) as contact, (select min(client_id) from service.orders) as customer`,
  );
  const { contact, customer } = ids.rows[0];
  expect((await service(`delete contact ${contact} --tenant filled`)).json.deleted).toEqual({
    kind: 'contact',
    id: contact,
  });
  const absent = await service(`delete contact ${contact} --tenant filled`);
  expect([absent.code, absent.json.error.code]).toEqual([2, 'RECORD_ABSENT']);
  const used = await service(`delete customer ${customer} --tenant filled`);
  expect([used.code, used.json.error.code]).toEqual([3, 'RECORD_IN_USE']);
});

test('an unknown tenant is reported with the names that exist', async () => {
  await service('tenants add harbour');
  const { code, json } = await service('keys --tenant habour');
  expect([code, json.error.message]).toEqual([2, expect.stringContaining('did you mean "harbour"')]);
});
