import { afterAll, describe, expect, test } from 'vitest';
import { behaviourSchema } from '../../src/service/testbed/behaviour.ts';
import { type Sent, startedService } from './started-service.ts';

const at = await startedService();
const customer = await at.create('customers.create', { full_name: 'Ada' });
const order = await at.create('orders.create', { client_id: customer, order_id: 'A-1', amount: 12.5 });
for (let n = 0; n < 130; n++)
  await at.content('tasks.create', { body: { taskName: `T${n}`, isCompleted: n % 2 === 0 } });
for (let n = 0; n < 30; n++) await at.content('contacts.create', { body: { first_name: `C${n}`, by_email: true } });
afterAll(() => at.close());

describe('a list', () => {
  test.each([
    ['bare', {}, (json: unknown) => json],
    ['content', {}, (json: { content: unknown }) => json.content],
    [{ path: 'content.data.items' }, {}, (json: { content: { data: { items: unknown } } }) => json.content.data.items],
    [{ path: 'content.data.items' }, { only_body: true }, (json: { data: { items: unknown } }) => json.data.items],
    [{ path: 'results' }, {}, (json: { results: unknown }) => json.results],
    [{ path: 'results' }, { only_body: true }, (json: unknown) => json],
  ] as const)('is at %j with %o, whether paged or streamed', async (listShape, query, find) => {
    const other = await at.another({ listShape });
    for (const name of ['contacts.getall', 'customers.getall', 'pipelines.getall'] as const) {
      const { json } = await other.call(name, { query });
      // biome-ignore lint/suspicious/noExplicitAny: each case reads another shape
      expect(Array.isArray((find as (json: any) => unknown)(json))).toBe(true);
    }
  });

  test('comes newest first, a page or whole', async () => {
    const other = await at.another({ order: 'newest' });
    for (const [name, query] of [
      ['tasks.getall', { page: 1 }],
      ['contacts.getall', {}],
      ['orders.getall', {}],
    ] as const) {
      const ids = (await other.content(name, { query })).map((one: { id: number }) => one.id);
      expect(ids).toEqual([...ids].sort((a, b) => b - a));
    }
  });

  test('in an unstable order changes positions between requests, and as a whole holds every record', async () => {
    const other = await at.another({ order: 'unstable', ignorePaging: true, ignoreRowsPerPage: true });
    const read = async () => (await other.content('contacts.getall')).map((one: { id: number }) => one.id);
    const [first, second] = [await read(), await read()];
    expect(second).not.toEqual(first);
    expect([...second].sort()).toEqual([...first].sort());
    const paged = await at.another({ order: 'unstable' });
    expect(await paged.content('contacts.getall', { query: { rows_per_page: 10 } })).toHaveLength(10);
  });

  test.each([
    [{ maxRowsPerPage: 7 }, { page: 0, rows_per_page: 20 }, 7, 'C0'],
    [{ defaultRowsPerPage: 5 }, { page: 1 }, 5, 'C5'],
    [{ ignorePaging: true }, { page: 2, rows_per_page: 10 }, 10, 'C0'],
    [{ ignoreRowsPerPage: true, defaultRowsPerPage: 8 }, { page: 1, rows_per_page: 20 }, 8, 'C8'],
    [{ ignorePaging: true, ignoreRowsPerPage: true }, { page: 5, rows_per_page: 2 }, 30, 'C0'],
  ])('under %j, asked for %o, has %i contacts from %s', async (behaviour, query, count, first) => {
    const contacts = await (await at.another(behaviour)).content('contacts.getall', { query });
    expect([contacts.length, contacts[0].first_name]).toEqual([count, first]);
  });

  test('of tasks counted from 1 has its first page at 0 and 1', async () => {
    const other = await at.another({ tasksFirstPage: 1 });
    const page = async (query: Sent['query']) =>
      (await other.content('tasks.getall', { query })).map((one: { id: number }) => one.id);
    expect(await page({ page: 0 })).toEqual(await page({ page: 1 }));
    expect(await page({})).toEqual(await page({ page: 1 }));
    expect(await page({ page: 2 })).toHaveLength(30);
  });

  test('shows only what is older than the read lag, while a get shows everything', async () => {
    const other = await at.another({ readLagMs: 3_600_000 });
    expect(await other.content('contacts.getall')).toEqual([]);
    expect(await other.content('customers.getall')).toEqual([]);
    expect(await other.content('contacts.search', { query: { search_term: 'c' } })).toEqual([]);
    expect(await other.content('customers.get', { query: { id: customer } })).toMatchObject({ full_name: 'Ada' });
  });
});

describe('a record', () => {
  test.each([
    [{ idField: 'kind_id' }, { customer_id: expect.any(Number), full_name: 'Ada' }],
    [{ idField: { customer: 'uuid' } }, { uuid: expect.any(Number), full_name: 'Ada' }],
    [{ idType: 'string' }, { id: expect.stringMatching(/^\d+$/), tenant_id: expect.stringMatching(/^\d+$/) }],
  ] as const)('under %j carries its id so', async (behaviour, expected) => {
    const shown = await (await at.another(behaviour)).content('customers.get', { query: { id: customer } });
    expect(shown).toMatchObject(expected);
    expect('id' in shown).toBe('id' in expected);
  });

  test('keeps its order_id a label where ids are called after their kind', async () => {
    const shown = await (await at.another({ idField: 'kind_id' })).content('orders.get', { query: { id: order } });
    expect(shown).toMatchObject({ id: order, order_id: 'A-1' });
  });

  test('with text ids is updated by its text id', async () => {
    const other = await at.another({ idType: 'string' });
    const body = { id: String(order), client_id: String(customer), status: 'paid' };
    expect((await other.call('orders.update', { body })).status).toBe(200);
    expect(await other.content('orders.get', { query: { id: order } })).toMatchObject(body);
  });

  test('has flags as 0 and 1, amounts as text, and no contact_id, where the behaviour says so', async () => {
    const other = await at.another({ booleans01: true, amountsAsStrings: true, customersCarryContactId: false });
    expect((await other.content('tasks.getall'))[1].isCompleted).toBe(0);
    expect((await other.content('tasks.getall'))[2].isCompleted).toBe(1);
    expect((await other.content('orders.getall'))[0].amount).toBe('12.5');
    expect((await other.content('customers.getall'))[0]).not.toHaveProperty('contact_id');
  });
});

