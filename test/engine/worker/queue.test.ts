import { Redis } from 'ioredis';
import type pg from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOwnQueue } from '../../../src/engine/worker/own-queue.ts';
import { openQueue, type Queue } from '../../../src/engine/worker/queue.ts';
import { openBackend } from '../../../src/engine/worker/queue-backend.ts';
import { emptyDatabase, type FreshDatabase, freshDatabase } from '../../support/database.ts';
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

  test('sends no setting of a connection at its start, where poolers refuse it', async () => {
    const { options, close } = openBackend({ redis: undefined, database: database.connection });
    const pool = options.connection as pg.Pool; // safe: the backend on Postgres
    expect(pool.options).not.toHaveProperty('options');
    expect((await pool.query('show search_path')).rows).toEqual([{ search_path: 'bullmq' }]);
    await close();
  });

  describe('in an outage', () => {
    const lines: { msg: string; time: number; err?: { message: string } }[] = [];
    const listening = pino({ base: undefined }, { write: (line) => void lines.push(JSON.parse(line)) });
    let other: FreshDatabase;
    beforeAll(async () => {
      other = await emptyDatabase();
    });
    afterAll(() => other.close());
    /** Ends every connection and refuses new ones, until the answer is called. */
    const outage = async () => {
      const { database: name } = database.connection;
      lines.length = 0;
      await other.pool.query(`alter database ${name} with allow_connections false`);
      await other.pool.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`);
      return () => other.pool.query(`alter database ${name} with allow_connections true`);
    };
    const reported = (words: RegExp) => lines.filter(({ msg }) => words.test(msg));
    /** Adds a job, which is done as soon as the worker works. */
    async function isDone(queue: Queue, seen: readonly string[]) {
      await queue.add('job', { runId: 'a' }, { id: 'a.job', isUrgent: false });
      await expect.poll(() => seen).toEqual(['a']);
    }
    const seenBy =
      (seen: string[]) =>
      async (_: string, { runId }: { runId: string }) => {
        seen.push(runId);
        return { status: 'over' } as const;
      };

    test('a connection that is lost between two statements ends nothing', async () => {
      const { options, close } = openBackend({ redis: undefined, database: database.connection });
      const db = await (options.connection as pg.Pool).connect(); // safe: the backend on Postgres
      const ended = new Promise<void>((resolve) => db.once('end', resolve));
      const end = await outage();
      await ended;
      await end();
      db.release(true);
      await close();
    });

    test('a worker whose first connection failed works as soon as it can connect', async () => {
      const queue = openQueue({ redis: undefined, database: database.connection, log: listening });
      await queue.depth(); // connected
      const end = await outage();
      const seen: string[] = [];
      const worker = queue.work(seenBy(seen), 4);
      await expect.poll(() => reported(/could not connect/).length).toBeGreaterThan(1);
      await end();
      await isDone(queue, seen);
      await worker.close();
      await queue.close();
    });

    test('a worker rests after an error, and then works on', async () => {
      const queue = openQueue({ redis: undefined, database: database.connection, log: listening });
      const seen: string[] = [];
      const worker = queue.work(seenBy(seen), 4);
      await isDone(queue, seen);
      const end = await outage();
      const errors = () => lines.filter(({ err }) => /not currently accepting/.test(err?.message ?? ''));
      await expect.poll(() => errors().length).toBeGreaterThan(4);
      const [first, , , , last] = errors();
      expect((last?.time ?? 0) - (first?.time ?? 0)).toBeGreaterThan(1_000);
      await end();
      seen.length = 0;
      await isDone(queue, seen);
      await worker.close();
      await queue.close();
    });
  });
});

describeWithRedis('the queue on Redis', ({ url }) => {
  let connection: Redis;
  beforeAll(() => {
    connection = new Redis(url, { maxRetriesPerRequest: null });
  });
  afterAll(() => connection.quit());

  const withoutWaiting = (closing: Promise<void>) => closing;
  const open = async (prefix: string) =>
    openQueue({ redis: { connection, prefix, withoutWaiting }, database: {}, log });
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
