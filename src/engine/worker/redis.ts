/**
 * Connections to Redis: one that waits (the queue blocks on it), one that fails fast (the budget fails closed). Both find
 * the new master after a failover.
 */
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { LockstepError, messageOf, wrongUse } from '../../base/errors.ts';
import type { Hidden } from '../../settings/hidden.ts';
import type { Environment } from '../../settings/parse.ts';
import { EXAMPLES, type RedisNodes, readRedisNodes } from '../../settings/redis-url.ts';
import { readSecret } from '../../settings/secrets.ts';
import type { Settings } from '../../settings/settings.ts';

const CONNECT_MS = 5_000;
/** How long a server may take to answer before the connection counts as dead. BullMQ's queue blocks for 10 s. */
const BUDGET_SILENCE_MS = 2_000;
const QUEUE_SILENCE_MS = 20_000;
const REFRESH_MS = 5_000;
const MAX_RETRY_MS = 1_000;
const KEEPS_ALL = 'noeviction';

/** @throws LockstepError REDIS_UNREACHABLE, REDIS_FORBIDDEN and REDIS_KIND, exit code 2 */
export async function openRedis(
  { url, prefix, sentinelPassword }: Settings['redis'] & { readonly url: Hidden },
  env: Environment,
  log: Logger,
) {
  const nodes = readRedisNodes(url.reveal());
  const ofSentinel = sentinelPassword && (await readSecret(sentinelPassword, env));
  let isOpen = false;
  let isLeaving = false;
  const retryDelay = (times: number) => Math.min(times * 50, MAX_RETRY_MS);
  let why: string | undefined;
  const connect = (options: RedisOptions): Redis | Cluster => {
    const redis = clientOf(url.reveal(), nodes, {
      retryStrategy: retryDelay,
      ...options,
      lazyConnect: true,
      connectTimeout: CONNECT_MS,
      // A master that has become a replica, or has lost its replicas: the connection goes to the new master.
      reconnectOnError: ({ message }) => /^(READONLY|NOREPLICAS)/.test(message),
      ...(ofSentinel !== undefined && { sentinelPassword: ofSentinel }),
      sentinelRetryStrategy: (times) => (isOpen ? retryDelay(times) : null),
    });
    if (redis instanceof Redis) bearLaterErrors(redis);
    redis.on('+node', bearLaterErrors);
    redis.on('error', (error) => {
      why ??= messageOf(error.lastNodeError ?? error);
      log.warn({ err: error }, 'Redis reported an error');
    });
    return redis.on('sentinelError', ({ message }) => {
      why = message;
    });
  };
  const budget = connect({ maxRetriesPerRequest: 1, socketTimeout: BUDGET_SILENCE_MS });
  const queue = connect({
    maxRetriesPerRequest: null,
    socketTimeout: QUEUE_SILENCE_MS,
    retryStrategy: (times) => (isLeaving ? null : retryDelay(times)),
  });
  /** Waits for `closing`. Meanwhile the queue fails if its connection is lost, so that a process can stop while Redis is away. */
  const withoutWaiting = async (closing: Promise<void>): Promise<void> => {
    const once = (event: 'ready' | 'end') =>
      queue.status === event ? Promise.resolve() : new Promise<void>((resolve) => queue.once(event, () => resolve()));
    isLeaving = true;
    await Promise.race([Promise.all([closing, once('ready')]), once('end')]);
    isLeaving = false;
  };
  const close = async () => {
    for (const redis of [budget, queue]) redis.disconnect();
  };
  try {
    await Promise.all([budget.connect(), queue.connect()]);
    const kind = nodes === undefined ? kindIn(await budget.info('server')) : undefined;
    if (kind !== undefined) {
      const what = kind === 'sentinel' ? 'a Sentinel' : 'a node of a Cluster';
      throw wrongUse(
        `Redis at ${url} is ${what}. Set redis.url or REDIS_URL to a URL such as ${EXAMPLES[kind]}.`,
        'REDIS_KIND',
      );
    }
    await budget.eval("return redis.call('exists', KEYS[1])", 1, `{${prefix}}:lockstep:meta`);
    const policy = /^maxmemory_policy:(\S+)/m.exec(await budget.info('memory'))?.[1] ?? KEEPS_ALL;
    if (policy !== KEEPS_ALL) {
      log.warn(
        `Redis at ${url} may remove jobs and budgets when its memory is full (maxmemory-policy ${policy}); set its maxmemory-policy to ${KEEPS_ALL}`,
      );
    }
  } catch (error) {
    await close();
    if (error instanceof LockstepError) throw error;
    const reason = why ?? messageOf(error);
    if (reason.startsWith('NOPERM')) {
      throw wrongUse(
        `Redis at ${url} refuses what Lockstep needs (${reason}). Give its user the rights ~{${prefix}* +@all -@dangerous +info.`,
        'REDIS_FORBIDDEN',
        error,
      );
    }
    throw wrongUse(
      `Redis at ${url} cannot be reached (${reason}). Start it, fix redis.url or REDIS_URL, or set redis.url to none.`,
      'REDIS_UNREACHABLE',
      error,
    );
  }
  isOpen = true;
  return { queue, budget, withoutWaiting, close };
}

function clientOf(url: string, nodes: ReturnType<typeof readRedisNodes>, options: RedisOptions): Redis | Cluster {
  if (typeof nodes !== 'object') return new Redis(url, options); // settings refuse what cannot be read
  const { isTls, username, password, master: name } = nodes;
  const login = {
    ...options,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  };
  const hosts = [...nodes.hosts];
  const tls = isTls ? {} : undefined;
  if (nodes.kind === 'sentinel') {
    const overTls = tls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true };
    return new Redis({ ...login, ...overTls, sentinels: hosts, name });
  }
  return new Cluster(hosts, {
    lazyConnect: true,
    slotsRefreshInterval: REFRESH_MS,
    ...(login.retryStrategy && { clusterRetryStrategy: login.retryStrategy }),
    redisOptions: { ...login, ...(tls && { tls }) },
    // The certificates of managed Clusters have names, not addresses.
    ...(tls && { dnsLookup: (host, answer) => answer(null, host) }),
  });
}

/** A socket over TLS can report a second error, such as an alert after a refused certificate; ioredis hears only the first. */
function bearLaterErrors(redis: Redis): void {
  redis.on('error', () => redis.stream?.on('error', () => undefined));
}

/** What a server is that has to be reached through a URL of another form. */
function kindIn(info: string): RedisNodes['kind'] | undefined {
  const mode = /^redis_mode:(\w+)/m.exec(info)?.[1];
  return mode === 'sentinel' || mode === 'cluster' ? mode : undefined;
}
