import { expect, test } from 'vitest';
import { LockstepError } from '../../../src/base/errors.ts';
import type { DeliveryOutcome } from '../../../src/contract/target.ts';
import type { CallerConfig } from '../../../src/mirror/targets/calls/caller.ts';
import { startHttpServer, startTcpServer } from '../../support/http-server.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';
import { context, delivery, OLD_SECRET, previousSecret, SECRET, task, webhookTargets } from './webhook-targets.ts';

const { track, openTarget, deliverTo, outcomeOf } = webhookTargets();

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
  [503, { 'retry-after': '0' }, 1_000, undefined],
  [503, { 'retry-after': 'Sun, 01 Mar 2026 11:59:00 GMT', date: 'Sun, 01 Mar 2026 12:00:00 GMT' }, 1_000, undefined],
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

test('a private address disables the target, with the remedy', async () => {
  const server = track(await startHttpServer({ status: 200 }));
  expect(await deliverTo(server.url, { allowPrivate: false })).toEqual({
    status: 'disabled',
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
