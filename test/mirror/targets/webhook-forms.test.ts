import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Delivery, Target, TaskState } from '../../../src/contract/target.ts';
import { openCaller } from '../../../src/mirror/targets/calls/caller.ts';
import { filtered } from '../../../src/mirror/targets/filtered.ts';
import { openWebhook } from '../../../src/mirror/targets/webhook/webhook.ts';
import type { SettingsOf } from '../../../src/settings/schema-target.ts';
import { readSecret } from '../../../src/settings/secrets.ts';
import { documentedTarget } from '../../support/documented-targets.ts';
import { freeBudget } from '../../support/free-budget.ts';
import { startHttpServer, type TestServer } from '../../support/http-server.ts';
import { context, deliveryOf } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER_SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX';
const TOKEN = 'canary-gateway-0c41b7';

let server: TestServer;
let target: Target | undefined;

beforeEach(async () => {
  server = await startHttpServer(({ headers }) => ({ status: 202, body: JSON.stringify(headers) }));
});

afterEach(async () => {
  await target?.close();
  await server.close();
});

async function open(given: Partial<SettingsOf<'webhook'>>, env: Record<string, string> = {}): Promise<Target> {
  return openAt(server.url, { ...documentedTarget('webhook', 'ops-events'), ...given }, env);
}

async function openAt(baseUrl: string, settings: SettingsOf<'webhook'>, env: Record<string, string>): Promise<Target> {
  const budget = freeBudget();
  const caller = openCaller({
    ...settings,
    baseUrl,
    allowPrivate: true,
    take: (signal) => budget.take({ lane: 'batch', signal }),
  });
  const secrets = { OPS_HOOK_SECRET: SECRET, OPS_EVENTS_SECRET: SECRET, OPS_GATEWAY_TOKEN: TOKEN, ...env };
  const needs = { caller, now: () => new Date() };
  target = filtered(await openWebhook(settings, { ...needs, readSecret: (ref) => readSecret(ref, secrets) }), settings);
  return target;
}

async function deliver(
  given: Partial<SettingsOf<'webhook'>>,
  task: Partial<TaskState> = {},
  more: Partial<Delivery> = {},
) {
  const opened = await open(given);
  const delivery = deliveryOf({ isCompleted: true, ...task }, more);
  // As the ledger stores it: without the members that the task does not have.
  return opened.deliver({ ...delivery, task: JSON.parse(JSON.stringify(delivery.task)) }, context());
}

function onlyRequest() {
  const [request] = server.requests;
  if (request === undefined || server.requests.length > 1) throw new Error(`${server.requests.length} requests`);
  return request;
}

test.each(['cloudevents', 'cloudevents-binary'] as const)(
  'a test in the form %s is an event about nothing',
  async (format) => {
    expect(await (await open({ format, body: '{ "id": {{ task.id }} }' })).test?.(context())).toMatchObject({
      status: 'delivered',
    });
    const { headers, body } = onlyRequest();
    const event = HTTP.toEvent({ headers, body: String(body) }) as CloudEvent<unknown>; // safe: one event is sent
    expect(event).toMatchObject({ type: 'lockstep.test', source: '/lockstep', data: {} });
    expect(event.validate()).toBe(true);
  },
);

test.each(['cloudevents', 'cloudevents-binary'] as const)(
  'in the form %s a call is a valid CloudEvent of the whole task, and signed',
  async (format) => {
    await deliver({ format, body: undefined }, { id: 'ä "12"%' });
    const { headers, body } = onlyRequest();
    const event = HTTP.toEvent({ headers, body });
    if (!(event instanceof CloudEvent)) throw new Error('one event is expected');
    expect(event.validate()).toBe(true);
    expect(event).toMatchObject({
      specversion: '1.0',
      id: 'msg_abcdefghijklmnopqrstuvwx',
      source: '/lockstep/demo',
      type: 'lockstep.task.completed',
      time: '2026-03-01T12:00:00.000Z',
      data: { account: 'demo', sequence: 2, task: { kind: 'task', title: 'Call the printer', isCompleted: true } },
    });
    const subject = format === 'cloudevents' ? event.subject : decodeURIComponent(String(event.subject));
    expect(subject).toBe('task/ä "12"%');
    const signed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    expect(new Webhook(SECRET).verify(body, signed)).toBeTruthy();
  },
);

test('a CloudEvent keeps all digits of a number that a template writes', async () => {
  await deliver({ format: 'cloudevents', body: '{ "id": {{ task.id }} }' }, { id: '12345678901234567891' });
  expect(onlyRequest().body).toMatch(/,"data":{ "id": 12345678901234567891 }}$/);
});

test.each([
  ['standard', (body: unknown) => body],
  ['cloudevents', (body: unknown) => (body as { data: unknown }).data],
  ['cloudevents-binary', (body: unknown) => body],
] as const)(
  'in the form %s a template replaces the content, whatever characters the task has',
  async (format, contentOf) => {
    await deliver({ format }, { title: '"}, {{ title }} \\ \u2028 📞', endDate: undefined });
    expect(contentOf(JSON.parse(onlyRequest().body))).toEqual({
      id: '12',
      title: '"}, {{ title }} \\ 📞',
      done: true,
      due: null,
    });
  },
);

