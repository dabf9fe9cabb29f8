/** Processes that refresh a token at the same time, and one that is killed while the vendor replaces its refresh token. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { Finding } from '../../../src/contract/target.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { type Reply, startHttpServer, type TestServer } from '../../support/http-server.ts';
import { programFile } from '../../support/programs.ts';

let database: FreshDatabase;
let dataDir: string;
let vendor: TestServer;
/** The refresh tokens that the vendor accepts, each once. */
let accepted: string[];
let answer: (given: string) => Reply | undefined | Promise<Reply | undefined>;

beforeEach(async () => {
  database = await freshDatabase();
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-token-kill-'));
  accepted = ['refresh-0'];
  answer = replace;
  vendor = await startHttpServer(({ path: at, body }) => {
    return at === '/token' ? answer(new URLSearchParams(body).get('refresh_token') ?? '') : { status: 404 };
  });
});

afterEach(async () => {
  await vendor.close();
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
});

function replace(given: string): Reply {
  if (!accepted.includes(given)) return { status: 400, body: { error: 'invalid_grant' } };
  accepted = [`${given}+`];
  return { body: { access_token: `access by ${given}`, refresh_token: accepted[0], expires_in: 3600 } };
}

function start(refreshToken = 'refresh-0') {
  const oauthClient = {
    id: 'app',
    secret: { env: 'DESK_SECRET' },
    refreshToken: { env: 'DESK_REFRESH' },
    tokenUrl: `${vendor.url}/token`,
  };
  const desk = {
    type: 'http',
    url: vendor.url,
    allowPrivate: true,
    oauthClient,
    send: { path: '/events', body: '{}' },
  };
  const args = [JSON.stringify(database.connection), dataDir, stringify({ accounts: { demo: {} }, targets: { desk } })];
  const env = { ...process.env, DESK_SECRET: 'canary-client-secret-4c1d', DESK_REFRESH: refreshToken };
  const child = spawn(process.execPath, [programFile('test/mirror/targets/checking-program'), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return Object.assign(child, { findings: text(child.stdout) });
}

async function tokenFound(child: ReturnType<typeof start>): Promise<string> {
  const findings: readonly Finding[] = JSON.parse(await child.findings);
  const [token] = findings.filter(({ what }) => what === 'token');
  return `${token?.status}: ${token?.detail} ${token?.remedy ?? ''}`;
}

/** The process is killed while the vendor has replaced its refresh token and another process waits for the same token. */
async function killedWhileReplacing(): Promise<ReturnType<typeof start>> {
  const waiting = await new Promise<ReturnType<typeof start>>((resolve) => {
    const first = start();
    answer = async (given) => {
      answer = replace;
      replace(given);
      const second = start();
      await expect.poll(waitingForLocks, { timeout: 20_000 }).toBe(1);
      first.kill('SIGKILL');
      await once(first, 'exit');
      resolve(second);
      return undefined;
    };
  });
  return waiting;
}

async function waitingForLocks(): Promise<number> {
  const found = await database.pool.query(
    `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
  );
  return found.rows[0].n;
}

test('processes that refresh at the same time use each refresh token once', async () => {
  const children = [start(), start(), start()];
  const found = await Promise.all(children.map(tokenFound));
  expect(found).toEqual(children.map(() => expect.stringMatching(/^ok: /)));
  expect(
    vendor.requests
      .filter(({ path: at }) => at === '/token')
      .map(({ body }) => /refresh_token=([^&]+)/.exec(body)?.[1]),
  ).toEqual(['refresh-0']);
});

test('a refresh token that a killed process has used disables the target, until a person gives a new one', async () => {
  const second = await killedWhileReplacing();
  expect(await tokenFound(second)).toMatch(
    /^problem: TOKEN_REFUSED: .*invalid_grant; authorise the client again, and put/,
  );
  accepted.push('refresh-9');
  expect(await tokenFound(start('refresh-9'))).toMatch(/^ok: /);
});

test('where the vendor still accepts the former refresh token, the next process gets a token with it', async () => {
  const waiting = killedWhileReplacing();
  await expect.poll(() => accepted).toEqual(['refresh-0+']);
  accepted.push('refresh-0');
  expect(await tokenFound(await waiting)).toMatch(/^ok: /);
});
