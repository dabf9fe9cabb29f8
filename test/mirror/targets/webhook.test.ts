import { inspect } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { LockstepError } from '../../../src/base/errors.ts';
import type { Delivery, DeliveryOutcome, HookRequest, TaskState } from '../../../src/contract/target.ts';
import { type CallerConfig, openCaller } from '../../../src/mirror/targets/calls/caller.ts';
import { signatureHeaders, signingKey } from '../../../src/mirror/targets/calls/signature.ts';
import { openWebhook } from '../../../src/mirror/targets/webhook/webhook.ts';
import { Hidden, hiddenUrl } from '../../../src/settings/hidden.ts';
import type { SettingsOf } from '../../../src/settings/schema-target.ts';
import { readSecret } from '../../../src/settings/secrets.ts';
import { freeBudget } from '../../support/free-budget.ts';
import { type Reply, startHttpServer, startTcpServer } from '../../support/http-server.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OLD_SECRET = 'an old secret, of more than 24 bytes';
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

function track<T extends { close(): Promise<void> }>(one: T): T {
  open.push(one);
  return one;
}

const task: TaskState = {
  kind: 'task',
  id: '12',
  title: 'Call Zoë 📞',
  description: '<p>today</p>',
  status: 'completed',
  isCompleted: true,
  isGone: false,
  startDate: '2026-03-01T09:00:00',
  endDate: undefined,
  parentId: undefined,
};
const delivery: Delivery = {
  id: 'msg_5f2b',
  account: 'demo',
  sequence: 3,
  event: 'completed',
  seenAt: new Date('2026-03-01T12:00:00.500Z'),
  task,
  itemId: undefined,
};

interface Opening extends Partial<SettingsOf<'webhook'>> {
  readonly env?: Record<string, string>;
  readonly take?: CallerConfig['take'];
}

async function openTarget(url: string, { env = { SECRET, OLD_SECRET }, take, ...given }: Opening = {}) {
  const settings: SettingsOf<'webhook'> = {
    name: 'hook',
    type: 'webhook',
    url: hiddenUrl(url),
    secret: { from: 'env', name: 'SECRET', where: 'targets.hook.secret' },
    format: 'standard',
    headers: {},
    fields: {},
    budget: { requests: 10, perMs: 1_000, burst: 10, concurrency: 8 },
    timeoutMs: 5_000,
    allowPrivate: true,
    ...given,
  };
  const free = freeBudget();
  const caller = openCaller({
    ...settings,
    baseUrl: url,
    take: take ?? ((signal) => free.take({ lane: 'batch', signal })),
  });
  return track(await openWebhook(settings, { caller, readSecret: (ref) => readSecret(ref, env) }));
}

const previousSecret = { from: 'env', name: 'OLD_SECRET', where: 'targets.hook.previousSecret' } as const;
const context = () => ({ signal: new AbortController().signal });

async function deliverTo(url: string, opening?: Opening): Promise<DeliveryOutcome> {
  return (await openTarget(url, opening)).deliver(delivery, context());
}

async function outcomeOf(reply: Reply): Promise<DeliveryOutcome> {
  return deliverTo(track(await startHttpServer(reply)).url);
}

test('a delivery arrives at a strict receiver, signed, with its event and the whole task', async () => {
  const receiver = track(await startWebhookReceiver(SECRET));
  expect(await deliverTo(receiver.hook)).toEqual({ status: 'delivered', answer: { httpStatus: 204 } });
  expect(receiver.problems).toEqual([]);
  const { startDate, endDate, parentId, ...always } = task;
  expect(receiver.events).toEqual([
    {
      type: 'task.completed',
      timestamp: '2026-03-01T12:00:00.500Z',
      data: { account: 'demo', sequence: 3, task: { ...always, startDate } },
    },
  ]);
});

test('attempts of one delivery have one id and the clock of each attempt', async () => {
  const receiver = track(await startWebhookReceiver(SECRET));
  const target = await openTarget(receiver.hook);
  const startedAt = Math.floor(Date.now() / 1000);
  await target.deliver(delivery, context());
  await target.deliver(delivery, context());
  expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual(['msg_5f2b', 'msg_5f2b']);
  expect(Number(receiver.requests[1]?.headers['webhook-timestamp'])).toBeGreaterThanOrEqual(startedAt);
});