test('sends the headers of the settings, with a secret that no answer shows', async () => {
  const outcome = await deliver({});
  expect(onlyRequest().headers).toMatchObject({ 'x-team': 'ops', authorization: `Bearer ${TOKEN}` });
  expect(outcome).toMatchObject({ status: 'delivered', answer: { text: expect.stringContaining('Bearer ***') } });
  expect(JSON.stringify(outcome)).not.toContain(TOKEN);
});

test('a short secret of a header is not shown either', async () => {
  const opened = await open({}, { OPS_GATEWAY_TOKEN: 'a1b2c3' });
  expect(JSON.stringify(await opened.deliver(deliveryOf({ isCompleted: true }), context()))).not.toContain('a1b2c3');
  expect(server.requests[0]?.headers.authorization).toBe('Bearer a1b2c3');
});

test('waits if the secret of a header cannot be read, because it may be put back', async () => {
  const opened = await open({}, { OPS_GATEWAY_TOKEN: '' });
  const outcome = await opened.deliver(deliveryOf({ isCompleted: true }), context());
  expect(outcome).toMatchObject(anOutcome('later', 'SECRET_MISSING', 'targets.ops-events.headers.Authorization'));
  expect(server.requests).toHaveLength(0);
});

test('a template that yields no JSON for one task is a dead letter of that task, and the next is sent', async () => {
  const opened = await open({ body: '{ "due": {{ task.endDate }}{% unless task.endDate %}0{% endunless %} }' });
  const bad = await opened.deliver(deliveryOf({ isCompleted: true, endDate: '2026-03-01T09:00:00' }), context());
  expect(bad).toMatchObject(
    anOutcome('refused', 'TEMPLATE_INVALID', /^targets\.ops-events\.body does not yield JSON for this task: /),
  );
  expect(await opened.deliver(deliveryOf({ isCompleted: true }), context())).toMatchObject({ status: 'delivered' });
  expect(server.requests).toHaveLength(1);
});

test.each<[Partial<SettingsOf<'webhook'>>, Partial<TaskState>, Partial<Delivery>, string]>([
  [{}, {}, {}, 'delivered'],
  [{}, {}, { event: 'changed' }, 'skipped'],
  [{ events: undefined, fields: { status: ['Won', 'Lost'] } }, { status: 'Won' }, { event: 'changed' }, 'delivered'],
  [{ events: undefined, fields: { status: ['Won'] } }, { status: 'won' }, {}, 'skipped'],
  [{ fields: { isCompleted: [true], kind: ['card'] } }, { kind: 'card' }, {}, 'delivered'],
  [{ fields: { isCompleted: [true], kind: ['card'] } }, { kind: 'task' }, {}, 'skipped'],
  [{ fields: { parentId: ['7'] } }, { parentId: undefined }, {}, 'skipped'],
])('with %j, the task %j with %j is %s', async (settings, task, more, status) => {
  const outcome = await deliver(settings, task, more);
  expect(outcome).toMatchObject(status === 'skipped' ? { status, reason: 'FILTERED' } : { status });
  expect(server.requests).toHaveLength(status === 'skipped' ? 0 : 1);
});

test('the receiver in the documentation accepts a test message, handles a change once, and refuses another secret', async () => {
  const root = path.join(import.meta.dirname, '../../..');
  const page = readFileSync(path.join(root, 'docs/targets/webhook.md'), 'utf8');
  const [, program = ''] = /^```js\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const code = program.replace(
    '.listen(8088)',
    `.listen(0, '127.0.0.1', function () { console.log(this.address().port); })`,
  );
  const env = { ...process.env, OPS_HOOK_SECRET: SECRET };
  const receiver = spawn(process.execPath, ['--input-type=module', '--eval', code], { cwd: root, env });
  const lines: string[] = [];
  receiver.stdout.setEncoding('utf8').on('data', (text: string) => lines.push(...text.split('\n').filter(Boolean)));
  try {
    await expect.poll(() => lines.length).toBe(1);
    const settings = documentedTarget('webhook', 'ops-hook');
    const opened = await openAt(`http://127.0.0.1:${lines[0]}`, settings, {});
    expect(await opened.test?.(context())).toMatchObject({ status: 'delivered' });
    const change = deliveryOf({ isCompleted: true, title: 'Call Lee' });
    for (let i = 0; i < 2; i++) expect(await opened.deliver(change, context())).toMatchObject({ status: 'delivered' });
    await expect.poll(() => lines.slice(1)).toEqual(['task.completed Call Lee']);
    await opened.close();
    await openAt(`http://127.0.0.1:${lines[0]}`, settings, { OPS_HOOK_SECRET: OTHER_SECRET });
    expect(await target?.deliver(change, context())).toMatchObject({ answer: { httpStatus: 401 } });
  } finally {
    receiver.kill();
  }
});
