import { Redis } from 'ioredis';
import pino from 'pino';
import { afterAll, beforeAll, describe } from 'vitest';
import { openQueue } from '../../src/worker/queue.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { describeWithRedis } from '../support/redis.ts';
import { queueSuite } from './queue-suite.ts';

const log = pino({ level: 'silent' });

describe('the queue on Postgres', () => {
  const databases = new Map<string, Promise<FreshDatabase>>();
  afterAll(async () => {
    for (const database of databases.values()) await (await database).close();
  });

  queueSuite(async (name) => {
    const database = databases.get(name) ?? freshDatabase();
    databases.set(name, database);
    return openQueue({ redis: undefined, database: (await database).connection, log });
  });
});

describeWithRedis('the queue on Redis', ({ url }) => {
  let connection: Redis;
  beforeAll(() => {
    connection = new Redis(url, { maxRetriesPerRequest: null });
  });
  afterAll(() => connection.quit());

  queueSuite(async (prefix) => openQueue({ redis: { connection, prefix }, database: {}, log }));
});
