/** What BullMQ keeps its queues in: Redis where there is one, else its Postgres backend. */
import { type BackendFactory, createPostgresBackend, createRedisBackend, type IQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import type pg from 'pg';
import type { Logger } from 'pino';

/** BullMQ's Postgres backend uses a connection for each job that is being moved. */
export const MAX_CONCURRENCY_ON_POSTGRES = 8;
/** Ids are used again, and BullMQ silently ignores a job whose id it still keeps. */
export const FORGET = { removeOnComplete: true, removeOnFail: true };

export interface QueueNeeds {
  /** Used where given, else `database`. */
  readonly redis: { readonly connection: Redis; readonly prefix: string } | undefined;
  readonly database: pg.PoolConfig;
  readonly log: Logger;
}

/** Both backends behind one type: each factory is given the connection it takes, two lines below. */
export function backendOf({ redis, database }: Pick<QueueNeeds, 'redis' | 'database'>): {
  factory: BackendFactory<IQueueBackend, unknown>;
  options: { connection: unknown; prefix?: string };
} {
  if (redis) {
    const factory = createRedisBackend as BackendFactory<IQueueBackend, unknown>;
    return { factory, options: { connection: redis.connection, prefix: `{${redis.prefix}}` } };
  }
  const connection = { ...database, schema: 'bullmq', migrate: true, max: MAX_CONCURRENCY_ON_POSTGRES + 2 };
  return { factory: createPostgresBackend as BackendFactory<IQueueBackend, unknown>, options: { connection } };
}
