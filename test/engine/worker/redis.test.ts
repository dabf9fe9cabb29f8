/** Redis as its users run it: one server, a master that Sentinels watch, a Cluster. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { aborted } from '../../../src/cli/signals.ts';
import { createRedisStore } from '../../../src/client/budget/redis-store.ts';
import { openQueue } from '../../../src/engine/worker/queue.ts';
import { openRedis } from '../../../src/engine/worker/redis.ts';
import { Hidden } from '../../../src/settings/hidden.ts';
import { anError } from '../../support/matchers.ts';
import { describeWithRedis } from '../../support/redis.ts';
import { ask, startCluster, startReplicated } from '../../support/redis-nodes.ts';
import { AT_ONCE, startOwnRedis } from '../../support/redis-server.ts';

const lines: { readonly msg: string }[] = [];
const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line)) });
const PREFIX = 'test';
const KEYS = ['one', 'two', 'three', 'four'];
const TOKEN = { lane: 'batch', want: 1, cost: 1, pace: { ratePerSecond: 100, burst: 1 } } as const;

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(os.tmpdir(), 'lockstep-redis-'));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

/** What a process has on this Redis: the store of its budgets, and its queue. */
async function open(url: string, env: Readonly<Record<string, string>> = {}) {
  const sentinelPassword = env.OF_SENTINEL && ({ from: 'env', name: 'OF_SENTINEL', where: 'redis' } as const);
  const settings = { url: new Hidden(url, 'the URL'), prefix: PREFIX, sentinelPassword: sentinelPassword || undefined };
  const redis = await openRedis(settings, env, log);
  const queue = openQueue({
    redis: { connection: redis.queue, prefix: PREFIX, withoutWaiting: redis.withoutWaiting },
    database: {},
    log,
  });
  onTestFinished(async () => {
    await queue.close();
    await redis.close();
  });
  return { store: createRedisStore({ redis: redis.budget, where: 'a test', prefix: PREFIX }), queue };
}

/** Runs one job, and takes a token of each of these keys. */
async function use({ store, queue }: Awaited<ReturnType<typeof open>>, keys = KEYS): Promise<void> {
  const seen: string[] = [];
  const working = queue.work(async (_, { runId }) => {
    seen.push(runId);
    return { status: 'over' };
  }, 2);
  await queue.add('job', { runId: 'a' }, { id: 'a.job', isUrgent: false });
  await expect.poll(() => seen).toEqual(['a']);
  await working.close();
  expect(await queue.depth()).toEqual({ active: 0, prioritized: 0, delayed: 0 });
  for (const key of keys) expect((await store.acquire(key, TOKEN)).granted).toBe(1);
}

