/** The backend of BullMQ's queues: Redis if configured, otherwise Postgres. */
import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  DEFAULT_SCHEMA,
  type IQueueBackend,
  runMigrations,
} from 'bullmq';
import type { Cluster, Redis } from 'ioredis';
import type pg from 'pg';
import type { Logger } from 'pino';
import { makePool } from '../../storage/pool.ts';

/** BullMQ's Postgres backend uses a connection for each job that is being moved. */
export const MAX_CONCURRENCY_ON_POSTGRES = 8;
/** Job ids are reused, and BullMQ silently ignores a job whose id it still stores. */
export const FORGET = { removeOnComplete: true, removeOnFail: true };

interface RedisOfQueue {
  readonly connection: Redis | Cluster;
  readonly prefix: string;
  /** Waits until a worker has closed, or until the connection, which may be away, is given up. */
  readonly withoutWaiting: (closing: Promise<void>) => Promise<void>;
}

export interface QueueNeeds {
  /** Used if given, otherwise `database`. */
  readonly redis: RedisOfQueue | undefined;
  readonly database: pg.PoolConfig;
  readonly log: Logger;
}

/** What a queue and its workers use. */
interface Backend {
  readonly factory: BackendFactory<IQueueBackend, unknown>;
  readonly options: { readonly connection: unknown; readonly prefix?: string };
  /** Makes a queue or a worker at its first use. */
  connecting<T extends Connectable>(make: () => T): Connecting<T>;
  close(): Promise<void>;
}

interface Connectable {
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

export interface Connecting<T> {
  /** @throws what the connection failed with; the next call connects again */
  ready(): Promise<T>;
  close(): Promise<void>;
}

/** Both backends behind one type: each factory gets its own connection type. */
export function openBackend({ redis, database }: Pick<QueueNeeds, 'redis' | 'database'>): Backend {
  if (redis) {
    const factory = createRedisBackend as BackendFactory<IQueueBackend, unknown>;
    const options = { connection: redis.connection, prefix: `{${redis.prefix}}` };
    return { factory, options, connecting, close: async () => undefined };
  }
  // BullMQ's own pool ends the process when a connection is lost between two statements.
  const pool = makePool({
    ...database,
    max: MAX_CONCURRENCY_ON_POSTGRES + 3, // one of them listens
    session: { search_path: DEFAULT_SCHEMA },
  });
  let isMigrated = false;
  const migrate = async (): Promise<void> => {
    if (isMigrated) return;
    const db = await pool.connect();
    try {
      await runMigrations(db);
      isMigrated = true;
    } finally {
      db.release(!isMigrated);
    }
  };
  return {
    factory: createPostgresBackend as BackendFactory<IQueueBackend, unknown>,
    options: { connection: pool },
    connecting: (make) => connecting(make, migrate),
    close: () => pool.end(),
  };
}

/** BullMQ keeps the error of a first connection for good, so what could not connect is made again. */
function connecting<T extends Connectable>(
  make: () => T,
  prepare = async (): Promise<void> => undefined,
): Connecting<T> {
  let made: T | undefined;
  let isClosed = false;
  return {
    async ready() {
      await prepare();
      if (isClosed) throw new Error('the queue is closed');
      made ??= make();
      const tried = made;
      try {
        await tried.waitUntilReady();
        return tried;
      } catch (error) {
        if (made === tried) {
          made = undefined;
          await tried.close();
        }
        throw error;
      }
    },
    async close() {
      isClosed = true;
      await made?.close();
    },
  };
}
