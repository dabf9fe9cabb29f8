import { afterEach, describe, expect, test } from 'vitest';
import { openChannel } from '../../../src/operator/alerts/channels/open-channel.ts';
import type { AlertMessage } from '../../../src/operator/alerts/message.ts';
import type { SecretRef } from '../../../src/settings/fields.ts';
import { readSecret } from '../../../src/settings/secrets.ts';
import { settingsOf } from '../../settings/problems-in.ts';
import { type Reply, startHttpServer } from '../../support/http-server.ts';
import { MAIL_USER, startMailServer } from '../../support/mail-server.ts';
import { anOutcome } from '../../support/matchers.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';

const MESSAGE: AlertMessage = {
  state: 'opened',
  event: 'run-failed',
  title: 'nightly: run failed',
  text: 'Run run-1 of nightly: failed (key refused). A <b> & c.',
  cause: 'KEY_REFUSED',
  since: '2026-11-21T02:00:05.000Z',
  command: 'lockstep runs show run-1 --config ops.yaml',
  page: 'https://ops.example/runs/run-1',
  sync: 'nightly',
  run: 'run-1',
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
const keep = <T extends { close(): Promise<void> }>(server: T): T => {
  closers.push(() => server.close());
  return server;
};

/** Sends one alert through a channel with these settings. */
async function send(channel: string, env: Readonly<Record<string, string>> = {}, message = MESSAGE, attempts = 1) {
  const settings = settingsOf(`accounts: { demo: {} }\nalerts: { ops: { ${channel} } }`).alerts.ops;
  if (settings === undefined) throw new Error('unreachable: it is in the text');
  const opened = await openChannel(settings, { readSecret: (ref: SecretRef) => readSecret(ref, env) });
  const alert = { id: 'msg_one', sequence: 7, seenAt: new Date('2026-11-21T02:01:00Z'), message };
  const attempt = () => opened.send(alert, { signal: new AbortController().signal });
  let outcome = await attempt();
  for (let count = 1; count < attempts; count++) outcome = await attempt();
  await opened.close();
  return outcome;
}

describe('webhook', () => {
  const SECRET = 'a-signing-secret-of-32-characters';
  const settings = (url: string) => `type: webhook, url: "${url}", secret: { env: SECRET }, allowPrivate: true`;

  test('sends the alert, signed, under its id', async () => {
    const receiver = keep(await startWebhookReceiver(SECRET));
    expect(await send(settings(receiver.hook), { SECRET })).toMatchObject({ status: 'delivered' });
    expect(receiver.problems).toEqual([]);
    const { state, ...alert } = MESSAGE;
    const timestamp = '2026-11-21T02:01:00.000Z';
    expect(receiver.events).toEqual([{ type: `alert.${state}`, timestamp, data: { sequence: 7, alert } }]);
    expect(receiver.requests[0]?.headers['webhook-id']).toBe('msg_one');
  });

  test('names the setting if the receiver does not accept it', async () => {
    const receiver = keep(await startHttpServer({ status: 401 }));
    const outcome = await send(settings(receiver.url), { SECRET });
    expect(outcome).toMatchObject({ status: 'later', reason: 'NOT_ACCEPTED' });
    expect(JSON.stringify(outcome)).toContain('check that it has the secret in alerts.ops.secret');
  });
});

describe('slack', () => {
  const SLACK = 'type: slack, url: { env: CHAT }, allowPrivate: true';
  const post = async (reply: Reply) => {
    const server = keep(await startHttpServer(reply));
    return { server, outcome: await send(SLACK, { CHAT: `${server.url}/services/T0/B0/a-token-in-the-path` }) };
  };

  test('sends the text with what Slack reads as markup escaped', async () => {
    const { server, outcome } = await post({ status: 200, body: 'ok' });
    expect(outcome).toMatchObject({ status: 'delivered' });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      text: [
        '*nightly: run failed*',
        'Run run-1 of nightly: failed (key refused). A &lt;b&gt; &amp; c.',
        'Since: 2026-11-21 02:00:05 UTC',
        'What to do: lockstep runs show run-1 --config ops.yaml',
        'In the console: https://ops.example/runs/run-1',
      ].join('\n'),
    });
  });

  test.each([
    [404, 'no_service', 'disabled', 'GONE', 'create the webhook again, and put its address where alerts.ops.url says'],
    [410, 'channel_is_archived', 'disabled', 'GONE', 'channel_is_archived'],
    [400, 'invalid_payload', 'refused', 'REJECTED', 'invalid_payload'],
    [503, '', 'later', 'SERVER_ERROR', 'HTTP 503'],
  ])('an answer of %i is reported with what to do', async (status, body, is, reason, words) => {
    const { outcome } = await post({ status, body: `${body} a-token-in-the-path` });
    expect(outcome).toMatchObject(anOutcome(is, reason, words));
    expect(JSON.stringify(outcome)).not.toContain('a-token-in-the-path');
  });

  test('waits as long as a 429 asks for', async () => {
    const { outcome } = await post({ status: 429, headers: { 'retry-after': '30' } });
    expect(outcome).toMatchObject({ status: 'later', isLimited: true, retryAfterMs: 30_000 });
  });

  test('does not call an address of this machine unless that is allowed', async () => {
    const server = keep(await startHttpServer({ status: 200 }));
    const outcome = await send('type: slack, url: { env: CHAT }', { CHAT: server.url });
    expect(outcome).toMatchObject({ status: 'disabled', reason: 'ADDRESS_REFUSED' });
    expect(server.requests).toEqual([]);
  });

  test('refuses a text that is not a URL without repeating it', async () => {
    const outcome = await send(SLACK, { CHAT: 'xoxb-a-token' });
    expect(outcome).toMatchObject({ status: 'later', reason: 'URL_INVALID' });
    expect(JSON.stringify(outcome)).not.toContain('xoxb');
  });
});

