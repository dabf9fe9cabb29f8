/** HTTP calls from outside systems. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, expect, test } from 'vitest';
import { LockstepError } from '../../../src/base/errors.ts';
import { createLog, logEvents } from '../../../src/cli/log.ts';
import { screenOf } from '../../../src/cli/print/screen.ts';
import type { Target } from '../../../src/contract/target.ts';
import { openGithub } from '../../../src/mirror/targets/github/github.ts';
import { openTodoist } from '../../../src/mirror/targets/todoist/todoist.ts';
import { openWebhook } from '../../../src/mirror/targets/webhook/webhook.ts';
import { Hidden } from '../../../src/settings/hidden.ts';
import type { SettingsOf } from '../../../src/settings/schema-target.ts';
import { textStream } from '../../cli/command.ts';
import { openConsole, SETTINGS } from '../../console/open-console.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';
import { githubSettings } from '../../support/github-standin.ts';
import { HOOK_SECRET, needsOf, readSecret, secretRef } from '../../support/item-vendor.ts';
import { anError } from '../../support/matchers.ts';
import { todoistSettings } from '../../support/todoist-standin.ts';

const SIGNING = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const NOWHERE = { url: 'http://127.0.0.1:9' };

const database = await freshLedger();
const targets = { open: openTarget };
const names = ['issues', 'hook', 'todos', 'broken'];
const web = await openConsole({ database, names: () => names, targets });
afterEach(() => database.pool.query('truncate ledger.item_reports, ledger.hooks_seen'));
afterAll(async () => {
  await web.close();
  await database.close();
});

async function openTarget(name: string): Promise<Target> {
  const needs = needsOf(NOWHERE);
  if (name === 'issues') return openGithub(githubSettings(), needs);
  if (name === 'todos') return openTodoist(todoistSettings(), needs);
  if (name === 'broken') throw new LockstepError('SECRET_MISSING', 'the secret of targets.broken is not set');
  const settings: SettingsOf<'webhook'> = {
    name,
    type: 'webhook',
    url: new Hidden(NOWHERE.url),
    secret: secretRef(SIGNING),
    format: 'standard',
    headers: {},
    fields: {},
    budget: { requests: 1, perMs: 1000, burst: 1, concurrency: 1 },
    timeoutMs: 1_000,
    allowPrivate: true,
  };
  return openWebhook(settings, { ...needs, readSecret });
}

const ISSUE = JSON.stringify({
  action: 'closed',
  issue: { number: 7, state: 'closed', updated_at: new Date().toISOString() },
  repository: { name: 'shop', owner: { login: 'octo' } },
});

function githubCall(body: string | Buffer = ISSUE, secret = HOOK_SECRET, headers = {}): RequestInit {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return {
    method: 'POST',
    body,
    headers: { 'x-github-event': 'issues', 'x-hub-signature-256': signature, ...headers },
  };
}

function standardCall(task: object, { id = 'msg_1', at = new Date() } = {}): RequestInit {
  const body = JSON.stringify({ type: 'task.completed', data: { task } });
  const signed = new Webhook(SIGNING).sign(id, at, body);
  const seconds = String(Math.floor(at.getTime() / 1000));
  return {
    method: 'POST',
    body,
    headers: { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signed },
  };
}

const post = (name: string, call: RequestInit) => fetch(`${web.url}/hooks/${name}`, call);

async function reports(): Promise<readonly unknown[]> {
  const found = await database.pool.query(
    'select target, item_id, is_completed, state, has_moved, revision from ledger.item_reports order by 1, 2',
  );
  return found.rows;
}

const WAITING = { state: 'waiting', has_moved: false, revision: 1 };

test('stores a genuine call before it answers', async () => {
  const response = await post('issues', githubCall());
  expect([response.status, await response.json()]).toEqual([200, { status: 'accepted', items: 1 }]);
  expect(await reports()).toEqual([{ target: 'issues', item_id: 'octo/shop#7', is_completed: true, ...WAITING }]);
});

test('accepts a genuine call about something else, and says that it names no item', async () => {
  const response = await post('issues', githubCall(JSON.stringify({ zen: 'Keep it logically awesome.', hook_id: 1 })));
  expect([response.status, await response.json()]).toEqual([200, { status: 'accepted', items: 0 }]);
  expect(await reports()).toEqual([]);
});

test('of many large calls that arrive at the same time only some are held, and small calls are answered', async () => {
  const { hostname, port } = new URL(web.url);
  const headers = { 'content-length': 2 * 1024 * 1024 };
  const calls = Array.from({ length: 5 }, () => {
    const call = request({ hostname, port, path: '/hooks/issues', method: 'POST', headers }).on('error', () => {});
    call.write(Buffer.alloc(1024 * 1024));
    return call;
  });
  const [refused] = await Promise.race(calls.map((call) => once(call, 'response')));
  expect(refused.statusCode).toBe(503);
  const status = async (call: RequestInit) => (await fetch(`${web.url}/hooks/issues`, call)).status;
  expect(await status(githubCall())).toBe(200);
  for (const call of calls) call.destroy();
  await expect.poll(() => status(githubCall(ISSUE.padEnd(1024 * 1024))), { timeout: 20_000 }).toBe(200);
});

test('a call may be as large as GitHub sends it', async () => {
  const padded = (bytes: number) => JSON.stringify({ ...JSON.parse(ISSUE), padding: 'x'.repeat(bytes) });
  expect((await post('issues', githubCall(padded(24 * 1024 * 1024)))).status).toBe(200);
  expect(await reports()).toHaveLength(1);
});

test('a signed call of one of our receivers names the task itself', async () => {
  expect((await post('hook', standardCall({ id: 12, isCompleted: true }))).status).toBe(200);
  expect(await reports()).toEqual([{ target: 'hook', item_id: '12', is_completed: true, ...WAITING }]);
});

test('a delivery of ours that comes back reports nothing', async () => {
  await database.pool.query(
    `insert into ledger.deliveries (id, target, scope, sync, kind, task_id, sequence, event, task, seen_at, state, verdict, ended_at)
     values ('msg_ours', 'hook', 'acme', 'mirror', 'task', '12', 1, 'changed', '{}', now(), 'ended', 'delivered', now())`,
  );
  const response = await post('hook', standardCall({ id: '12', isCompleted: false }, { id: 'msg_ours' }));
  expect([response.status, await response.json()]).toMatchObject([400, { status: 'refused' }]);
  expect(await reports()).toEqual([]);
});

test('a repeated call adds nothing new, whatever came in between', async () => {
  const first = standardCall({ id: '12', isCompleted: true }, { id: 'msg_a' });
  await post('hook', first);
  await post('hook', standardCall({ id: '12', isCompleted: false }, { id: 'msg_b' }));
  expect((await post('hook', first)).status).toBe(200);
  expect(await reports()).toMatchObject([{ is_completed: false, has_moved: true, revision: 2 }]);
});

test('does not accept a call that cannot be stored', async () => {
  await database.pool.query('alter table ledger.item_reports rename to away');
  const response = await post('issues', githubCall());
  await database.pool.query('alter table ledger.away rename to item_reports');
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30']);
  expect(await reports()).toEqual([]);
  expect((await post('issues', githubCall())).status).toBe(200); // nor remembered
  expect(await reports()).toHaveLength(1);
});

test('a repeated call of GitHub adds nothing new, even with changes in the parts that GitHub does not sign', async () => {
  await post('issues', githubCall());
  for (const header of ['webhook-id', 'x-github-delivery', 'x-request-id']) {
    expect((await post('issues', githubCall(ISSUE, HOOK_SECRET, { [header]: 'another' }))).status).toBe(200);
  }
  expect(await reports()).toMatchObject([{ revision: 1 }]);
});

test('a call without a time is stored each time, because an item may come to the same state again', async () => {
  const undated = (state: string) =>
    githubCall(ISSUE.replace(/,"updated_at":"[^"]*"/, '').replace('"closed"}', `"${state}"}`));
  for (const state of ['closed', 'open', 'closed']) expect((await post('issues', undated(state))).status).toBe(200);
  expect(await reports()).toMatchObject([{ is_completed: true, revision: 3 }]);
});

test.each([
  ['of six days ago', 6, 401, 0],
  ['of five days ago', 5, 200, 1],
])('a call of GitHub about something %s, which may have been forgotten here', async (_when, days, status, kept) => {
  const updated_at = new Date(Date.now() - (days * 24 + 1) * 60 * 60_000).toISOString().replace(/\.\d+/, '');
  const issue = JSON.stringify({ ...JSON.parse(ISSUE), issue: { number: 7, state: 'closed', updated_at } });
  expect((await post('issues', githubCall(issue))).status).toBe(status);
  expect(await reports()).toHaveLength(kept);
});

test('a rejected caller cannot find out which targets exist, by the answer or its time', async () => {
  const unsigned = { method: 'POST', body: ISSUE };
  const answers = [];
  for (const name of ['issues', 'hook', 'todos', 'broken', 'missing', 'constructor']) {
    await post(name, unsigned); // the first call opens the target
    const startedAt = performance.now();
    const response = await post(name, unsigned);
    const { date: _date, ...headers } = Object.fromEntries(response.headers);
    answers.push(JSON.stringify([response.status, headers, await response.text()]));
    expect(performance.now() - startedAt).toBeGreaterThan(140);
  }
  expect(new Set(answers).size).toBe(1);
});

const OLD = new Date(Date.now() - 6 * 60_000);
const signedElsewhere = { ...standardCall({ id: '1', isCompleted: true }), body: '{"data":{}}' };

test.each<[string, number, string, RequestInit]>([
  ['that is not signed', 401, 'issues', { method: 'POST', body: ISSUE }],
  ['with another secret', 401, 'issues', githubCall(ISSUE, 'another secret')],
  ['whose body is another one', 401, 'hook', signedElsewhere],
  ['that is too old', 401, 'hook', standardCall({ id: '1', isCompleted: true }, { at: OLD })],
  ['that is not JSON', 400, 'issues', githubCall('payload=%7B%7D')],
  ['without a body', 401, 'issues', { method: 'POST' }],
  ['about no state', 400, 'hook', standardCall({ id: '1', isCompleted: 'yes' })],
  ['of 26 MiB', 413, 'issues', githubCall(Buffer.alloc(26 * 1024 * 1024, ' '))],
  ['for a target that is not there', 401, 'missing', githubCall()],
  ['for one of every object', 401, 'constructor', githubCall()],
  ['for a target that accepts no calls', 401, 'todos', githubCall()],
  ['for a target that cannot be used', 401, 'broken', githubCall()],
  ['by GET', 405, 'issues', {}],
  ['by PUT', 405, 'issues', { ...githubCall(), method: 'PUT' }],
])('a call %s is refused with %i, and nothing is stored', async (_what, status, name, call) => {
  const response = await post(name, call);
  const text = await response.text();
  expect([response.status, JSON.parse(text).status]).toEqual([status, 'refused']);
  expect(text).not.toContain('secret of targets');
  expect(await reports()).toEqual([]);
});

test.each([
  [true, [expect.stringContaining('the signature is wrong')]],
  [false, []],
])('with --verbose %s, the log of the console says why a call is refused: %j', async (isVerbose, expected) => {
  const stderr = textStream();
  const log = createLog(screenOf(stderr), { isVerbose });
  logEvents(log);
  const logged = await openConsole({ database, names: () => names, targets, log });
  const call = githubCall(ISSUE, 'another secret of enough bytes');
  expect((await fetch(`${logged.url}/hooks/issues`, call)).status).toBe(401);
  await logged.close();
  const lines = stderr.text().split('\n');
  expect(lines.filter((line) => line.includes('issues'))).toEqual(expected);
});

test('accepts a genuine call about an item that no ledger could hold, and stores nothing', async () => {
  expect((await post('hook', standardCall({ id: 'a\0b', isCompleted: true }))).status).toBe(200);
  expect((await post('hook', standardCall({ id: 'x'.repeat(501), isCompleted: true }, { id: 'msg_2' }))).status).toBe(
    200,
  );
  expect(await reports()).toEqual([]);
});

test('has a health check', async () => {
  const health = await fetch(`${web.url}/health`);
  expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
  expect((await fetch(`${web.url}/nothing`)).status).toBe(404);
});

test('reports a taken port with the setting to change', async () => {
  const port = Number(new URL(web.url).port);
  const starting = openConsole({ database, text: SETTINGS.replace('127.0.0.1:0', `127.0.0.1:${port}`) });
  await expect(starting).rejects.toMatchObject(anError('CONSOLE_PORT_IN_USE', 'console.listen', 2));
});
