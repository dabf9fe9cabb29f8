import { expect, test } from 'vitest';
import { autoDialect, dialectSchema } from '../../../src/client/call/dialect.ts';
import { LongInteger, storedForm } from '../../../src/client/call/json.ts';
import { type Account, buildRequest, endpointOf } from '../../../src/client/call/request.ts';

const account: Account = { account: 'demo', baseUrl: 'https://service.example/team/', apiKey: 'k-secret' };
const at = { endpoint: endpointOf(account), prefix: '/api/v1' as const, dialect: autoDialect };

test('builds a request from the table: method, path, query, body', () => {
  const { request, label } = buildRequest('contacts.update', { path: { contact_id: 17 }, body: { email: 'ü@x' } }, at);
  expect(request).toMatchObject({
    method: 'PUT',
    path: '/team/api/v1/contacts/17/update',
    body: '{"email":"ü@x"}',
    headers: { API_KEY: 'k-secret', 'content-type': 'application/json', accept: 'application/json' },
  });
  expect(label).toBe('PUT https://service.example/team/api/v1/contacts/{contact_id}/update');
});

test('escapes values, and sends no content type without a body', () => {
  const search = buildRequest('contacts.search', { query: { search_term: 'a&b c+ü', only_body: true } }, at);
  expect(search.request.path).toBe('/team/api/v1/contacts/search?search_term=a%26b%20c%2B%C3%BC&only_body=true');
  expect(search.request.headers).not.toHaveProperty('content-type');
  const update = buildRequest('tasks.update', { path: { task_id: '../7?x' }, body: {} }, at);
  expect(update.request.path).toBe('/team/api/v1/tasks/..%2F7%3Fx/update');
});

test('mark-complete by GET puts its body members into the query', () => {
  const dialect = dialectSchema.parse({ completeMethod: 'GET' });
  const options = { path: { task_id: 7 }, body: { isCompleted: true } };
  const { request } = buildRequest('tasks.complete', options, { ...at, dialect });
  expect(request).toMatchObject({ method: 'GET', path: '/team/api/v1/tasks/7/saveCheckStatus?isCompleted=true' });
  expect(request.body).toBeUndefined();
  expect(buildRequest('tasks.complete', options, at).request).toMatchObject({
    method: 'PUT',
    body: '{"isCompleted":true}',
  });
});

test('an id too large for a float goes into a body as a number, digit by digit', () => {
  const long = new LongInteger('9007199254740993');
  const body = { client_id: long, items: [{ id: storedForm(long) }], note: '9007199254740993', amount: 1.5 };
  expect(buildRequest('orders.create', { body }, at).request.body).toBe(
    '{"client_id":9007199254740993,"items":[{"id":9007199254740993}],"note":"9007199254740993","amount":1.5}',
  );
});

test('names a missing path parameter', () => {
  const paths: Record<string, string>[] = [{}, { task_id: '' }];
  for (const path of paths) {
    expect(() => buildRequest('tasks.update', { path }, at)).toThrow(/tasks.update needs the path parameter task_id/);
  }
});

test('sends Authorization beside the API key when it is configured', () => {
  const authorization = { scheme: 'Bearer', token: 't-secret' };
  const endpoint = endpointOf({ ...account, authorization });
  expect(endpoint.headers).toMatchObject({ API_KEY: 'k-secret', authorization: 'Bearer t-secret' });
  expect(endpoint.headers['user-agent']).toMatch(/^lockstep\/\d+\.\d+\.\d+/);
  expect(endpoint.secrets).toEqual(['k-secret', 't-secret']);
});

const refused: [settings: Partial<Account>, why: RegExp][] = [
  [{ baseUrl: 'service.example' }, /Account demo: the base URL is not a URL/],
  [{ baseUrl: 'ftp://service.example' }, /https:\/\/ or http:\/\//],
  [{ baseUrl: 'https://ada:s3cret@service.example' }, /user name or password/],
  [{ baseUrl: 'https://service.example/?key=s3cret' }, /query/],
  [{ baseUrl: 'https://service.example/api/v1/' }, /must not end in \/api\/v1: that is the account’s prefix/],
  [{ baseUrl: 'https://service.example/v1' }, /must not end in \/v1/],
  [{ apiKey: '' }, /API key is empty/],
  [{ apiKey: 's3cret\n' }, /line break at its end/],
  [{ apiKey: 'schlüs3cret' }, /a header must not contain/],
  [{ authorization: { scheme: 'Bearer', token: 's3cret\r\nx: y' } }, /authorization contains/],
];
test.each(refused)('refuses settings %j without repeating their secret', (settings, why) => {
  const open = () => endpointOf({ ...account, ...settings });
  expect(open).toThrow(why);
  expect(open).not.toThrow(/s3cret/);
  expect(open).toThrow(expect.objectContaining({ exitCode: 2 }));
});
