/**
 * Secrets stay in the processes that use them. Canary secrets go through faults, a crash and every command that writes;
 * then the test searches every byte that was left anywhere.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { afterEach, expect, test, vi } from 'vitest';
import { FAULT_KINDS } from '../../src/service/testbed/behaviour.ts';
import { seedWorkspace } from '../../src/service/testbed/seed.ts';
import { openDatabase } from '../../src/storage/open.ts';
import { everythingIn, everythingInRedis } from '../support/everything-in.ts';
import { startHttpServer } from '../support/http-server.ts';
import { processesNaming } from '../support/processes.ts';
import { LASTING, startOwnRedis } from '../support/redis-server.ts';
import { startLockstep } from './cli-process.ts';

const CONTACTS = 120;
const FAULTS = {
  seed: 7,
  rate: 0.1,
  kinds: FAULT_KINDS.filter((kind) => !kind.startsWith('hang')),
  lateMs: 100,
  onlyWrites: false,
};
const canary = (of: string) => `canary-${of}-${randomBytes(12).toString('hex')}`;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

test('leaves no secret in a database, a queue, a log, an export or a process list, after faults and a crash', async () => {
  const cwd = await mkdtemp(path.join(os.tmpdir(), 'lockstep-canary-'));
  closers.push(() => rm(cwd, { recursive: true, force: true, maxRetries: 5 }));
  const secrets = { KEY: canary('key'), TOKEN: canary('token'), HOOK: canary('hook-secret') };
  await mkdir(path.join(cwd, 'redis'));
  const redis = await startOwnRedis(path.join(cwd, 'redis'), LASTING);
  if (redis) closers.push(() => redis.close());
  const receiver = await startHttpServer(() => ({ status: 500, body: 'not today' }));
  closers.push(() => receiver.close());
  const database = await openDatabase({ url: 'embedded', dataDir: path.join(cwd, 'data') });
  closers.push(() => database.close());
  await seedWorkspace(database.pool, { contacts: CONTACTS, tenants: [{ name: 'acme', key: secrets.KEY }] });

  const around = { cwd, env: { ...secrets, ...(redis && { REDIS_URL: redis.url }) } };
  const testbed = { faults: FAULTS, requiredAuthorization: { scheme: 'Bearer', token: secrets.TOKEN } };
  await writeFile(path.join(cwd, 'testbed.json'), JSON.stringify(testbed));
  const common = ['--data', 'data', '--verbose'];
  const served = [
    'service',
    '--json',
    '--port',
    '0',
    '--tenant',
    'acme',
    '--key-env',
    'KEY',
    '--testbed',
    '@testbed.json',
  ];
  const service = startLockstep([...served, ...common], around);
  const { url } = await service.ready();
  await writeFile(path.join(cwd, 'lockstep.yaml'), settings(url, `${receiver.url}/hook`));
  const run = (...args: readonly string[]) => startLockstep([...args, '--config', 'lockstep.yaml', ...common], around);

  await run('run', 'nightly', '--detach').ended; // a worker's jobs are in the queue that processes share
  const killed = run('start', '--roles', 'worker');
  await vi.waitUntil(async () => (await customersOf(database.pool)) > 5, { timeout: 60_000, interval: 20 });
  expect(await processesNaming('canary-')).not.toContainEqual(expect.stringMatching(inAny(secrets)));
  killed.signal('SIGKILL');
  const said = [await killed.ended];
  await writeFile(path.join(cwd, 'orders.csv'), 'customer,amount,order_id\n1,2.50,A-1\n999999,1,A-2\nx,y,A-3\n');
  for (const args of [
    ['run', 'nightly'],
    ['run', 'mirror', '--json'],
    ['orders', 'load', 'orders.csv', '--account', 'acme', '--map', 'client_id=customer', '--results', 'out', '--yes'],
  ]) {
    said.push(await run(...args).ended);
  }
  const [nightly] = (await database.pool.query("select id from ledger.runs where sync = 'nightly'")).rows;
  said.push(await run('runs', 'export', nightly.id, '--verdict', 'created', '--out', 'export.csv').ended);
  service.signal('SIGTERM');
  said.push(await service.ended);

  const kept = await everythingIn(database.pool);
  const dumped = redis ? await everythingInRedis(redis.url) : '';
  await rm(path.join(cwd, 'testbed.json'));
  const files = await filesBelow(cwd);
  const sources = new Map([
    ['output and logs', said.map(({ stdout, stderr }) => stdout + stderr).join('\n')],
    ['rows of Postgres', kept],
    ['keys of Redis', dumped],
    ...files,
  ]);
  expect(sourcesWith(sources, nightly.id)).toEqual(
    expect.arrayContaining(redis ? ['rows of Postgres', 'keys of Redis'] : ['rows of Postgres']),
  ); // proves that the search finds what is there
  expect([...files.keys()]).toEqual(
    expect.arrayContaining(['export.csv', 'data/postgres/log', 'out/orders.invalid.csv']),
  );
  for (const secret of Object.values(secrets)) expect(sourcesWith(sources, secret)).toEqual([]);
  const password = String(database.connection.password);
  expect(sourcesWith(sources, password)).toEqual(['data/postgres/password']);
  const bytes = [...sources.values()].reduce((sum, text) => sum + text.length, 0);
  process.stderr.write(
    `canary sweep: ${Object.keys(secrets).length + 1} secrets, ${sources.size} sources, ${Math.round(bytes / 1e6)} MB\n`,
  );
}, 120_000);

function settings(url: string, hook: string): string {
  return `
accounts:
  acme:
    url: ${url}
    apiKey: { env: KEY }
    authorization: { scheme: Bearer, env: TOKEN }
    budget: { requests: 300, per: 1s, burst: 10, timeout: 1s, settle: 500ms }
syncs:
  nightly: { job: contacts, account: acme }
  mirror: { job: tasks, account: acme, targets: [hook], options: { backfill: true } }
targets:
  hook: { type: webhook, url: "${hook}", secret: { env: HOOK }, allowPrivate: true }
`;
}

function inAny(secrets: Readonly<Record<string, string>>): RegExp {
  return new RegExp(Object.values(secrets).join('|'));
}

async function customersOf(pool: pg.Pool): Promise<number> {
  const counted = await pool.query("select count(*) as n from service.commits where operation = 'customers.import'");
  return counted.rows[0].n;
}

function sourcesWith(sources: ReadonlyMap<string, string>, text: string): string[] {
  return [...sources].filter(([, content]) => content.includes(text)).map(([source]) => source);
}

async function filesBelow(dir: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile()) found.set(path.relative(dir, file), await readFile(file, 'latin1').catch(() => '')); // it may be gone by now
  }
  return found;
}
