/**
 * The budget's store in Redis or Valkey: two hashes a key, decided in Lua on Redis's clock (redis-scripts.ts).
 */
import type { Cluster, Redis, Result } from 'ioredis';
import { z } from 'zod';
import { demandOf } from './arithmetic.ts';
import type { BudgetStore, Cut, Grant, RetryTaken } from './budget.ts';
import { ACQUIRE, BLOCK, LIMITED, RETRY } from './redis-scripts.ts';

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
  /** Before every key, such as `lockstep`. */
  readonly prefix: string;
}

const number = z.coerce.number();
const acquireReply = z.tuple([number, number, number, number, number, number, number]);
const shortReply = z.tuple([number, number, number]);

export function createRedisStore({ redis, prefix }: RedisStoreOptions): BudgetStore {
  redis.defineCommand('lockstepBudgetAcquire', { numberOfKeys: 2, lua: ACQUIRE });
  redis.defineCommand('lockstepBudgetBlock', { numberOfKeys: 1, lua: BLOCK });
  redis.defineCommand('lockstepBudgetLimited', { numberOfKeys: 1, lua: LIMITED });
  redis.defineCommand('lockstepBudgetRetry', { numberOfKeys: 1, lua: RETRY });
  const budgetOf = (key: string) => `{${prefix}:${key}}:budget`;
  const slotsOf = (key: string) => `{${prefix}:${key}}:slots`;

  return {
    name: `Redis at ${placeOf(redis)}`,
    remedy: 'check that it runs and that redis.url (or REDIS_URL) is right, or set redis.url to none',

    async acquire(key, request): Promise<Grant> {
      const { lane, want, cost, ceiling, burst, mode, withinUs, share, slots, ...rest } = demandOf(request);
      const { holder = '', seq = 0, holding = 0, wanted = 0, cap = 0, extra = 0 } = slots ?? {};
      const bucket = [lane, want, cost, ceiling, burst, mode, withinUs, share];
      const beside = [rest.boundRate, rest.boundForUs, rest.successes, holder, seq, holding, wanted, cap, extra];
      const reply = await redis.lockstepBudgetAcquire(budgetOf(key), slotsOf(key), ...bucket, ...beside);
      const [granted, nowUs, firstInUs, retryInUs, blockedForUs, ratePerSecond, given] = acquireReply.parse(reply);
      return {
        granted,
        storeNowMs: nowUs / 1000,
        usableInMs: firstInUs / 1000,
        intervalMs: (cost * (1e6 / ratePerSecond)) / 1000,
        retryInMs: retryInUs / 1000,
        blockedForMs: blockedForUs / 1000,
        slots: given,
        ratePerSecond,
      };
    },

    async block(key, forMs): Promise<void> {
      await redis.lockstepBudgetBlock(budgetOf(key), forMs * 1000);
    },

    async limited(key, { forMs, admittedAtMs, pace }): Promise<Cut> {
      const given = [forMs * 1000, admittedAtMs * 1000, pace.ratePerSecond, pace.mode ?? 'fixed'];
      const reply = shortReply.parse(await redis.lockstepBudgetLimited(budgetOf(key), ...given));
      const [isCut, ratePerSecond, nowUs] = reply;
      return { isCut: isCut === 1, ratePerSecond, storeNowMs: nowUs / 1000 };
    },

    holders: (key) => redis.hkeys(slotsOf(key)),

    async forget(key, holder): Promise<void> {
      await redis.hdel(slotsOf(key), holder);
    },

    async retry(key, successes): Promise<RetryTaken> {
      const [isGranted, retryInUs] = shortReply.parse(await redis.lockstepBudgetRetry(budgetOf(key), successes));
      return isGranted === 1 ? { status: 'granted' } : { status: 'empty', retryAfterMs: Math.ceil(retryInUs / 1000) };
    },
  };
}

function placeOf(redis: Redis | Cluster): string {
  if (!('host' in redis.options)) return 'its cluster nodes';
  const { path, host, port } = redis.options;
  return path ?? `${host}:${port}`;
}
