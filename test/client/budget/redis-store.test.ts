import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { orStoreAway } from '../../../src/client/budget/budget.ts';
import { createRedisStore } from '../../../src/client/budget/redis-store.ts';
import { describeWithRedis } from '../../support/redis.ts';
import { AT_ONCE, startOwnRedis } from '../../support/redis-server.ts';
import { testStore } from './store-suite.ts';

const TIMES = [
  ...['tat', 'interactiveTurns', 'batchTurns', 'share', 'blockedUntil', 'recoverFrom'],
  ...['waitedForUntil', 'countedUntil', 'boundUntil', 'retryAsked'],
];

describeWithRedis('the Redis store', ({ url }) => {
  const opened: Redis[] = [];
  const connect = (where: string, options: RedisOptions = {}) => {
    const redis = new Redis(where, options);
    opened.push(redis);
    return redis;
  };
  afterAll(() => {
    for (const redis of opened) redis.disconnect();
  });

  testStore({
    open: async () => createRedisStore({ redis: connect(url), where: url, prefix: 'test' }),
    openAway: async () => {
      const redis = connect('redis://127.0.0.1:1', { retryStrategy: () => null, maxRetriesPerRequest: 0 });
      redis.on('error', () => undefined); // the rejected call reports the error to the caller
      return createRedisStore({ redis, where: '127.0.0.1:1', prefix: 'test' });
    },
    setLearnt: async (key, { rateAtCut, recoverFromUs, grownUs }) => {
      const learnt = { rateAtCut, recoverFrom: recoverFromUs, grown: grownUs };
      await connect(url).hset(`{test:${key}}:budget`, learnt);
    },
    moveTimes: (key, ms) => moveBudget(connect(url), key, ms),
    crash: async () => undefined, // Redis's own persistence decides what survives
  });

  test('a key lives in one hash slot and expires a week after its last use, so that a nightly job finds its learnt rate', async () => {
    const redis = connect(url);
    const slots = { holder: 'a', seq: 1, holding: 0, wanted: 1, cap: 1, extra: 0 };
    const pace = { ratePerSecond: 1, burst: 1 };
    await createRedisStore({ redis, where: url, prefix: 'one' }).acquire('demo', {
      lane: 'batch',
      want: 0,
      cost: 1,
      pace,
      slots,
    });
    const keys = ['{one:demo}:budget', '{one:demo}:slots'] as const;
    expect((await redis.keys('*one:*')).sort()).toEqual(keys);
    expect(await redis.pttl(keys[0])).toBeGreaterThan(7 * 24 * 60 * 60 * 1000);
    expect(await redis.pttl(keys[1])).toBeGreaterThan(0);
    await redis.del(...keys);
  });

  test('a server that is gone is named, without words of the driver', async () => {
    const redis = connect('redis://127.0.0.1:1', { maxRetriesPerRequest: 1 });
    redis.on('error', () => undefined);
    const store = createRedisStore({ redis, where: 'redis://127.0.0.1:1', prefix: 'test' });
    const message = /: Redis at redis:\/\/127\.0\.0\.1:1 is unavailable \(no connection\)\. Remedy: check that it runs/;
    await expect(orStoreAway(store.block('demo', 10), 'demo', store, 10_000)).rejects.toThrow(message);
  });

  test('a server that takes over grants nothing until the tokens and the calls in flight before it are known or over', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'lockstep-takeover-'));
    const [old, next] = [await startOwnRedis(folder, AT_ONCE), await startOwnRedis(folder, AT_ONCE)];
    if (!old || !next) throw new Error('no Redis is installed');
    const [master, replica] = [connect(old.url), connect(next.url)];
    const [key, pace] = ['demo', { ratePerSecond: 0.1, burst: 5 }];
    const at = (redis: Redis) => createRedisStore({ redis, where: 'a test', prefix: 'test' });
    const ask = (holder: string, want: number) => {
      const slots = { holder, seq: 1, holding: 0, wanted: 4, cap: 4, extra: 0 };
      return { lane: 'batch', want, cost: 1, pace, slots, withinMs: 0 } as const;
    };
    await replica.replicaof('127.0.0.1', new URL(old.url).port);
    await expect.poll(() => replica.info('replication')).toContain('master_link_status:up');
    expect((await at(master).acquire(key, ask('a', 0))).blockedForMs).toBe(0);
    await expect.poll(() => replica.exists('{test:demo}:budget')).toBe(1);
    await master.call('acl', 'setuser', 'default', '-psync', '-sync');
    await master.call('client', 'kill', 'type', 'replica');
    expect(await at(master).acquire(key, ask('b', 1))).toMatchObject({ blockedForMs: 0 }); // the replica misses this
    await old.close();
    await replica.replicaof('NO', 'ONE');
    const taken = await at(replica).acquire(key, ask('b', 5));
    expect([taken.granted, Math.round(taken.blockedForMs / 1000)]).toEqual([0, 15]);
    const again = await at(replica).acquire(key, ask('c', 5));
    expect(again.blockedForMs).toBeLessThanOrEqual(taken.blockedForMs);
    await moveBudget(replica, key, -15_000);
    expect(await at(replica).acquire(key, ask('d', 5))).toMatchObject({ granted: 1, blockedForMs: 0, slots: 4 });
    await next.close();
    await rm(folder, { recursive: true });
  });
});

/** Moves every stored time of a key. */
async function moveBudget(redis: Redis, key: string, ms: number): Promise<void> {
  for (const name of TIMES) {
    const at = await redis.hget(`{test:${key}}:budget`, name);
    if (at !== null) await redis.hset(`{test:${key}}:budget`, name, String(Number(at) + ms * 1000));
  }
  for (const [holder, words] of Object.entries(await redis.hgetall(`{test:${key}}:slots`))) {
    const moved = words.split(' ').map((word, index) => (index < 3 ? word : String(Number(word) + ms * 1000)));
    await redis.hset(`{test:${key}}:slots`, holder, moved.join(' '));
  }
}
