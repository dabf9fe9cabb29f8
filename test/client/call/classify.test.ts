import { expect, test } from 'vitest';
import { type Call, classify, isRead } from '../../../src/client/call/classify.ts';
import { type Exchanged, StoppedError } from '../../../src/client/http/exchange.ts';
import { type OperationName, operationNames } from '../../../src/contract/operations.ts';

const label = 'POST https://service.example/api/v1/orders/create';
const write: Call = { operation: 'orders.create', label };
const read: Call = { operation: 'orders.getall', label: 'GET https://service.example/api/v1/orders/getall' };

function answered(httpStatus: number, body: unknown = '', headers: Record<string, string> = {}): Exchanged {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { dispatched: true, head: { httpStatus, headers, arrivedAtMs: 0 }, body: Buffer.from(text) };
}

function failed(code: string, dispatched: boolean): Exchanged {
  return { dispatched, body: new Uint8Array(), error: Object.assign(new Error('secret words'), { code }) };
}

const statuses: [outcome: string, statuses: number[]][] = [
  ['applied', [200, 201, 202, 204]],
  [
    'refused',
    [400, 401, 402, 403, 404, 405, 409, 410, 411, 412, 413, 414, 415, 417, 421, 422, 426, 428, 431, 451, 501],
  ],
  ['limited', [429]],
  ['unknown', [203, 206, 300, 301, 302, 303, 307, 308, 406, 408, 416, 418, 423, 425, 500, 502, 503, 504, 599]],
];
for (const [outcome, list] of statuses) {
  test.each(list)(
    `a write answered with an empty ${outcome === 'applied' ? 'success' : 'answer'} %i is ${outcome}`,
    (status) => {
      expect(classify(write, answered(status)).status).toBe(outcome);
    },
  );
  test.each(list)(`a read answered with %i and an empty list is ${outcome}`, (status) => {
    expect(classify(read, answered(status, [])).status).toBe(outcome);
  });
}

test('a part of a list is a success of a list, and of nothing else', () => {
  const range = { 'content-range': 'items 0-0/2' };
  expect(classify(read, answered(206, [{ id: 1 }], range))).toMatchObject({ status: 'applied', beside: { total: 2 } });
  expect(classify(read, answered(206, [{ id: 1 }])).status).toBe('unknown');
  expect(classify(write, answered(206, '', range)).status).toBe('unknown');
});

const bodies: [what: string, body: unknown, outcome: string, content?: unknown][] = [
  ['nothing', '', 'applied', undefined],
  ['blanks', ' \r\n', 'applied', undefined],
  ['null', 'null', 'applied', null],
  ['an id', '17', 'applied', 17],
  ['our envelope', { status: 'success', content: null, message: 'OK' }, 'applied', null],
  ['an envelope with a record', { status: 'success', content: { id: 7 }, message: '' }, 'applied', { id: 7 }],
  ['data beside success', { success: true, data: { id: 7 } }, 'applied', { id: 7 }],
  ['a bare record', { id: 7, status: 'failed' }, 'applied', { id: 7, status: 'failed' }],
  ['a byte order mark', '\uFEFF{"id":7}', 'applied', { id: 7 }],
  ['a failing envelope', { status: 'error', content: null, message: 'no such customer' }, 'refused'],
  ['a status of 0 that says success', { status: 0, content: null, message: 'Successfully created' }, 'applied', null],
  ['a status of 0 that says otherwise', { status: 0, message: 'no such customer' }, 'refused'],
  ['success false', { success: false, message: 'no' }, 'refused'],
  ['an error message', { errorCode: 'E17', errorMessage: 'no' }, 'refused'],
  ['an error message that says success', { error_message: 'Success' }, 'applied', { error_message: 'Success' }],
  ['an empty error message', { errorMessage: '' }, 'applied', { errorMessage: '' }],
  ['an error message that says ok', { errcode: 0, errmsg: 'ok' }, 'applied', { errcode: 0, errmsg: 'ok' }],
  ['an HTML page', '<!DOCTYPE html><html></html>', 'unknown'],
  ['cut off JSON', '{"status":"succ', 'unknown'],
  ['plain text', 'created', 'unknown'],
];
test.each(bodies)('a 200 with %s', (_, body, outcome, content) => {
  const seen = classify(write, answered(200, body));
  expect(seen.status).toBe(outcome);
  if (seen.status === 'applied') expect(seen.content).toEqual(content);
});