test.each([
  ['task', 'created'],
  ['task', 'reopened'],
  ['task', 'gone'],
  ['subtask', 'completed'],
  ['card', 'changed'],
] as const)('the event of a %s that is %s is named so', async (kind, event) => {
  const receiver = track(await startWebhookReceiver(SECRET));
  const target = await openTarget(receiver.hook);
  await target.deliver({ ...delivery, event, task: { ...task, kind } }, context());
  expect(receiver.events).toMatchObject([{ type: `${kind}.${event}` }]);
});

test.each([
  ['the new', SECRET],
  ['the old', OLD_SECRET],
])('during a rotation a receiver that has %s secret accepts', async (_, secret) => {
  const receiver = track(await startWebhookReceiver(secret));
  expect(await deliverTo(receiver.hook, { previousSecret })).toMatchObject({ status: 'delivered' });
  expect(receiver.requests[0]?.headers['webhook-signature']).toMatch(/^v1,[\w+/]+= v1,[\w+/]+=$/);
});

test('a secret that is rotated takes effect with the next delivery', async () => {
  const receiver = track(await startWebhookReceiver(SECRET));
  const env = { SECRET: OLD_SECRET };
  const target = await openTarget(receiver.hook, { env });
  expect(await target.deliver(delivery, context())).toMatchObject({ status: 'later', reason: 'NOT_ACCEPTED' });
  env.SECRET = SECRET;
  expect(await target.deliver(delivery, context())).toMatchObject({ status: 'delivered' });
});

test.each([
  ['SECRET', 'secret', {}],
  ['OLD_SECRET', 'previousSecret', { previousSecret }],
])('a target whose %s is too short does not open, and says which setting it is', async (name, key, given) => {
  const env = { SECRET, OLD_SECRET, [name]: 'short' };
  const opening = openTarget('http://127.0.0.1:9', { env, ...given });
  await expect(opening).rejects.toMatchObject({
    code: 'TARGET_SECRET_SHORT',
    exitCode: 2,
    message: expect.stringMatching(`^The signing secret of targets.hook.${key} has 5 bytes`),
  });
});

test('a target whose secret is missing does not open', async () => {
  const opening = openTarget('http://127.0.0.1:9', { env: {} });
  await expect(opening).rejects.toMatchObject({ code: 'SECRET_MISSING', exitCode: 2 });
});

test('a secret that is lost later is no defect: the delivery waits for it', async () => {
  const env: Record<string, string> = { SECRET };
  const target = await openTarget('http://127.0.0.1:9', { env });
  delete env.SECRET;
  expect(await target.deliver(delivery, context())).toMatchObject({
    status: 'later',
    reason: 'SECRET_MISSING',
    detail: expect.stringMatching('^The secret for targets.hook.secret is missing'),
  });
});

test('an unexpected error is a defect and rejects', async () => {
  const target = await openTarget('http://127.0.0.1:9');
  const broken = { ...delivery, seenAt: new Date(Number.NaN) };
  await expect(target.deliver(broken, context())).rejects.not.toBeInstanceOf(LockstepError);
});

test.each<[number, Partial<DeliveryOutcome> & Record<string, unknown>]>([
  [200, { status: 'delivered' }],
  [202, { status: 'delivered' }],
  [299, { status: 'delivered' }],
  [301, { status: 'later', reason: 'REDIRECTED' }],
  [304, { status: 'later', reason: 'NOT_ACCEPTED' }],
  [308, { status: 'later', reason: 'REDIRECTED' }],
  [400, { status: 'later', reason: 'NOT_ACCEPTED' }],
  [401, { status: 'later', reason: 'NOT_ACCEPTED' }],
  [403, { status: 'later', reason: 'NOT_ACCEPTED' }],
  [404, { status: 'later', reason: 'NOT_ACCEPTED' }],
  [408, { status: 'later', reason: 'SERVER_ERROR' }],
  [410, { status: 'disabled', reason: 'GONE' }],
  [413, { status: 'later', reason: 'NOT_ACCEPTED' }],
  [422, { status: 'later', reason: 'NOT_ACCEPTED' }],
  [429, { status: 'later', reason: 'LIMITED', isLimited: true, retryAfterMs: 60_000 }],
  [500, { status: 'later', reason: 'SERVER_ERROR', isUnclear: true }],
  [503, { status: 'later', reason: 'SERVER_ERROR', isUnclear: true }],
  [599, { status: 'later', reason: 'SERVER_ERROR' }],
])('a receiver that answers %i: %j', async (status, expected) => {
  const outcome = await outcomeOf({ status, ...(status !== 304 && status !== 204 && { body: 'so it is' }) });
  expect(outcome).toMatchObject({ ...expected, answer: { httpStatus: status } });
  const isTold = 'isLimited' in outcome || 'retryAfterMs' in outcome;
  expect(isTold).toBe('isLimited' in expected);
});

