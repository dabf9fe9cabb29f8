import type pg from 'pg';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { disableTarget, enableTargets, targetStates } from '../../../src/mirror/outbox/target-states.ts';
import { type AlertingNeeds, lookOnce, startAlerting } from '../../../src/operator/alerts/watch.ts';
import { findProblems } from '../../../src/operator/current-problems.ts';
import { readSecret } from '../../../src/settings/secrets.ts';
import { makePool } from '../../../src/storage/pool.ts';
import { WORKER } from '../../engine/ledger/fresh-ledger.ts';
import { settingsOf } from '../../settings/problems-in.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { type Reply, startHttpServer, type TestServer } from '../../support/http-server.ts';
import { MAIL_USER, type MailServer, startMailServer } from '../../support/mail-server.ts';

/** SQL: the advisory locks in this database. */
const LOCKS = `select 1 from pg_locks where locktype = 'advisory'
  and database = (select oid from pg_database where datname = current_database())`;

let database: FreshDatabase;
let chat: TestServer;
let chatAnswer: Reply;
let mail: MailServer;
let processes: { close(): Promise<void> }[] = [];
const pools: pg.Pool[] = [];
beforeEach(async () => {
  database = await freshDatabase();
  chatAnswer = { status: 200 };
  chat = await startHttpServer(() => chatAnswer);
  mail = await startMailServer();
});
afterEach(async () => {
  await Promise.all(processes.map((one) => one.close()));
  processes = [];
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
  await Promise.all([chat.close(), mail.close()]);
  await database.close();
});

function needsOf(pool: pg.Pool, password = MAIL_USER.password): AlertingNeeds {
  const settings = settingsOf(`
accounts: { acme: {} }
targets: { hook: { type: webhook, url: https://hook.example, secret: { env: S } } }
alerts:
  chat: { type: slack, url: { env: CHAT }, allowPrivate: true }
  mail: { type: email, host: 127.0.0.1, port: ${mail.port}, security: none, user: ${MAIL_USER.user}, password: { env: MAIL },
    from: lockstep@example.com, to: [ops@example.com], allowPrivate: true }
`);
  return {
    pool,
    worker: WORKER,
    channels: settings.alerts,
    findProblems: () => findProblems(pool, settings),
    readSecret: (ref) => readSecret(ref, { CHAT: `${chat.url}/token`, MAIL: password }),
    complete: (command) => `lockstep ${command}`,
    log: pino({ level: 'silent' }),
  };
}

function start(count = 1, password?: string): void {
  for (let n = 0; n < count; n++) {
    const pool = makePool({ ...database.connection, max: 4 });
    pools.push(pool);
    processes.push(startAlerting(needsOf(pool, password)));
  }
}

const disable = (target: string) =>
  disableTarget(database.pool, target, { reason: 'GONE', detail: 'it answered 410', now: undefined });
const chatTexts = () => chat.requests.map(({ body }) => JSON.parse(body).text.split('\n')[0]);
const verdicts = async () => {
  const found = await database.pool.query<{ said: string }>(
    `select target || ' ' || event || ' ' || coalesce(verdict, state) as said from ledger.deliveries order by 1`,
  );
  return found.rows.map(({ said }) => said);
};

test('several processes send each message once, and one when it has recovered', async () => {
  await disable('hook');
  start(3);
  await expect.poll(verdicts).toEqual(['alerts.chat opened delivered', 'alerts.mail opened delivered']);
  await enableTargets(database.pool, ['hook']);
  const gone = async () => (await database.pool.query('select gone_at from ledger.alerts')).rows[0]?.gone_at ?? null;
  await expect.poll(gone).not.toBeNull();
  await database.pool.query(`update ledger.alerts set gone_at = gone_at - interval '5 min'`);
  await expect.poll(async () => (await verdicts()).length).toBe(4);
  await expect.poll(chatTexts).toEqual(['*target hook: disabled*', '*Recovered: target hook: disabled*']);
  await expect.poll(() => mail.mails.length).toBe(2);
});

test('a process that starts after a crash sends what an earlier one has queued, and queues it no second time', async () => {
  await disable('hook');
  await lookOnce(needsOf(database.pool)); // queued, and then killed before it is sent
  expect(await verdicts()).toEqual(['alerts.chat opened waiting', 'alerts.mail opened waiting']);
  start();
  await expect.poll(verdicts).toEqual(['alerts.chat opened delivered', 'alerts.mail opened delivered']);
  expect([chatTexts().length, mail.mails.length]).toEqual([1, 1]);
});

test('one process at a time compares', async () => {
  await disable('hook');
  const needs = needsOf(database.pool);
  const findAfter =
    (other: Promise<void>): AlertingNeeds['findProblems'] =>
    async () => {
      await other;
      return needs.findProblems();
    };
  let letIn = () => {};
  const first = lookOnce({
    ...needs,
    findProblems: findAfter(
      new Promise((resolve) => {
        letIn = resolve;
      }),
    ),
  });
  await expect.poll(async () => (await database.pool.query(LOCKS)).rowCount).toBe(1);
  await lookOnce(needs); // returns at once
  expect(await verdicts()).toEqual([]);
  letIn();
  await first;
  expect(await verdicts()).toHaveLength(2);
});

test('a channel that refuses is disabled with its reason, the others receive theirs, and one of them reports it', async () => {
  chatAnswer = { status: 404, body: 'no_service' };
  await disable('hook');
  start();
  await expect.poll(() => mail.mails.length).toBe(2);
  expect(mail.mails.join('\n')).toContain('Subject: target alerts.chat: disabled');
  const states = await targetStates(database.pool);
  expect(states.find(({ target }) => target === 'alerts.chat')?.disabled?.detail).toContain('no_service');
  chatAnswer = { status: 200 };
  await enableTargets(database.pool, ['alerts.chat']);
  await expect.poll(verdicts).toContain('alerts.chat opened delivered');
});

test('a refused password does not keep the other channel waiting', async () => {
  await disable('hook');
  start(1, 'a-wrong-password');
  await expect.poll(chatTexts).toContain('*target hook: disabled*');
  await expect.poll(chatTexts).toContain('*target alerts.mail: disabled*');
  expect(mail.mails).toEqual([]);
});