const limits: [what: string, status: number, message: string, headers: Record<string, string>, outcome: string][] = [
  ['the words, in an envelope', 200, 'Too many requests. Try again later.', {}, 'limited'],
  ['other words', 200, 'Rate limit exceeded', {}, 'limited'],
  ['the words, with a 403', 403, 'API rate limit exceeded for key', {}, 'limited'],
  ['Retry-After, with a 403', 403, 'slow down', { 'retry-after': '7' }, 'limited'],
  ['the same in milliseconds', 403, 'slow down', { 'retry-after-ms': '700' }, 'limited'],
  ['the words as a value that it refuses', 200, 'invalid description: Too many requests', {}, 'refused'],
  ['the words, with a 400', 400, 'Too many requests in the description', {}, 'refused'],
];
test.each(limits)('a refusal that reports a rate limit by %s', (_, status, message, headers, outcome) => {
  for (const call of [read, write])
    expect(classify(call, answered(status, { status: 'error', message }, headers)).status).toBe(outcome);
});

test('a code in a failing envelope reports a rate limit, whatever its message says', () => {
  const limit = { code: 429, message: '请求过于频繁', data: null };
  for (const body of [limit, { status: '429', message: 'slow down' }])
    expect(classify(read, answered(200, body)).status).toBe('limited');
  expect(classify(read, answered(200, { ...limit, code: 400 })).status).toBe('refused');
});

test.each([
  [
    JSON.stringify('{"content":[]}'),
    /JSON as a text within JSON \(it is encoded twice\).*: fix the answers of the service$/,
  ],
  ['{"content":[]}\n<!-- 3 ms -->', /JSON that is truncated, or followed by other text.*: fix the answers/],
  ['<html>', /an HTML page.*: check the base URL$/],
])('the message about the body %s says what to fix', (body, message) => {
  expect(classify(read, answered(200, body))).toMatchObject({ message: expect.stringMatching(message) });
});

test('a list answered with 204 is empty, and one answered with an empty 200 is not', () => {
  expect(classify(read, answered(204))).toMatchObject({ status: 'applied', content: null });
  expect(classify(read, answered(200))).toMatchObject({
    status: 'unknown',
    reason: 'empty',
    message: expect.stringMatching(/answers nothing where a list was expected\. If .* create one there/),
  });
});

test('a refusal whose message is nested ten thousand levels deep is still a refusal', () => {
  const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
  for (const [status, body] of [
    [200, `{"status":"error","message":${deep}}`],
    [200, `{"status":"success","content":${deep},"errors":[${deep}],"ok":false}`],
    [400, `{"error":${deep}}`],
    [422, deep],
  ] as const) {
    expect(classify(write, answered(status, body))).toMatchObject({ status: 'refused', message: expect.any(String) });
  }
});

test('names an unsupported encoding, even where the body is too large to keep', () => {
  const head = answered(200, '', { 'content-encoding': 'zstd' });
  const error = new StoppedError('too-large', 'the answer has more than 8 bytes');
  expect(classify(read, { ...head, error })).toMatchObject({
    status: 'unknown',
    message: expect.stringMatching(/zstd/),
  });
});

test('a 200 that is not UTF-8 or has an unsupported encoding is unknown', () => {
  const latin1 = { ...answered(200), body: Buffer.from('{"name":"Müller"}', 'latin1') };
  expect(classify(write, latin1)).toMatchObject({
    status: 'unknown',
    reason: 'unreadable',
    message: expect.stringMatching(/bytes that are not UTF-8 where JSON was expected: fix the answers of the service$/),
  });
  const packed = answered(200, 'x', { 'content-encoding': 'zstd' });
  expect(classify(write, packed)).toMatchObject({ status: 'unknown', reason: 'unreadable' });
});