test.each([
  [400, -3, 'the clock of this machine is 180 minutes ahead of that of the receiver: correct the one that is wrong'],
  [401, 3, 'the clock of this machine is 180 minutes behind that of the receiver: correct the one that is wrong'],
  [401, 0, 'targets.hook.secret'],
])(
  'a receiver that answers %i, with a clock that is %i hours ahead, may refuse our time',
  async (status, hours, end) => {
    const date = new Date(Date.now() + hours * 3_600_000).toUTCString();
    const outcome = await outcomeOf({ status, headers: { date } });
    expect(outcome).toMatchObject({ reason: 'NOT_ACCEPTED', detail: expect.stringMatching(new RegExp(`${end}$`)) });
  },
);

test.each([
  [429, { 'retry-after': '120' }, 120_000, true],
  [429, { 'retry-after': 'Sun, 01 Mar 2026 12:01:30 GMT', date: 'Sun, 01 Mar 2026 12:00:00 GMT' }, 90_000, true],
  [503, { 'retry-after': '30' }, 30_000, true],
  [404, { 'retry-after': '30' }, 30_000, undefined],
])('a receiver that answers %i with %j is left alone for %i ms', async (status, headers, retryAfterMs, isLimited) => {
  const outcome = await outcomeOf({ status, headers });
  expect(outcome).toMatchObject({ status: 'later', retryAfterMs, ...(isLimited && { isLimited }) });
  expect('isLimited' in outcome).toBe(isLimited === true);
});

test('a redirect is named with its remedy and not followed', async () => {
  const elsewhere = track(await startHttpServer({ status: 200 }));
  const outcome = await outcomeOf({ status: 307, headers: { location: elsewhere.url } });
  expect(outcome).toMatchObject({ reason: 'REDIRECTED', detail: expect.stringMatching('targets.hook.url') });
  expect(elsewhere.connections()).toBe(0);
});

