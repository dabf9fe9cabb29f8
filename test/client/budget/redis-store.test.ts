import { Redis, type RedisOptions } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { createRedisStore } from '../../../src/client/budget/redis-store.ts';
import { describeWithRedis } from '../../support/redis.ts';
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
    open: async () => createRedisStore({ redis: connect(url), prefix: 'test' }),
    openAway: async () => {
      const redis = connect('redis://127.0.0.1:1', { retryStrategy: () => null, maxRetriesPerRequest: 0 });
      redis.on('error', () => undefined); // the rejected call reports the error to the caller
      return createRedisStore({ redis, prefix: 'test' });
    },
    setLearnt: async (key, { rateAtCut, recoverFromUs, grownUs }) => {
      const learnt = { rateAtCut, recoverFrom: recoverFromUs, grown: grownUs };
      await connect(url).hset(`{test:${key}}:budget`, learnt);
    },
    moveTimes: async (key, ms) => {
      const redis = connect(url);
      for (const name of TIMES) {
        const at = await redis.hget(`{test:${key}}:budget`, name);
        if (at !== null) await redis.hset(`{test:${key}}:budget`, name, String(Number(at) + ms * 1000));
      }
      for (const [holder, words] of Object.entries(await redis.hgetall(`{test:${key}}:slots`))) {
        const moved = words.split(' ').map((word, index) => (index < 3 ? word : String(Number(word) + ms * 1000)));
        await redis.hset(`{test:${key}}:slots`, holder, moved.join(' '));
      }
    },
    crash: async () => undefined, // Redis's own persistence decides what survives
  });

  test('a key lives in one hash slot and expires a week after its last use, so that a nightly job finds its learnt rate', async () => {
    const redis = connect(url);
    const slots = { holder: 'a', seq: 1, holding: 0, wanted: 1, cap: 1, extra: 0 };
    const pace = { ratePerSecond: 1, burst: 1 };
    await createRedisStore({ redis, prefix: 'one' }).acquire('demo', { lane: 'batch', want: 0, cost: 1, pace, slots });
    const keys = ['{one:demo}:budget', '{one:demo}:slots'] as const;
    expect((await redis.keys('*one:*')).sort()).toEqual(keys);
    expect(await redis.pttl(keys[0])).toBeGreaterThan(7 * 24 * 60 * 60 * 1000);
    expect(await redis.pttl(keys[1])).toBeGreaterThan(0);
    await redis.del(...keys);
  });

  test('its name shows the address without the password', () => {
    const redis = connect('redis://user:hunter2@127.0.0.1:1', { lazyConnect: true });
    const { name } = createRedisStore({ redis, prefix: 'test' });
    expect(name).toBe('Redis at 127.0.0.1:1');
  });
});