test('a refusal carries the service’s own message, and says whether JSON came', () => {
  const cases: [body: unknown, message: string | RegExp, json: boolean][] = [
    [{ status: 'error', content: null, message: 'amount is missing' }, 'amount is missing', true],
    [{ detail: 'amount is missing' }, 'amount is missing', true],
    [{ errors: [{ field: 'amount' }] }, '[{"field":"amount"}]', true],
    ['"amount is missing"', 'amount is missing', true],
    ['amount is missing', /answers HTTP 422 with “amount is missing”/, false],
    [
      '<html><h1>no</h1></html>',
      /^POST https:\/\/service.example\/api\/v1\/orders\/create answers HTTP 422 with an HTML page$/,
      false,
    ],
    ['', /answers HTTP 422 with no message/, false],
  ];
  for (const [body, message, json] of cases) {
    expect(classify(write, answered(422, body))).toMatchObject({ status: 'refused', httpStatus: 422, json });
    const outcome = classify(write, answered(422, body));
    expect('message' in outcome ? outcome.message : '').toMatch(message);
  }
});

test.each([
  [{ ok: false, reason: 'the name is odd' }, 'the name is odd'],
  [{ success: false, code: 12, fields: ['name'] }, '{"code":12,"fields":["name"]}'],
  [{ isSuccess: false, validationErrors: [{ field: 'name' }] }, '[{"field":"name"}]'],
  [{ errcode: 40013, errmsg: 'odd name' }, 'odd name'],
  [{ jsonrpc: '2.0', id: 4, error: { code: 200, message: 'odd name' } }, 'odd name'],
  [{ id: null, error: 'odd name' }, 'odd name'],
  [{ status: 'error', content: null, message: '' }, 'the service reported an error without a message'],
])('the failing envelope %j says “%s”', (body, message) => {
  expect(classify(write, answered(200, body))).toMatchObject({ status: 'refused', message });
});

test('an error of the server carries the words of its JSON, and of no page', () => {
  const said = (body: unknown) => classify(write, answered(500, body));
  expect(said({ error: 'amount overflows' })).toMatchObject({
    message: `${label}: answers HTTP 500: amount overflows`,
  });
  for (const body of ['<html><h1>oops</h1></html>', 'oops', '', {}])
    expect(said(body)).toMatchObject({ status: 'unknown', message: `${label}: answers HTTP 500` });
});

test('a 503 with Retry-After limits a read and leaves a write unknown', () => {
  const busy = answered(503, '', { 'retry-after': '7' });
  expect(classify(read, busy)).toEqual({ status: 'limited', httpStatus: 503, retryAfterMs: 7000 });
  expect(classify(write, busy).status).toBe('unknown');
  expect(classify(write, answered(429, '', { 'retry-after': '7' }))).toMatchObject({ retryAfterMs: 7000 });
});

test('a redirect is unknown and names its target without the query', () => {
  const outcome = classify(read, answered(302, '', { location: 'https://login.example/in?token=abc' }));
  expect(outcome).toMatchObject({ status: 'unknown', reason: 'redirect', httpStatus: 302 });
  expect(JSON.stringify(outcome)).toContain('https://login.example/in,');
  expect(JSON.stringify(outcome)).not.toContain('abc');
});

test('an answer that nothing has changed is not called a redirect', () => {
  const outcome = classify(write, answered(304, ''));
  expect(outcome).toMatchObject({ status: 'unknown', reason: 'server-error', message: `${label}: answers HTTP 304` });
});

test('a redirect to the same operation elsewhere names the address to set', () => {
  const sent: Call = { operation: 'orders.getall', label: 'GET http://sales.example/app/api/v1/orders/getall' };
  const to = (location: string) => classify(sent, answered(301, '', { location }));
  const moved = to('https://sales.example/app/api/v1/orders/getall?page=0');
  expect(moved).toMatchObject({
    message: expect.stringMatching(/set the account’s url to https:\/\/sales\.example\/app$/),
  });
  for (const location of ['/login', '/app/api/v1/orders/getall', ''])
    expect(to(location)).toMatchObject({ message: expect.stringMatching(/not followed: check the base URL$/) });
  expect(to('/app/v1/orders/getall')).toMatchObject({
    wantsPrefix: '/v1',
    message: expect.stringMatching(/set the account’s prefix to \/v1$/),
  });
  const all = [to('/app/api/v1/orders/getall/'), moved, to('//else.example/app/api/v1/orders/getall/')];
  expect(all.map((outcome) => 'wantsSlash' in outcome)).toEqual([true, false, false]);
});