test.each([
  ['nothing', (text: string) => text === ''],
  ['envelope', (text: string) => text === '{"status":"success","content":null,"message":"OK"}'],
  ['id', (text: string) => Number.isInteger(JSON.parse(text).content.id)],
  ['record', (text: string) => JSON.parse(text).content.full_name === 'New'],
] as const)('creates and updates answer %s', async (createAnswers, isRight) => {
  const other = await at.another({ createAnswers });
  const created = await other.call('customers.create', { body: { full_name: 'New' } });
  const updated = await other.call('customers.update', { body: { id: customer, full_name: 'New' } });
  expect([created.status, updated.status]).toEqual([200, 200]);
  expect([isRight(created.text), isRight(updated.text)]).toEqual([true, true]);
});

test.each([
  ['status', 404, /^\{"status":"error"/],
  ['envelope200', 200, /^\{"status":"error"/],
  ['html', 404, /^<!doctype html>.*404 Not Found/],
  ['empty', 404, /^$/],
] as const)('errors look like %s', async (errors, status, body) => {
  const other = await at.another({ errors });
  for (const path of ['/api/v1/customers/get?id=999999', '/api/v1/nowhere']) {
    const received = await other.send(path, {});
    expect([received.status, received.text]).toEqual([status, expect.stringMatching(body)]);
  }
});

test('only the given prefixes and methods of mark-complete are answered', async () => {
  const other = await at.another({ prefixes: ['/v1'], completeMethods: ['PUT'] });
  expect((await other.call('orders.getall', { prefix: '/api/v1' })).status).toBe(404);
  expect((await other.call('orders.getall', { prefix: '/v1' })).status).toBe(200);
  const got = await other.call('tasks.complete', { prefix: '/v1', method: 'GET', params: { task_id: 1 } });
  expect([got.status, got.headers.allow]).toEqual([405, 'PUT']);
});

describe('an import', () => {
  const contact = async (): Promise<number> => {
    const { rows } = await at.pool.query(
      "insert into service.contacts (tenant_id, fields, folded) values ($1, $2, '{}') returning id",
      [at.tenantId, { first_name: 'New', email: 'new@example.org' }],
    );
    return Number(rows[0].id);
  };

  test.each([
    ['id', (id: number) => ({ id })],
    ['contact_ids', (id: number) => ({ contact_ids: [id] })],
  ] as const)('takes the body in the form %s and no other', async (importBody, bodyOf) => {
    const other = await at.another({ importBody });
    const id = await contact();
    expect((await other.call('customers.import', { body: bodyOf(id) })).status).toBe(200);
    expect((await other.call('customers.import', { body: { contact_id: id } })).status).toBe(400);
  });

  test('of several contacts imports all of them or none', async () => {
    const other = await at.another({ importBody: 'contact_ids' });
    const ids = [await contact(), await contact()];
    const before = (await at.content('customers.getall')).length;
    expect((await other.call('customers.import', { body: { contact_ids: [...ids, 999_999] } })).status).toBe(404);
    expect((await at.content('customers.getall')).length).toBe(before);
    expect((await other.call('customers.import', { body: { contact_ids: ids } })).status).toBe(200);
    expect((await at.content('customers.getall')).length).toBe(before + 2);
  });

  test.each([400, 404, 405] as const)('is refused with %i', async (status) => {
    const other = await at.another({ importBody: `refused-${status}` });
    expect((await other.call('customers.import', { body: { contact_id: await contact() } })).status).toBe(status);
  });

  test('of each contact, asked for eight times at once, is done once where a second one is refused', async () => {
    const other = await at.another({ importTwice: 'refuse' });
    const ids = await Promise.all(Array.from({ length: 8 }, contact));
    const bodies = ids.flatMap((contact_id) => Array.from({ length: 8 }, () => ({ contact_id })));
    const answers = await Promise.all(bodies.map((body) => other.call('customers.import', { body })));
    const done = bodies.filter((_, index) => answers[index]?.status === 200).map((body) => body.contact_id);
    expect(done.sort()).toEqual(ids.sort());
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(56);
  });
});

test('an Authorization header is required where the behaviour says so', async () => {
  const other = await at.another({ requiredAuthorization: { scheme: 'Bearer', token: 'secret' } });
  expect((await other.call('orders.getall')).status).toBe(401);
  expect((await other.call('orders.getall', { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
  expect((await other.call('orders.getall', { headers: { authorization: 'Bearer secret' } })).status).toBe(200);
});

test('a behaviour that does not exist is refused', () => {
  expect(() => behaviourSchema.parse({ listshape: 'bare' })).toThrow(/listshape/);
});
