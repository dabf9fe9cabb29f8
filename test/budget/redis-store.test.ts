import { Redis, type RedisOptions } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { createRedisStore } from '../../src/budget/redis-store.ts';
import { describeWithRedis } from '../support/redis.ts';
import { testStore } from './store-suite.ts';

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
      redis.on('error', () => undefined); // the store's caller hears of it by the rejected call
      return createRedisStore({ redis, prefix: 'test' });
    },
  });

  test('a key lives in one hash slot and is forgotten a day after its last use', async () => {
    const redis = connect(url);
    await createRedisStore({ redis, prefix: 'slots' }).block('demo', 1);
    expect(await redis.keys('*slots*')).toEqual(['{slots:demo}:budget']);
    const ttlMs = await redis.pttl('{slots:demo}:budget');
    expect(ttlMs).toBeGreaterThan(23 * 60 * 60 * 1000);
    await redis.del('{slots:demo}:budget');
  });

  test('its name says where it is and keeps the password', () => {
    const redis = connect('redis://user:hunter2@127.0.0.1:1', { lazyConnect: true });
    const { name } = createRedisStore({ redis, prefix: 'test' });
    expect(name).toBe('Redis at 127.0.0.1:1');
  });
});
