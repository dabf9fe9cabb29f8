import { afterAll, describe, expect, test, vi } from 'vitest';
import { createPipeline, deleteRecord } from '../../src/service/administration.ts';
import { createKey, createTenant, ensureTenant, listKeys, listTenants, revokeKey } from '../../src/service/tenants.ts';
import { startedService } from './started-service.ts';

const ids = { contact: 0, customer: 0, order: 0, task: 0, subtask: 0, pipeline: 0, column: 0, card: 0 };

const at = await startedService();
const other = await createTenant(at.pool, 'stranger');
const stranger = (await createKey(at.pool, other.id)).key;
ids.contact = await at.create('contacts.create', { first_name: 'Secret', email: 'secret@example.org' });
ids.customer = await at.create('customers.create', { full_name: 'Secret' });
ids.order = await at.create('orders.create', { client_id: ids.customer, order_id: 'Secret' });
ids.task = await at.create('tasks.create', { taskName: 'Secret' });
ids.subtask = await at.create('subtasks.create', { task_id: ids.task, item_name: 'Secret' });
const columns = [{ name: 'Secret', cards: [{ title: 'Secret' }] }, { name: 'Other' }];
const pipeline = await createPipeline(at.pool, at.tenantId, { name: 'Secret', columns });
ids.pipeline = pipeline.id;
ids.column = pipeline.columns[1]?.id ?? 0;
ids.card = pipeline.columns[0]?.cards[0]?.id ?? 0;
afterAll(() => at.close());

describe('a record of another tenant', () => {
  test('cannot become the parent of an order by an update, nor the column of a card', async () => {
    const own = { key: stranger };
    await at.content('customers.create', { ...own, body: { full_name: 'Own' } });
    const [customer] = await at.content('customers.getall', own);
    await at.content('orders.create', { ...own, body: { client_id: customer.id } });
    const [order] = await at.content('orders.getall', own);
    const moved = await at.call('orders.update', { ...own, body: { id: order.id, client_id: ids.customer } });
    expect([moved.status, moved.json.message]).toEqual([400, expect.stringMatching(/^client_id: no customer/)]);
  });

  test('cannot be deleted by administration either', async () => {
    const { id } = await ensureTenant(at.pool, 'stranger');
    for (const kind of ['contact', 'customer', 'order', 'task'] as const) {
      expect(await deleteRecord(at.pool, id, kind, ids[kind])).toEqual({ status: 'absent' });
    }
  });
});

describe('a key', () => {
  test('is stored as its hash only', async () => {
    const dump = await at.pool.query("select string_agg(k::text, '') as text from service.keys k");
    expect(dump.rows[0].text).not.toContain(at.key);
    expect(dump.rows[0].text).not.toContain(Buffer.from(at.key).toString('hex'));
  });

  test('that is given is stored unchanged, any number of times, for one tenant only', async () => {
    const [first, second] = [await createTenant(at.pool, 'k1'), await createTenant(at.pool, 'k2')];
    const key = 'a-key-that-is-given-by-hand';
    for (let times = 0; times < 2; times++) expect(await createKey(at.pool, first.id, { key })).toEqual({ key });
    expect(await listKeys(at.pool, first.id)).toHaveLength(1);
    await expect(createKey(at.pool, second.id, { key })).rejects.toMatchObject({ code: 'KEY_TAKEN', exitCode: 2 });
    await expect(createKey(at.pool, 999_999)).rejects.toMatchObject({ code: 'NO_SUCH_TENANT' });
    await expect(createKey(at.pool, first.id, { key: 'a key with blanks in it' })).rejects.toMatchObject({
      code: 'KEY_UNFIT',
    });
  });

  test('that is revoked stops working within a second, and works again when it is given again', async () => {
    const { id } = await createTenant(at.pool, 'revoked');
    const { key } = await createKey(at.pool, id);
    const status = async () => (await at.call('orders.getall', { key })).status;
    expect(await status()).toBe(200);
    const [entry] = await listKeys(at.pool, id);
    expect(await revokeKey(at.pool, id, entry?.id ?? 0)).toBe(true);
    expect(await revokeKey(at.pool, id, entry?.id ?? 0)).toBe(false);
    await vi.waitFor(async () => expect(await status()).toBe(401), { timeout: 2_500 });
    await createKey(at.pool, id, { key });
    expect(await status()).toBe(200);
  });

  test('that its tenant has revoked stays revoked when another tenant gives it', async () => {
    const [owner, thief] = [await createTenant(at.pool, 'owner'), await createTenant(at.pool, 'thief')];
    const { key } = await createKey(at.pool, owner.id);
    await revokeKey(at.pool, owner.id, (await listKeys(at.pool, owner.id))[0]?.id ?? 0);
    await expect(createKey(at.pool, thief.id, { key })).rejects.toMatchObject({ code: 'KEY_TAKEN' });
    expect((await at.call('orders.getall', { key })).status).toBe(401);
  });

  test.each([
    ['missing', null, 'API_KEY: the header is missing'],
    ['unknown', 'stranger', 'API_KEY: unknown or revoked key'],
  ])('that is %s is refused with 401, before the body is looked at', async (_case, key, message) => {
    const { status, json } = await at.call('contacts.create', { key, body: '{broken' });
    expect([status, json]).toEqual([401, { status: 'error', content: null, message }]);
  });

  test('in a header other than API_KEY does not count', async () => {
    for (const name of ['api-key', 'x-api-key', 'authorization']) {
      expect((await at.call('orders.getall', { key: null, headers: { [name]: at.key } })).status).toBe(401);
    }
  });
});

test('a tenant name is taken once; ensuring it gives the same tenant, also to several at once', async () => {
  const made = await createTenant(at.pool, 'once');
  await expect(createTenant(at.pool, 'once')).rejects.toMatchObject({ code: 'TENANT_EXISTS' });
  const ensured = await Promise.all(Array.from({ length: 8 }, () => ensureTenant(at.pool, 'many at once')));
  expect(new Set(ensured.map((tenant) => tenant.id)).size).toBe(1);
  expect(await listTenants(at.pool)).toContainEqual(made);
});
