import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Delivery, DeliveryOutcome, Target, TaskState } from '../../../src/contract/target.ts';
import { openCaller } from '../../../src/mirror/targets/calls/caller.ts';
import { callerAtSecret } from '../../../src/mirror/targets/calls/secret-url.ts';
import { createGathering } from '../../../src/mirror/targets/chat/gathering.ts';
import { openSlack } from '../../../src/mirror/targets/chat/slack.ts';
import { openTeams } from '../../../src/mirror/targets/chat/teams.ts';
import type { SettingsOf } from '../../../src/settings/schema-target.ts';
import { readSecret } from '../../../src/settings/secrets.ts';
import { documentedTarget } from '../../support/documented-targets.ts';
import { freeBudget } from '../../support/free-budget.ts';
import { type Reply, startHttpServer, type TestServer } from '../../support/http-server.ts';
import { context, deliveryOf } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';

type Chat = 'slack' | 'teams';
const PATH = '/services/T000/B000/canary-4f8a1c';
const NASTY = 'Ring <!channel> <@U12> @here *now* _or_ [a](https://x.example) `b` & <at>Ann</at> :bell:';

let server: TestServer;
let replies: Reply[];
let env: Record<string, string>;
let target: Target | undefined;

beforeEach(async () => {
  replies = [];
  server = await startHttpServer(() => replies.shift() ?? { status: 202, body: 'ok' });
  env = { SLACK_WEBHOOK_URL: `${server.url}${PATH}`, TEAMS_WEBHOOK_URL: `${server.url}${PATH}?sig=canary-99ab` };
});

afterEach(async () => {
  await target?.close();
  await server.close();
});

function open(chat: Chat, given: Partial<SettingsOf<Chat>> = {}, quietMs = 0): Target {
  const budget = freeBudget();
  const openAt = (baseUrl: string) =>
    openCaller({
      name: 'chat',
      baseUrl,
      allowPrivate: true,
      timeoutMs: 5_000,
      take: (signal) => budget.take({ lane: 'batch', signal }),
    });
  const settings = { digest: false, ...given };
  const caller = (ref: SettingsOf<Chat>['url']) => ({
    caller: callerAtSecret(ref, (one) => readSecret(one, env), openAt),
    quietMs,
  });
  if (chat === 'slack') {
    const slack = { ...documentedTarget('slack', 'our-channel'), ...settings, type: 'slack' as const };
    target = openSlack(slack, caller(slack.url));
  } else {
    const teams = { ...documentedTarget('teams', 'our-team'), ...settings, type: 'teams' as const };
    target = openTeams(teams, caller(teams.url));
  }
  return target;
}

function deliver(
  opened: Target,
  task: Partial<TaskState> = {},
  given: Partial<Delivery> = {},
): Promise<DeliveryOutcome> {
  return opened.deliver(deliveryOf({ isCompleted: true, ...task }, given), context());
}

const bodies = () => server.requests.map(({ body }) => JSON.parse(body));
/** The visible lines of a message. */
const linesOf: Record<Chat, (body: ReturnType<typeof bodies>[number]) => string[]> = {
  slack: ({ blocks }) => blocks.flatMap((block: { text: { text: string } }) => block.text.text.split('\n')),
  teams: ({ attachments: [{ content }] }) =>
    content.body.map((block: { inlines: [{ text: string }] }) => block.inlines[0].text),
};

/** The title on one line, without markup, in which no name mentions anyone. */
const SHOWN = NASTY.replace('<at>Ann</at>', 'Ann').replaceAll('@', '@\u200b');

test('sends to Slack blocks of plain text, and a text for notifications in which nothing is markup', async () => {
  const outcome = await deliver(open('slack'), { title: NASTY });
  expect(outcome).toMatchObject({ status: 'delivered' });
  expect(server.requests[0]).toMatchObject({ method: 'POST', path: PATH });
  const line = `Task completed in demo: ${SHOWN}`;
  const [{ text, blocks, ...others }] = bodies();
  expect(others).toEqual({});
  expect(blocks).toEqual([{ type: 'section', text: { type: 'plain_text', text: line, emoji: false } }]);
  expect(text).not.toMatch(/<|>|@\w/);
  expect(text).toContain('&lt;!channel&gt; &lt;@\u200bU12&gt; @\u200bhere');
});

test('sends to Teams an Adaptive Card of text runs, without mentions', async () => {
  await deliver(open('teams'), { title: NASTY, kind: 'card', status: 'Won' });
  expect(server.requests[0]?.query.get('sig')).toBe('canary-99ab');
  const text = `${SHOWN} → Won`;
  expect(bodies()).toEqual([
    {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text }] }],
          },
        },
      ],
    },
  ]);
});

