/** Connections to Redis: one that waits (the queue blocks on it), one that fails fast (the budget fails closed). */
import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { LockstepError, messageOf } from '../../base/errors.ts';
import { maskUrl } from '../../settings/hidden.ts';

export interface RedisConnections {
  readonly queue: Redis;
  readonly budget: Redis;
  close(): Promise<void>;
}

const CONNECT_MS = 5_000;

/** @throws LockstepError REDIS_UNREACHABLE, exit code 2 */
export async function openRedis(url: string, log: Logger): Promise<RedisConnections> {
  const budget = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1, connectTimeout: CONNECT_MS });
  const queue = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: null, connectTimeout: CONNECT_MS });
  for (const redis of [budget, queue])
    redis.on('error', (error) => log.warn({ err: error }, 'Redis reported an error'));
  try {
    await Promise.all([budget.connect(), queue.connect()]);
  } catch (error) {
    budget.disconnect();
    queue.disconnect();
    throw new LockstepError(
      'REDIS_UNREACHABLE',
      `Redis at ${maskUrl(url)} cannot be reached (${messageOf(error)}). Start it, fix redis.url or REDIS_URL, or set redis.url to none.`,
      { exitCode: 2, cause: error },
    );
  }
  return {
    queue,
    budget,
    async close() {
      await Promise.allSettled([budget.quit(), queue.quit()]);
    },
  };
}