test('a truncated body leaves a success unknown and a refusal refused', () => {
  const error = Object.assign(new Error('closed'), { code: 'UND_ERR_SOCKET' });
  expect(classify(write, { ...answered(200, '{"id":7}'), error })).toMatchObject({
    status: 'unknown',
    reason: 'broken-off',
  });
  expect(classify(write, { ...answered(422, '{"mess'), error }).status).toBe('refused');
});

const failures: [code: string, dispatched: boolean, outcome: string, reason: string, words: RegExp][] = [
  ['ECONNREFUSED', false, 'not-sent', 'unreachable', /check that a server is running there/],
  ['ENOTFOUND', false, 'not-sent', 'unreachable', /host name not found/],
  ['EAI_AGAIN', false, 'not-sent', 'unreachable', /name server/],
  ['UND_ERR_CONNECT_TIMEOUT', false, 'not-sent', 'unreachable', /connection timed out/],
  ['ECONNRESET', false, 'not-sent', 'unreachable', /closed during the handshake/],
  ['EPROTO', false, 'not-sent', 'unreachable', /the TLS handshake failed/],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', false, 'not-sent', 'unreachable', /the TLS handshake failed/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', false, 'not-sent', 'unreachable', /does not speak TLS.*http:/],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', false, 'not-sent', 'unreachable', /does not speak TLS.*http:/],
  ['CERT_HAS_EXPIRED', false, 'not-sent', 'certificate', /CERT_HAS_EXPIRED.*renew it/],
  ['CERT_NOT_YET_VALID', false, 'not-sent', 'certificate', /clock/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', false, 'not-sent', 'certificate', /another host name/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', false, 'not-sent', 'certificate', /NODE_EXTRA_CA_CERTS/],
  ['UND_ERR_CLOSED', false, 'not-sent', 'closed', /closed/],
  ['EWHATEVER', false, 'not-sent', 'unreachable', /EWHATEVER/],
  ['ECONNRESET', true, 'unknown', 'broken-off', /closed before/],
  ['UND_ERR_SOCKET', true, 'unknown', 'broken-off', /closed before/],
  ['EPIPE', true, 'unknown', 'broken-off', /EPIPE/],
];
test.each(failures)('%s, dispatched %s, is %s (%s)', (code, dispatched, status, reason, words) => {
  const outcome = classify(write, failed(code, dispatched));
  expect(outcome).toMatchObject({ status, reason });
  const message = 'message' in outcome ? outcome.message : '';
  expect(message).toMatch(words);
  expect(message.startsWith(`${label}: `)).toBe(true);
  expect(message).not.toContain('secret words');
});

const stops: [reason: 'timeout' | 'aborted' | 'deadline', dispatched: boolean, outcome: object][] = [
  ['timeout', false, { status: 'not-sent', reason: 'unreachable' }],
  ['aborted', false, { status: 'not-sent', reason: 'aborted' }],
  ['deadline', false, { status: 'not-sent', reason: 'deadline' }],
  ['timeout', true, { status: 'unknown', reason: 'timeout' }],
  ['aborted', true, { status: 'unknown', reason: 'aborted' }],
];
test.each(stops)('ended by the client for %s, dispatched %s', (reason, dispatched, outcome) => {
  const exchanged = { dispatched, body: new Uint8Array(), error: new StoppedError(reason, 'ended') };
  expect(classify(write, exchanged)).toMatchObject(outcome);
});

test('operations that return a result are reads, whatever their method', () => {
  const reads: OperationName[] = [
    'contacts.get',
    'contacts.getall',
    'contacts.search',
    'customers.get',
    'customers.getall',
    'orders.get',
    'orders.getall',
    'tasks.get',
    'tasks.getall',
    'subtasks.getall',
    'pipelines.getall',
    'pipelines.get',
  ];
  expect(operationNames.filter(isRead)).toEqual(reads);
});
