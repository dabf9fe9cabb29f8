import { Redis } from 'ioredis';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { createOwnQueue } from '../../../src/engine/worker/own-queue.ts';
import { openQueue, type Queue } from '../../../src/engine/worker/queue.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { describeWithRedis } from '../../support/redis.ts';
import { queueSuite, sharedQueueSuite } from './queue-suite.ts';

const log = pino({ level: 'silent' });

describe('the queue on Postgres', () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  beforeEach(() => database.pool.query('drop schema if exists bullmq cascade'));
  afterAll(() => database.close());

  const open = async () => openQueue({ redis: undefined, database: database.connection, log });
  queueSuite(open);
  sharedQueueSuite(open);
});

describeWithRedis('the queue on Redis', ({ url }) => {
  let connection: Redis;
  beforeAll(() => {
    connection = new Redis(url, { maxRetriesPerRequest: null });
  });
  afterAll(() => connection.quit());

  const open = async (prefix: string) => openQueue({ redis: { connection, prefix }, database: {}, log });
  queueSuite(open);
  sharedQueueSuite(open);
});

describe('the queue of one process', () => {
  const queues = new Map<string, Queue>();
  queueSuite(async (name) => {
    const queue = queues.get(name) ?? createOwnQueue({ log });
    queues.set(name, queue);
    return queue;
  });
});