describeWithRedis('Redis on several nodes', ({ url: single }) => {
  test('the queue and the budget follow the master that the Sentinel names', async () => {
    const redis = await startReplicated(await folder());
    onTestFinished(redis.close);
    const opened = await open(redis.url);
    await use(opened);
    await redis.failOver();
    const acquired = () => opened.store.acquire('one', TOKEN).catch(() => undefined);
    await expect.poll(acquired).toMatchObject({ granted: 0, blockedForMs: expect.any(Number) });
    await use(opened, ['new']);
  });

  test('a Sentinel with a password of its own needs redis.sentinelPassword', async () => {
    const redis = await startReplicated(await folder());
    onTestFinished(redis.close);
    await ask(redis.sentinelUrl, 'acl', 'setuser', 'default', 'resetpass', '>of-sentinel');
    await expect(open(redis.url)).rejects.toThrow(/cannot be reached \(.*NOAUTH/);
    await use(await open(redis.url, { OF_SENTINEL: 'of-sentinel' }));
  });

  test('a Cluster has the queue on one node, and each budget on the node of its key', async () => {
    const cluster = await startCluster(await folder());
    onTestFinished(cluster.close);
    await use(await open(cluster.url));
    const keys = await Promise.all(cluster.nodes.map(({ url }) => ask(url, 'keys', '*budget')));
    expect(keys.filter((some) => some !== '').length).toBeGreaterThan(1);
  });

  test('while a node of a Cluster is away, its budgets grant nothing, and they do again when it is back', async () => {
    const cluster = await startCluster(await folder());
    onTestFinished(cluster.close);
    const opened = await open(cluster.url);
    await use(opened);
    const holds = await Promise.all(cluster.nodes.map(({ url }) => ask(url, 'keys', '*:one}:budget')));
    const away = holds.findIndex((keys) => keys !== '');
    await cluster.nodes[away]?.close();
    await expect(opened.store.acquire('one', TOKEN)).rejects.toThrow();
    await cluster.restart(away);
    const acquired = () => opened.store.acquire('one', TOKEN).catch(() => undefined);
    await expect.poll(acquired).toMatchObject({ granted: 1 });
    await use(opened, ['new']);
  });

  test('a worker and a queue close while Redis is away', async () => {
    const redis = await startOwnRedis(await folder(), AT_ONCE);
    if (!redis) throw new Error('no Redis is installed');
    const { queue } = await open(redis.url);
    let isBegun = false;
    const working = queue.work(async (_, __, signal) => {
      isBegun = true;
      await aborted(signal);
      return { status: 'again', inMs: 0 };
    }, 2);
    await queue.add('job', { runId: 'a' }, { id: 'a.job', isUrgent: false });
    await expect.poll(() => isBegun).toBe(true);
    await redis.close();
    const looking = queue.limitDelays().catch(() => undefined);
    await working.close();
    await queue.close();
    await looking;
  });

  test('a URL of another form than Redis needs is refused with the form that it needs', async () => {
    const [cluster, replicated] = [await startCluster(await folder()), await startReplicated(await folder())];
    onTestFinished(cluster.close);
    onTestFinished(replicated.close);
    const [node] = cluster.nodes;
    const needs = (kind: string) => anError('REDIS_KIND', `redis+${kind}://`);
    await expect(open(node?.url ?? '')).rejects.toMatchObject(needs('cluster'));
    await expect(open(replicated.sentinelUrl)).rejects.toMatchObject(needs('sentinel'));
  });

  test('the start fails with what is wrong', async () => {
    const { host } = new URL(single);
    const away = (url: string) => expect(open(url)).rejects;
    const said = (why: RegExp) => ({ code: 'REDIS_UNREACHABLE', message: expect.stringMatching(why) });
    await away('redis+sentinel://127.0.0.1:1/mymaster').toMatchObject(said(/connect to sentinel 127.0.0.1:1/));
    await away(`redis+sentinel://${host}/mymaster`).toMatchObject(said(/unknown command/));
    await away('redis+cluster://127.0.0.1:1').toMatchObject(said(/Connection is closed/));
    await away(`redis+cluster://${host}`).toMatchObject(said(/cluster support disabled/));
    const replicated = await startReplicated(await folder());
    onTestFinished(replicated.close);
    await away(`${replicated.url}-2`).toMatchObject(said(/No such master with that name/));
  });

  test('a user needs the rights that the error names, and a Redis that may remove keys is reported', async () => {
    const redis = await startOwnRedis(await folder(), AT_ONCE);
    if (!redis) throw new Error('no Redis is installed');
    onTestFinished(redis.close);
    const url = redis.url.replace('://', '://some:pw@');
    const grant = (...rights: string[]) => ask(redis.url, 'acl', 'setuser', 'some', 'reset', 'on', '>pw', ...rights);
    for (const rights of [
      ['~*', '+@all', '-@scripting'],
      ['~other*', '+@all'],
      [`~{${PREFIX}*`, '+@all', '-info'],
    ]) {
      await grant(...rights);
      await expect(open(url), rights.join(' ')).rejects.toMatchObject(
        anError('REDIS_FORBIDDEN', `~{${PREFIX}* +@all -@dangerous +info.`),
      );
    }
    await grant(`~{${PREFIX}*`, '+@all', '-@dangerous', '+info');
    await use(await open(url));
    expect(lines.filter(({ msg }) => msg.includes('noeviction'))).toEqual([]);
    await ask(redis.url, 'config', 'set', 'maxmemory-policy', 'allkeys-lru');
    await open(url);
    expect(lines.filter(({ msg }) => msg.includes('noeviction'))).toHaveLength(1);
  });

  test('passwords in the URL are used, decoded', async () => {
    const dir = await folder();
    const locked = await startOwnRedis(dir, AT_ONCE);
    if (!locked) throw new Error('no Redis is installed');
    onTestFinished(locked.close);
    await ask(locked.url, 'config', 'set', 'requirepass', 'p@ss:word');
    await use(await open(locked.url.replace('://', '://:p%40ss%3Aword@')));
  });
});
