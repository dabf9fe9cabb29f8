/**
 * The budget's store in Redis or Valkey: one hash a key, decided in Lua on Redis's clock. Mirrors arithmetic.ts.
 */
import type { Cluster, Redis, Result } from 'ioredis';
import { z } from 'zod';
import { demandOf, EPSILON, LEASE_US, MAX_TURNS, TURN_US } from './arithmetic.ts';
import type { BudgetStore, Grant } from './budget.ts';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    lockstepBudgetAcquire(...keysAndArguments: (string | number)[]): Result<unknown, Context>;
    lockstepBudgetBlock(...keysAndArguments: (string | number)[]): Result<unknown, Context>;
  }
}

export interface RedisStoreOptions {
  /** Opened and closed by the caller; may be shared. */
  readonly redis: Redis | Cluster;
  /** Before every key, such as `lockstep`. */
  readonly prefix: string;
}

/** A forgotten key starts without its burst: long enough that only a key out of use is forgotten. */
const KEEP_MS = 24 * 60 * 60 * 1000;

// KEYS  1 the budget's hash
// ARGV  1 lane  2 want  3 cost  4 intervalUs  5 burst  6 aheadUs  7 withinUs  8 share
// gives {granted, now, first, retry, blocked}: calls, µs since 1970 and delays in µs from then, as strings (a Lua number
//       would lose its fraction)
const ACQUIRE = `
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local lane = ARGV[1]
local want, cost, interval, burst = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local ahead, within, share = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local before = redis.call('HMGET', KEYS[1], 'tat', lane .. 'Turns', 'share', 'blockedUntil')

local cell = cost * interval
local room = math.max(burst, cost) * interval
local blockedUntil = tonumber(before[4]) or now
local tat = math.max(tonumber(before[1]) or 0, now, blockedUntil + (burst - 1) * interval)
local turns = tonumber(before[2]) or 0
local shareAt = tonumber(before[3]) or 0
local leaseCalls = math.max(1, math.floor(${LEASE_US} / cell))

local granted, retry = 0, 0
local first = tat - now + cell - room
local blocked = math.max(0, blockedUntil - now)

if blocked > 0 then
  retry = blocked
else
  local free = math.floor((ahead - first) / cell + 1 + ${EPSILON})
  granted = math.max(0, math.min(want, free, leaseCalls))
  if share > 0 then
    local span = math.max(${LEASE_US}, cell / share)
    shareAt = math.max(shareAt, now - span)
    if granted == 0 then
      local earned = math.floor(((now - shareAt) * share) / cell + ${EPSILON})
      local inTime = math.floor((within - first) / cell + 1 + ${EPSILON})
      granted = math.max(0, math.min(want, earned, inTime, leaseCalls))
    end
    shareAt = math.min(shareAt + (granted * cell) / share, now + span)
  end
  tat = tat + granted * cell

  if granted < want then
    local left = want - granted
    local turn = math.min(left, math.max(1, math.floor(${TURN_US} / cell))) * cell
    local turnEnd = math.min(math.max(turns, tat), tat + ${MAX_TURNS - 1} * turn) + turn
    retry = turnEnd - now - room - ahead
    local byShare = math.huge
    if share > 0 then
      local shareCalls = math.min(left, math.max(1, math.floor((${TURN_US} * share) / cell)))
      byShare = math.max(shareAt + (shareCalls * cell) / share, tat + cell - room - within) - now
    end
    if byShare < retry then retry = byShare else turns = turnEnd end
    retry = math.max(0, retry)
  end
end

local function exact(number) return string.format('%.17g', number) end
redis.call('HSET', KEYS[1], 'tat', exact(tat), lane .. 'Turns', exact(turns), 'share', exact(shareAt),
  'blockedUntil', exact(blockedUntil))
redis.call('PEXPIRE', KEYS[1], math.ceil((math.max(tat, blockedUntil) - now) / 1000) + ${KEEP_MS})
return {exact(granted), exact(now), exact(first), exact(retry), exact(blocked)}
`;

// KEYS  1 the budget's hash
// ARGV  1 forUs
// gives nothing
const BLOCK = `
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local blockedUntil = math.max(tonumber(redis.call('HGET', KEYS[1], 'blockedUntil')) or now, now + tonumber(ARGV[1]))
redis.call('HSET', KEYS[1], 'blockedUntil', string.format('%.17g', blockedUntil))
redis.call('PEXPIRE', KEYS[1], math.ceil((blockedUntil - now) / 1000) + ${KEEP_MS})
`;

const number = z.coerce.number();
const acquireReply = z.tuple([number, number, number, number, number]);

export function createRedisStore({ redis, prefix }: RedisStoreOptions): BudgetStore {
  redis.defineCommand('lockstepBudgetAcquire', { numberOfKeys: 1, lua: ACQUIRE });
  redis.defineCommand('lockstepBudgetBlock', { numberOfKeys: 1, lua: BLOCK });
  const hashOf = (key: string) => `{${prefix}:${key}}:budget`;

  return {
    name: `Redis at ${placeOf(redis)}`,
    remedy: 'check that it runs and that redis.url (or REDIS_URL) is right, or set redis.url to none',

    async acquire(key, request): Promise<Grant> {
      const { lane, want, cost, intervalUs, burst, aheadUs, withinUs, share } = demandOf(request);
      const given = [lane, want, cost, intervalUs, burst, aheadUs, withinUs, share];
      const reply = await redis.lockstepBudgetAcquire(hashOf(key), ...given);
      const [granted, nowUs, firstInUs, retryInUs, blockedForUs] = acquireReply.parse(reply);
      return {
        granted,
        storeNowMs: nowUs / 1000,
        usableInMs: firstInUs / 1000,
        intervalMs: (cost * intervalUs) / 1000,
        retryInMs: retryInUs / 1000,
        blockedForMs: blockedForUs / 1000,
      };
    },

    async block(key, forMs): Promise<void> {
      await redis.lockstepBudgetBlock(hashOf(key), forMs * 1000);
    },
  };
}

function placeOf(redis: Redis | Cluster): string {
  if (!('host' in redis.options)) return 'its cluster nodes';
  const { path, host, port } = redis.options;
  return path ?? `${host}:${port}`;
}