test.each<Chat>(['slack', 'teams'])(
  'a digest of %s has all changes that are ready together in one message',
  async (chat) => {
    const opened = open(chat, { digest: true, text: '{{ title }}' });
    const outcomes = await Promise.all(['a', 'b', 'c'].map((title) => deliver(opened, { title })));
    expect(outcomes).toMatchObject(Array(3).fill({ status: 'delivered', detail: 'one message with 3 changes' }));
    expect(bodies().map(linesOf[chat])).toEqual([['3 changes:', 'a', 'b', 'c']]);
  },
);

test.each<[Chat, string]>([
  ['slack', '"é'],
  ['teams', '"é'],
  ['teams', '\\"'],
  ['teams', '😀'],
])(
  'a digest of %s of 100 long lines of %s fits into what the chat allows, and counts the rest',
  async (chat, filling) => {
    const opened = open(chat, { digest: true, text: '{{ task.title }}' }, 60_000);
    await Promise.all(Array.from({ length: 100 }, (_, i) => deliver(opened, { title: `${i} ${filling.repeat(400)}` })));
    expect(server.requests).toHaveLength(1);
    expect(Buffer.byteLength(server.requests[0]?.body ?? '')).toBeLessThan(28_000);
    const [message] = bodies();
    const lines = linesOf[chat](message);
    expect(lines.at(-1)).toBe(`and ${100 - (lines.length - 2)} more`);
    const blocks: { text: { text: string } }[] = message.blocks ?? [];
    expect(blocks.every(({ text: { text } }) => text.length <= 3000)).toBe(true);
  },
);

test.each(['slack', 'teams'] as const)('a line that is too long for %s ends with an ellipsis', async (chat) => {
  await deliver(open(chat, { text: '{{ task.title }}' }), { title: 'x'.repeat(501) });
  expect(linesOf[chat](bodies()[0])).toEqual([`${'x'.repeat(499)}…`]);
});

test('all changes of a digest share its failure, and the next digest is sent', async () => {
  replies.push({ status: 500, body: 'rollup_error' });
  const opened = open('slack', { digest: true });
  const failed = await Promise.all([deliver(opened), deliver(opened, { id: '13' })]);
  expect(failed).toMatchObject(Array(2).fill({ status: 'later', reason: 'SERVER_ERROR' }));
  expect(await deliver(opened)).toMatchObject({ status: 'delivered' });
});

test.each([true, false])(
  'a message of deliveries that another process may send by now is not sent, digest: %s',
  async (digest) => {
    const sent = open('slack', { digest }).deliver(deliveryOf(), { ...context(), mayDispatch: () => false });
    expect(await sent).toMatchObject({ status: 'later', reason: 'ABORTED' });
    expect(server.requests).toEqual([]);
  },
);

test('a shutdown ends the wait of a digest, and nothing is sent', async () => {
  const stopping = new AbortController();
  const waiting = open('slack', { digest: true }, 60_000).deliver(deliveryOf(), { signal: stopping.signal });
  stopping.abort();
  expect(await waiting).toMatchObject({ status: 'later', reason: 'ABORTED' });
  expect(server.requests).toHaveLength(0);
});

test('gathering sends when the longest time is over, though more keeps arriving', async () => {
  const sent: number[] = [];
  const { signal } = new AbortController();
  const send = async (items: readonly number[]) => sent.push(items.length);
  const gathering = createGathering({ quietMs: 60_000, longestMs: 0, most: 10, send });
  await Promise.all([gathering.add(1, signal), gathering.add(2, signal)]);
  expect(sent).toEqual([2]);
});