describe('email', () => {
  const email = (port: number, more = '') =>
    `type: email, host: 127.0.0.1, port: ${port}, security: none, user: ${MAIL_USER.user}, password: { env: MAIL },
     from: lockstep@example.com, to: [ops@example.com, boss@example.com], allowPrivate: true ${more}`;
  const env = { MAIL: MAIL_USER.password };

  test('sends the text to each address, under the same Message-ID in each attempt', async () => {
    const server = keep(await startMailServer());
    expect(await send(email(server.port), env)).toEqual({ status: 'delivered' });
    expect(await send(email(server.port), env)).toEqual({ status: 'delivered' });
    const [mail = '', again = ''] = server.mails;
    expect(mail).toMatch(/^Subject: nightly: run failed\r$/m);
    expect(mail).toMatch(/^To: ops@example.com, boss@example.com\r$/m);
    expect(mail).toMatch(/^Message-ID: <msg_one@example.com>\r$/m);
    expect(again).toMatch(/^Message-ID: <msg_one@example.com>\r$/m);
    expect(mail).toContain('What to do: lockstep runs show run-1 --config ops.yaml');
  });

  test('says that an alert has recovered', async () => {
    const server = keep(await startMailServer());
    await send(email(server.port), env, { ...MESSAGE, state: 'recovered', text: 'It lasted an hour.' });
    expect(server.mails[0]).toMatch(/^Subject: Recovered: nightly: run failed\r$/m);
  });

  test('a refused password names its setting, and is not repeated', async () => {
    const server = keep(await startMailServer());
    const outcome = await send(email(server.port), { MAIL: 'a-wrong-password' });
    expect(outcome).toMatchObject({ status: 'disabled', reason: 'TOKEN_REFUSED' });
    expect(JSON.stringify(outcome)).toContain('check alerts.ops.user and alerts.ops.password');
    expect(JSON.stringify(outcome)).not.toContain('a-wrong-password');
  });

  test('an unknown host and a closed port are retried, and name their settings', async () => {
    const server = await startMailServer();
    await server.close();
    const closed = await send(email(server.port), env);
    expect(closed).toMatchObject({ status: 'later', reason: 'UNREACHABLE' });
    expect(JSON.stringify(closed)).toContain('(ECONNREFUSED): check alerts.ops.host and alerts.ops.port');
    const unknown = await send(email(25).replace('127.0.0.1', 'mail.invalid'), env);
    expect(unknown).toMatchObject({ status: 'later', reason: 'UNREACHABLE' });
    expect(JSON.stringify(unknown)).toContain('mail.invalid:25: the connection failed');
  });

  test('does not send without the security that is asked for', async () => {
    const plain = keep(await startMailServer({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] }));
    const outcome = await send(email(plain.port).replace('security: none', 'security: starttls'), env);
    expect(outcome).toMatchObject({ status: 'later', reason: 'UNREACHABLE' });
    expect(JSON.stringify(outcome)).toContain('alerts.ops.security');
    const own = keep(await startMailServer());
    const untrusted = await send(email(own.port).replace('security: none', 'security: starttls'), env);
    expect(untrusted).toMatchObject(anOutcome('later', 'CERTIFICATE', /self-signed|NODE_EXTRA_CA_CERTS/));
    const notTls = await send(email(own.port).replace('security: none', 'security: tls'), env);
    expect(notTls).toMatchObject(
      anOutcome('later', 'UNREACHABLE', /TLS handshake failed.*check .*alerts.ops.security$/),
    );
    expect([...plain.mails, ...own.mails]).toEqual([]);
  });

  test('a refused address is a dead letter if no other address was accepted', async () => {
    const server = keep(
      await startMailServer({
        onRcptTo: ({ address }, _session, done) => done(address.startsWith('boss') ? new Error('no such user') : null),
      }),
    );
    const partly = await send(email(server.port), env);
    expect(partly).toEqual({ status: 'delivered', detail: 'the mail server refused 1 of 2 addresses' });
    const outcome = await send(email(server.port).replace('[ops@example.com, ', '['), env);
    expect(outcome).toMatchObject({ status: 'refused', reason: 'REJECTED' });
    expect(JSON.stringify(outcome)).toContain('no such user');
  });

  test('an address that is refused for now is tried again, and the others are not', async () => {
    const asked: string[] = [];
    const server = keep(
      await startMailServer({
        onRcptTo({ address }, _session, done) {
          asked.push(address);
          const isLater = address.startsWith('boss') && asked.filter((one) => one === address).length === 1;
          done(isLater ? Object.assign(new Error(`greylisted ${MAIL_USER.password}`), { responseCode: 450 }) : null);
        },
      }),
    );
    const refused = anOutcome('later', 'SERVER_ERROR', /1 of 2.*450 greylisted \*\*\*$/);
    expect(await send(email(server.port), env)).toMatchObject(refused);
    asked.length = 0;
    expect(await send(email(server.port), env, MESSAGE, 2)).toEqual({ status: 'delivered' });
    expect(asked).toEqual(['ops@example.com', 'boss@example.com', 'boss@example.com']);
  });

  test.each([
    [421, 'later', 'SERVER_ERROR', /421 not now$/],
    [554, 'later', 'SERVER_ERROR', /554 not now$/],
  ])('a server that answers %i to a connection has its own reason', async (responseCode, status, reason, detail) => {
    const refuse = Object.assign(new Error('not now'), { responseCode });
    const server = keep(await startMailServer({ onConnect: (_session, done) => done(refuse) }));
    expect(await send(email(server.port), env)).toMatchObject(anOutcome(status, reason, detail));
  });

  test('a server that asks for a user disables a channel without one', async () => {
    const server = keep(await startMailServer());
    const withoutUser = email(server.port).replace(/ user: .*password: \{ env: MAIL \},/, '');
    const remedy = 'check alerts.ops.user and alerts.ops.password, and alerts.ops.security';
    expect(await send(withoutUser, env)).toMatchObject(anOutcome('disabled', 'TOKEN_REFUSED', remedy));
  });

  test('a server that says nothing is retried', async () => {
    const server = keep(await startMailServer({ onConnect: () => undefined }));
    const outcome = await send(email(server.port, ', timeout: 1s'), env);
    expect(outcome).toMatchObject({ status: 'later', reason: 'TIMEOUT' });
  });

  test('does not call an address of this machine unless that is allowed', async () => {
    const server = keep(await startMailServer());
    const settings = email(server.port).replace('allowPrivate: true', 'allowPrivate: false');
    expect(await send(settings, env)).toMatchObject({ status: 'disabled', reason: 'ADDRESS_REFUSED' });
    const named = await send(settings.replace('127.0.0.1', 'localhost'), env);
    expect(named).toMatchObject({ status: 'disabled', reason: 'ADDRESS_REFUSED' });
  });
});