test('a page in place of an answer is kept for the dead letter: short, on one line and without control characters', async () => {
  const body = `<!doctype html>\r\n<h1>Bad\u001b[31m Gateway</h1>\u0000${'x'.repeat(10_000)}`;
  const outcome = await outcomeOf({ status: 502, headers: { 'content-type': 'text/html' }, body });
  expect(outcome).toMatchObject({ status: 'later', reason: 'SERVER_ERROR' });
  expect(outcome.answer?.text).toMatch(/^<!doctype html> <h1>Bad \[31m Gateway<\/h1> x+…$/);
  expect(outcome.answer?.text).toHaveLength(300);
});

test.each([
  ['never ends', 'transfer-encoding: chunked\r\n\r\n1\r\nx\r\n'],
  ['is larger than is read', `content-length: 9999999\r\n\r\n${'x'.repeat(2 * 1024 * 1024)}`],
])('a 2xx is a delivery, though its body %s', async (_, rest) => {
  const server = track(await startTcpServer((socket) => void socket.write(`HTTP/1.1 200 OK\r\n${rest}`)));
  const outcome = await deliverTo(server.url, { timeoutMs: 1_000 });
  expect(outcome).toEqual({ status: 'delivered', answer: { httpStatus: 200 } });
});

test('a 410 disables, though its body breaks off', async () => {
  const server = track(
    await startTcpServer((socket) => socket.end('HTTP/1.1 410 Gone\r\ncontent-length: 9\r\n\r\nabc')),
  );
  expect(await deliverTo(server.url)).toMatchObject({ status: 'disabled', reason: 'GONE' });
});

test('a receiver that does not answer, and one that is away, get it later', async () => {
  const silent = track(await startTcpServer(() => undefined));
  expect(await deliverTo(silent.url, { timeoutMs: 1_000 })).toMatchObject({ status: 'later', reason: 'TIMEOUT' });
  await silent.close();
  expect(await deliverTo(silent.url)).toMatchObject({ status: 'later', reason: 'UNREACHABLE' });
});

test('a private address is refused for good, with the remedy', async () => {
  const server = track(await startHttpServer({ status: 200 }));
  expect(await deliverTo(server.url, { allowPrivate: false })).toEqual({
    status: 'refused',
    reason: 'ADDRESS_REFUSED',
    detail: `POST ${server.url}: not sent: the address is this machine; set allowPrivate: true for this target if it is in your own network`,
  });
  expect(server.connections()).toBe(0);
});

test('a budget without a token spends no attempt', async () => {
  const take: CallerConfig['take'] = async () => ({ status: 'wait', retryAfterMs: 700 });
  const outcome = await deliverTo('http://127.0.0.1:9', { take });
  expect(outcome).toMatchObject({ status: 'later', reason: 'BUDGET', isLimited: true, retryAfterMs: 700 });
});

test('secrets of the settings and of the URL are in no outcome, though the receiver echoes all it was sent', async () => {
  const echo = track(
    await startHttpServer(({ method, path, query, headers, body }) => ({
      status: 500,
      body: [SECRET, OLD_SECRET, method, `${path}?${query}`, decodeURIComponent(path), headers, body],
    })),
  );
  const url = `${echo.url}/services/canary%2Dpath/T0?token=canary-query`;
  const outcomes = [
    await deliverTo(url, { previousSecret }),
    await deliverTo(url, { previousSecret, allowPrivate: false }),
    await deliverTo(url.replace('http:', 'https:'), { previousSecret }),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual(['later', 'refused', 'later']);
  expect(outcomes[0]?.answer?.text).toMatch(/POST.*webhook-id/);
  for (const secret of ['canary', SECRET, OLD_SECRET]) expect(JSON.stringify(outcomes)).not.toContain(secret);
});

test('no way of looking at a target shows its secret', async () => {
  const secret = { from: 'literal', value: new Hidden(SECRET), where: 'targets.hook.secret' } as const;
  const target = await openTarget('http://127.0.0.1:9/canary-path-of-the-hook', { secret });
  const shown = inspect(target, { depth: 9, showHidden: true }) + JSON.stringify(target);
  for (const text of ['canary', SECRET, SECRET.slice(6)]) expect(shown).not.toContain(text);
});

/** A call back, signed with `key` at `at`. */
function hook(body: string, key = signingKey(SECRET, ''), at = new Date()): HookRequest {
  return { headers: signatureHeaders({ id: 'msg_9', timestamp: at, body }, [key]), body: Buffer.from(body) };
}

test.each([
  ['{"data":{"task":{"id":"12","isCompleted":true}}}', [{ itemId: '12', isCompleted: true, status: 'completed' }]],
  [
    '{"type":"x","data":{"task":{"id":7,"isCompleted":false,"a":1}}}',
    [{ itemId: '7', isCompleted: false, status: 'open' }],
  ],
  [
    '{"data":{"task":{"id":12345678901234567891,"isCompleted":true}}}',
    [{ itemId: '12345678901234567891', isCompleted: true, status: 'completed' }],
  ],
  ['{"type":"ping","data":{}}', []],
  ['{"type":"ping"}', []],
  ['[]', []],
])('a genuine call back is read: %s', async (body, items) => {
  const target = await openTarget('http://127.0.0.1:9');
  expect(await target.readHook?.(hook(body), new Date())).toEqual({ status: 'accepted', items, id: 'msg_9' });
});

test('a call back that is signed with the previous secret is genuine as well', async () => {
  const target = await openTarget('http://127.0.0.1:9', { previousSecret });
  const request = hook('{}', signingKey(OLD_SECRET, ''));
  expect(await target.readHook?.(request, new Date())).toEqual({ status: 'accepted', items: [], id: 'msg_9' });
});

test.each([
  ['no JSON', 'completed'],
  ['nothing', ''],
  ['a task without an id', '{"data":{"task":{"isCompleted":true}}}'],
  ['a task without its state', '{"data":{"task":{"id":"12"}}}'],
  ['a state in words', '{"data":{"task":{"id":"12","isCompleted":"yes"}}}'],
  ['no task but null', '{"data":{"task":null}}'],
])('a genuine call back that holds %s is refused with 400', async (_, body) => {
  const target = await openTarget('http://127.0.0.1:9');
  expect(await target.readHook?.(hook(body), new Date())).toMatchObject({ status: 'refused', httpStatus: 400 });
});

test('a call back that is not genuine is refused with 401 and not read', async () => {
  const target = await openTarget('http://127.0.0.1:9');
  const forged = hook('no JSON', signingKey(OLD_SECRET, ''));
  expect(await target.readHook?.(forged, new Date())).toMatchObject({ status: 'refused', httpStatus: 401 });
  const unsigned = { headers: {}, body: Buffer.from('{}') };
  expect(await target.readHook?.(unsigned, new Date())).toMatchObject({ status: 'refused', httpStatus: 401 });
  const old = hook('{}', undefined, new Date(Date.now() - 301_000));
  expect(await target.readHook?.(old, new Date())).toMatchObject({ status: 'refused', httpStatus: 401 });
});
