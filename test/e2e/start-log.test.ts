/** What `lockstep start` logs: services that stop working and work again, and runs, once each. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { downServices } from '../../src/engine/ledger/scopes/down-services.ts';
import { databaseUrl } from '../cli/command.ts';
import { freshDatabase } from '../support/database.ts';
import type { Needs } from '../support/harness/needs.ts';
import { describeWithRedis } from '../support/redis.ts';
import { AT_ONCE, startOwnRedis } from '../support/redis-server.ts';
import { startLockstep } from './cli-process.ts';
import { openCommandHarness } from './commands.ts';

async function opened(needs: Needs = {}) {
  const harness = await openCommandHarness(needs);
  onTestFinished(() => harness.close());
  return harness;
}

const entries = (stderr: string) =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

test('says once that a service is down, without any run, and once that it works again', async () => {
  const { front, start, database } = await opened();
  const down = async () => (await downServices(database.pool)).map(({ account }) => account);
  front.set(async () => ({ status: 503, body: 'away' }));
  const running = start('start');
  expect(await running.logs('does not work')).toMatch(/"account":"test".*503/);
  await expect.poll(() => front.requests.length).toBeGreaterThan(2);
  expect(await down()).toEqual(['test']);
  front.set();
  await running.logs('works again');
  await expect.poll(down).toEqual([]);
  running.signal('SIGTERM');
  const { code, stderr } = await running.ended;
  expect(code).toBe(0);
  const about = entries(stderr).filter(({ account }) => account === 'test');
  const messages = about.map(({ level, msg }) => [level, msg.split(':')[0]]);
  expect(messages).toEqual([
    [40, 'the service does not work'],
    [30, 'the service works again'],
  ]);
});

test('says nothing of a service that fails once', async () => {
  const { front, start } = await opened();
  let isFirst = true;
  front.set(async (_, pass) => {
    const answer = isFirst ? { status: 503, body: 'busy' } : await pass();
    isFirst = false;
    return answer;
  });
  const running = start('start');
  await expect.poll(() => front.requests.length).toBeGreaterThan(1);
  await running.logs('worker: ready');
  running.signal('SIGTERM');
  expect(entries((await running.ended).stderr).filter(({ account }) => account === 'test')).toEqual([]);
});

test('logs the start and the end of each run with its rows', async () => {
  const { call, around } = await opened({ syncs: { contacts: 'job: contacts, schedule: { every: 1s }' } });
  await call('contacts.create', { firstName: 'Ann', email: 'ann@example.com' });
  const running = startLockstep(['start', '--config', 'lockstep.yaml'], around);
  const { run, rows } = JSON.parse(await running.logs('"run done"'));
  expect(rows).toEqual({ created: 1 });
  running.signal('SIGTERM');
  const { stdout, stderr } = await running.ended;
  const lines = stderr.trimEnd().split('\n');
  expect([stdout, entries(stderr)]).toMatchObject(['', { length: lines.length }]);
  expect(entries(stderr).map(({ msg }) => msg)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^console: http/), expect.stringMatching(/^Finishing/), 'Stopped.']),
  );
  const about = entries(stderr).filter(({ msg, run: of }) => of === run && msg.startsWith('run '));
  expect(about.map(({ msg, sync }) => [msg, sync])).toEqual([
    ['run started', 'contacts'],
    ['run done', 'contacts'],
  ]);
});

test('logs once that a run awaits approval', async () => {
  const sync = 'type: contacts, schedule: { every: 1s }, options: { approveAbove: 0 }';
  const { call, around } = await opened({ syncs: { contacts: sync } });
  await call('contacts.create', { firstName: 'Ann', email: 'ann@example.com' });
  const running = startLockstep(['start', '--config', 'lockstep.yaml'], around);
  const { run, rows } = JSON.parse(await running.logs('waits for approval'));
  expect(rows).toEqual({ 'awaiting approval': 1 });
  await running.logs('an earlier run is unfinished');
  running.signal('SIGTERM');
  const about = entries((await running.ended).stderr).filter(
    ({ msg, run: of }) => of === run && msg.startsWith('run '),
  );
  expect(about.map(({ level, msg }) => [level, msg])).toEqual([
    [30, 'run started'],
    [30, 'run waits for approval'],
  ]);
});

describeWithRedis('with a Redis that may remove keys', () => {
  test('logs one JSON object per line, also where a library warns', async () => {
    const { around } = await opened();
    const dir = path.join(around.cwd, 'redis');
    await mkdir(dir);
    const redis = await startOwnRedis(dir, [...AT_ONCE, '--maxmemory-policy', 'allkeys-lru']);
    if (!redis) throw new Error('no Redis is installed');
    onTestFinished(redis.close);
    const ledger = await freshDatabase(); // the harness keeps the budgets of its own in Postgres
    onTestFinished(() => ledger.close());
    const env = { ...around.env, DATABASE_URL: databaseUrl(ledger.connection), REDIS_URL: redis.url };
    const running = startLockstep(['start', '--config', 'lockstep.yaml'], { ...around, env });
    await running.logs('Eviction policy'); // of BullMQ
    running.signal('SIGTERM');
    const { stderr } = await running.ended;
    const lines = stderr.trimEnd().split('\n');
    expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
    expect(lines.filter((line) => line.includes('set its maxmemory-policy to noeviction'))).toHaveLength(1);
  });
});