test.each<[Reply, object]>([
  [
    { status: 400, body: 'invalid_payload' },
    { status: 'refused', reason: 'REJECTED', answer: { text: 'invalid_payload' } },
  ],
  [
    { status: 403, body: 'action_prohibited' },
    { status: 'disabled', reason: 'GONE' },
  ],
  [
    { status: 404, body: 'no_service' },
    { status: 'disabled', detail: expect.stringContaining('targets.our-channel.url') },
  ],
  [
    { status: 410, body: 'channel_is_archived' },
    { status: 'disabled', reason: 'GONE' },
  ],
  [
    { status: 429, headers: { 'retry-after': '30' } },
    { status: 'later', isLimited: true, retryAfterMs: 30_000 },
  ],
  [
    { status: 200, body: { ok: false, error: 'no_text' } },
    { status: 'refused', detail: expect.stringContaining('no_text') },
  ],
  [
    { status: 200, body: '<!doctype html><p>Sign in</p>' },
    { status: 'later', reason: 'UNREADABLE' },
  ],
  [{ status: 403, body: '<!doctype html><p>Blocked by the proxy</p>' }, anOutcome('later', 'UNREADABLE', 'no proxy')],
  [{ status: 200, body: { ok: true } }, { status: 'delivered' }],
  [
    { status: 200, body: { ok: false, error: 'ratelimited' }, headers: { 'retry-after': '20' } },
    { status: 'later', isLimited: true, retryAfterMs: 20_000 },
  ],
  [
    { status: 200, body: { ok: false, error: 'service_unavailable' } },
    { status: 'later', reason: 'SERVER_ERROR' },
  ],
  [
    { status: 200, body: { ok: false, error: 'is_archived' } },
    { status: 'disabled', reason: 'GONE' },
  ],
  [{ status: 503 }, { status: 'later', reason: 'SERVER_ERROR' }],
  [{ status: 308 }, anOutcome('refused', 'MOVED', '308; this redirect is not')],
  [{ status: 302 }, { status: 'later', reason: 'REDIRECTED', detail: expect.not.stringContaining('repository') }],
])('the answer %j is %j', async (reply, expected) => {
  replies.push(reply);
  expect(await deliver(open('slack'))).toMatchObject(expected);
});

const ENDPOINT = 'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error';
const FLOW = "Could not execute workflow '9f' trigger 'manual' with state 'Disabled': trigger is not enabled.";

test.each<[Reply, object]>([
  [{ status: 202 }, { status: 'delivered' }],
  [{ status: 200, body: '1' }, { status: 'delivered' }],
  [
    { status: 200, body: `${ENDPOINT} 429 with ContextId tcid=1,server=DB3,cv=x..` },
    { status: 'later', isLimited: true },
  ],
  [
    { status: 200, body: `${ENDPOINT} 413 with ContextId tcid=1,server=DB3,cv=x..` },
    anOutcome('refused', 'REJECTED', 'HTTP error 413'),
  ],
  [
    { status: 200, body: `${ENDPOINT} 502 with ContextId tcid=1` },
    { status: 'later', reason: 'SERVER_ERROR' },
  ],
  [
    { status: 200, body: `${ENDPOINT} 404 with ContextId tcid=1` },
    { status: 'disabled', reason: 'GONE' },
  ],
  [
    { status: 400, body: { error: { code: 'WorkflowTriggerIsNotEnabled', message: FLOW } } },
    anOutcome('disabled', 'GONE', 'WorkflowTriggerIsNotEnabled'),
  ],
  [
    {
      status: 401,
      body: { error: { code: 'DirectApiAuthorizationRequired', message: 'The request must be authenticated' } },
    },
    { status: 'disabled', reason: 'GONE' },
  ],
  [
    { status: 429, headers: { 'retry-after': '7' } },
    { status: 'later', isLimited: true, retryAfterMs: 7_000 },
  ],
  [{ status: 413 }, { status: 'refused', reason: 'REJECTED' }],
])('Teams: the answer %j is %j', async (reply, expected) => {
  replies.push(reply);
  expect(await deliver(open('teams'))).toMatchObject(expected);
});

test('the address is a secret: no outcome shows it, and a new one is used without a restart', async () => {
  replies.push({ status: 400, body: `bad path ${PATH} or ${PATH.split('/').at(-1)}` });
  const opened = open('slack');
  expect(JSON.stringify(await deliver(opened))).not.toContain('canary-4f8a1c');
  env.SLACK_WEBHOOK_URL = `${server.url}/services/new`;
  await deliver(opened);
  expect(server.requests.map(({ path }) => path)).toEqual([PATH, '/services/new']);
});

test.each([
  ['', 'SECRET_MISSING'],
  ['canary.example.com/x', 'URL_INVALID'],
  ['ftp://canary.example.com/x', 'URL_INVALID'],
])('with the address %j a change waits, and the outcome does not repeat it', async (url, reason) => {
  env.SLACK_WEBHOOK_URL = url;
  const outcome = await deliver(open('slack'));
  expect(outcome).toMatchObject(anOutcome('later', reason, 'targets.our-channel.url'));
  expect(JSON.stringify(outcome)).not.toContain('canary.');
});

test('a template that makes nothing of a task yields its title', async () => {
  await deliver(open('slack', { text: '{% if task.isGone %}gone{% endif %}' }), { title: '', id: '7' });
  expect(linesOf.slack(bodies()[0])).toEqual(['task 7']);
});
