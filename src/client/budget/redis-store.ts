/**
 * The budget's store in Redis or Valkey: two hashes a key, decided in Lua on Redis's clock (redis-scripts.ts).
 */
import type { Cluster, Redis, Result } from 'ioredis';
import type { BudgetStore } from './budget.ts';
import { ACQUIRE, BLOCK, LIMITED, RETRY } from './redis-scripts.ts';
import { acquireValues, congestionValues, readCut, readGrant, readRetry } from './store-wire.ts';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    lockstepBudgetAcquire(...keysAndArguments: (string | number)[]): Result<unknown, Context>;
    lockstepBudgetBlock(...keysAndArguments: (string | number)[]): Result<unknown, Context>;
    lockstepBudgetLimited(...keysAndArguments: (string | number)[]): Result<unknown, Context>;
    lockstepBudgetRetry(...keysAndArguments: (string | number)[]): Result<unknown, Context>;
  }
}

export interface RedisStoreOptions {
  /** Opened and closed by the caller; may be shared. */
  readonly redis: Redis | Cluster;
  /** For messages: its address, without the password. */
  readonly where: string;
  /** Before every key, such as `lockstep`. */
  readonly prefix: string;
}

export function createRedisStore({ redis, where, prefix }: RedisStoreOptions): BudgetStore {
  redis.defineCommand('lockstepBudgetAcquire', { numberOfKeys: 2, lua: ACQUIRE });
  redis.defineCommand('lockstepBudgetBlock', { numberOfKeys: 1, lua: BLOCK });
  redis.defineCommand('lockstepBudgetLimited', { numberOfKeys: 1, lua: LIMITED });
  redis.defineCommand('lockstepBudgetRetry', { numberOfKeys: 1, lua: RETRY });
  const budgetOf = (key: string) => `{${prefix}:${key}}:budget`;
  const slotsOf = (key: string) => `{${prefix}:${key}}:slots`;

  return {
    name: `Redis at ${where}`,
    remedy: 'check that it runs and that redis.url (or REDIS_URL) is right, or set redis.url to none',
    acquire: async (key, request) =>
      readGrant(
        await redis.lockstepBudgetAcquire(budgetOf(key), slotsOf(key), ...acquireValues(request)),
        request.cost,
      ),
    block: async (key, forMs) => void (await redis.lockstepBudgetBlock(budgetOf(key), forMs * 1000)),
    limited: async (key, congestion) =>
      readCut(await redis.lockstepBudgetLimited(budgetOf(key), ...congestionValues(congestion))),
    holders: (key) => redis.hkeys(slotsOf(key)),
    forget: async (key, holder) => void (await redis.hdel(slotsOf(key), holder)),
    retry: async (key, successes) => readRetry(await redis.lockstepBudgetRetry(budgetOf(key), successes)),
  };
}
