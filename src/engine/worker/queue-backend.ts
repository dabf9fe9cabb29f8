/** The backend of BullMQ's queues: Redis if configured, otherwise Postgres. */
import { type BackendFactory, createPostgresBackend, createRedisBackend, type IQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import type pg from 'pg';
import type { Logger } from 'pino';

/** BullMQ's Postgres backend uses a connection for each job that is being moved. */
export const MAX_CONCURRENCY_ON_POSTGRES = 8;
/** Job ids are reused, and BullMQ silently ignores a job whose id it still stores. */
export const FORGET = { removeOnComplete: true, removeOnFail: true };

export interface QueueNeeds {
  /** Used if given, otherwise `database`. */
  readonly redis: { readonly connection: Redis; readonly prefix: string } | undefined;
  readonly database: pg.PoolConfig;
  readonly log: Logger;
}

/** Both backends behind one type: each factory gets its own connection type, two lines below. */
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
