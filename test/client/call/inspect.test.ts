import { expect, test } from 'vitest';
import { startHttpServer } from '../../support/http-server.ts';
import { API_KEY, openWithBudget } from './support.ts';

const lane = 'interactive' as const;

test('returns the whole call: outcome, status, headers, body and duration', async () => {
  const server = await startHttpServer({ status: 404, headers: { server: 'nginx' }, body: '<html>none</html>' });
  const { client, budget } = openWithBudget(server);
  const seen = await client.inspect('contacts.get', { lane, query: { contact_id: 1 } });
  expect(seen).toMatchObject({ outcome: { status: 'refused' }, httpStatus: 404, body: '<html>none</html>' });
  expect([seen.headers?.server, seen.durationMs > 0, budget.open()]).toEqual(['nginx', true, 0]);
});

test('makes exactly one request, under the given prefix', async () => {
  const server = await startHttpServer({ status: 404 });
  const { client } = openWithBudget(server, { prefix: 'auto' });
  await client.inspect('orders.getall', { lane, prefix: '/v1' });
  expect(server.requests.map(({ path }) => path)).toEqual(['/v1/orders/getall']);
});

test('changes credentials for the one call only', async () => {
  const server = await startHttpServer({ body: [] });
  const { client } = openWithBudget(server, { authorization: { scheme: 'Bearer', token: 'token-1' } });
  for (const credentials of ['own', 'wrong-key', 'no-key', 'no-authorization'] as const) {
    await client.inspect('orders.getall', { lane, credentials });
  }
  await client.call('orders.getall', { lane });
  const sent = server.requests.map(({ headers }) => [headers.api_key, headers.authorization]);
  expect(sent).toEqual([
    [API_KEY, 'Bearer token-1'],
    [expect.not.stringContaining(API_KEY), 'Bearer token-1'],
    [undefined, 'Bearer token-1'],
    [API_KEY, undefined],
    [API_KEY, 'Bearer token-1'],
  ]);
});

test('keeps the beginning of a body past its cap, without secrets', async () => {
  const server = await startHttpServer({ headers: { echo: API_KEY }, body: `key ${API_KEY}, ${'x'.repeat(100)}` });
  const { client } = openWithBudget(server);
  const cut = await client.inspect('orders.getall', { lane, maxBodyBytes: 10 });
  expect(cut.outcome).toMatchObject({ status: 'unknown', reason: 'too-large' });
  const whole = await client.inspect('orders.getall', { lane });
  expect([whole.body, whole.headers?.echo]).toEqual([expect.stringContaining('key ***, x'), '***']);
});

test('tries mark-complete by another method than the dialect’s', async () => {
  const server = await startHttpServer({});
  const { client } = openWithBudget(server);
  await client.inspect('tasks.complete', {
    lane,
    completeMethod: 'GET',
    path: { task_id: 7 },
    body: { isCompleted: true },
  });
  expect(server.requests[0]).toMatchObject({ method: 'GET', path: '/api/v1/tasks/7/saveCheckStatus', body: '' });
  expect(server.requests[0]?.query.get('isCompleted')).toBe('true');
});
