import { expect, onTestFinished, test } from 'vitest';
import {
  openClient as openTypedClient,
  type TypedClient,
  type TypedClientConfig,
} from '../../src/client/typed-client.ts';
import { operationNames } from '../../src/contract/operations.ts';
import { type Answer, type Reply, startHttpServer, type TestServer } from '../support/http-server.ts';
import { anError } from '../support/matchers.ts';

async function open(answer: Answer | Reply): Promise<{ client: TypedClient; server: TestServer }> {
  const server = await startHttpServer(answer);
  const client = openTypedClient({ baseUrl: server.url, apiKey: 'a-key', requestsPerSecond: 1_000, concurrency: 2 });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  return { client, server };
}

test('has a method for each operation of the contract', async () => {
  const { client } = await open({});
  const { close: _, ...kinds } = client;
  const methods = Object.entries(kinds).flatMap(([kind, names]) => Object.keys(names).map((name) => `${kind}.${name}`));
  expect(methods.sort()).toEqual([...operationNames].sort());
});

test.each([
  [{ requestsPerSecond: Number.NaN }, 'requestsPerSecond: Invalid input: expected number, received NaN'],
  [{ requestsPerSecond: 0 }, 'requestsPerSecond: Too small: expected number to be >0'],
  [{ requestsPerSecond: -1, concurrency: 0 }, 'concurrency: Too small: expected number to be >=1'],
  [{ timeoutMs: 0 }, 'timeoutMs: Too small: expected number to be >=1'],
  [{ dialect: { pageParam: 'a b' } }, 'dialect.pageParam: expected the name of a query parameter'],
  [{ baseUrl: undefined }, 'baseUrl: Invalid input: expected string, received undefined'],
  [{ requestPerSecond: 2 }, 'its options: Unrecognized key: "requestPerSecond"'],
])('refuses options that it cannot use: %j', (odd, says) => {
  const config = { baseUrl: 'http://127.0.0.1:9', apiKey: 'a-key', requestsPerSecond: 5, ...odd };
  expect(() => openTypedClient(config as TypedClientConfig)).toThrow(
    expect.objectContaining(anError('CLIENT_OPTIONS_INVALID', says, 2)),
  );
});

test('refuses a call whose timeout cannot be a timer, and does not send it', async () => {
  const { client, server } = await open({ body: {} });
  const call = client.tasks.create({ body: { taskName: 'Ring' }, timeoutMs: Number.POSITIVE_INFINITY });
  const says = 'tasks.create cannot use its options: timeoutMs: Invalid input: expected number, received Infinity';
  await expect(call).rejects.toMatchObject(anError('CLIENT_OPTIONS_INVALID', says));
  expect(server.requests).toEqual([]);
});

test('refuses a call with an input that no operation has, and does not send it', async () => {
  const { client, server } = await open({ body: {} });
  const misspelt: object = { qurey: { search_term: 'ann' } };
  const call = client.contacts.search(misspelt as { query: { search_term: string } });
  const says = 'contacts.search cannot use its options: Unrecognized key: "qurey"';
  await expect(call).rejects.toMatchObject(anError('CLIENT_OPTIONS_INVALID', says));
  expect(server.requests).toEqual([]);
});

test('puts the input of a call where the contract wants it', async () => {
  const { client, server } = await open({ body: {} });
  await client.subtasks.update({ path: { task_id: 7 }, body: { id: 8, isCompleted: true } });
  await client.contacts.getall({ query: { page: 2, rows_per_page: 50 } });
  expect(server.requests.map(({ method, path, query, body }) => [method, path, `${query}`, body])).toEqual([
    ['PUT', '/api/v1/tasks/7/updateSubTask', '', '{"id":8,"isCompleted":true}'],
    ['GET', '/api/v1/contacts/getall', 'page=2&rows_per_page=50', ''],
  ]);
});

test('returns the records of a list and the record of a get, without any wrapping', async () => {
  const bodies: Readonly<Record<string, unknown>> = {
    '/api/v1/orders/getall': { status: 'success', content: { orders: [{ id: 1, amount: 5 }] } },
    '/api/v1/orders/get': { data: { order: { id: 1, amount: 5 } } },
  };
  const { client } = await open(({ path }) => ({ body: bodies[path] }));
  expect(await client.orders.getall()).toMatchObject({ status: 'applied', content: [{ id: 1, amount: 5 }] });
  expect(await client.orders.get({ query: { id: 1 } })).toMatchObject({ content: { id: 1, amount: 5 } });
});

test('an answer without a list is not an empty list', async () => {
  const { client } = await open({ body: { status: 'success', content: { note: 'later' } } });
  expect(await client.customers.getall()).toMatchObject({ status: 'unknown', reason: 'no-list' });
});

test('a refusal is an outcome', async () => {
  const { client } = await open({ status: 422, body: { message: 'no such pipeline' } });
  const outcome = await client.pipelines.get({ query: { pipeline_id: 1 } });
  expect(outcome).toMatchObject({ status: 'refused', httpStatus: 422, message: 'no such pipeline' });
});
