/**
 * What a user would write instead of a load, in a separate process: a BullMQ job per order, or a loop with a limiter; both
 * retry on every error, as is common.
 *   node orders-rivals-process.ts jobs|loop RIVAL_JSON
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Pool } from 'undici';
import type { Posting, PostingFigures } from './orders-bare-process.ts';
import { orderAt } from './orders-sheet.ts';

export interface Rival extends Posting {
  readonly redisUrl: string;
  readonly ratePerSecond: number;
  readonly timeoutMs: number;
}

export interface RivalFigures extends Pick<PostingFigures, 'ms'> {
  /** The most keys that its Redis held, if it uses Redis. */
  readonly queued: number;
}

const TRIES = 5;
const BACKOFF_MS = 250;

const [, , way, told = '{}'] = process.argv;
const rival: Rival = JSON.parse(told);
const { url, key, customers, numbers, concurrency, ratePerSecond, timeoutMs } = rival;
const pool = new Pool(url, { connections: concurrency, pipelining: 1 });
const headers = { API_KEY: key, 'content-type': 'application/json' };

const startedAt = performance.now();
const queued = way === 'jobs' ? await asJobs() : await asLoop();
const figures: RivalFigures = { ms: performance.now() - startedAt, queued };
await pool.close();
process.send?.(figures);
process.disconnect?.();

async function post(n: number): Promise<void> {
  const body = JSON.stringify(orderAt(n, customers));
  const signal = AbortSignal.timeout(timeoutMs);
  const answer = await pool.request({ method: 'POST', path: '/api/v1/orders/create', headers, body, signal });
  await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}`);
}

async function asJobs(): Promise<number> {
  const connection = new Redis(rival.redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue<number>('orders', { connection });
  const options = { attempts: TRIES, backoff: { type: 'exponential', delay: BACKOFF_MS }, removeOnComplete: true };
  const jobs = Array.from({ length: numbers.to - numbers.from }, (_, i) => ({
    name: 'order',
    data: numbers.from + i,
    opts: options,
  }));
  await queue.addBulk(jobs);
  const keys = await connection.dbsize();
  const worker = new Worker<number>('orders', ({ data }) => post(data), {
    connection,
    concurrency,
    limiter: { max: ratePerSecond, duration: 1_000 },
  });
  while (await isAnyLeft(queue)) await delay(50);
  await worker.close();
  await queue.close();
  await connection.quit();
  return keys;
}

async function isAnyLeft(queue: Queue): Promise<boolean> {
  return (await queue.getJobCountByTypes('waiting', 'prioritized', 'active', 'delayed')) > 0;
}

async function asLoop(): Promise<number> {
  let next = numbers.from;
  let freeAt = performance.now();
  const paced = async (n: number): Promise<void> => {
    freeAt = Math.max(freeAt, performance.now()) + 1_000 / ratePerSecond;
    await delay(freeAt - performance.now());
    await post(n);
  };
  const lane = async (): Promise<void> => {
    while (next < numbers.to) await persist(paced, next++);
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return 0;
}

async function persist(send: (n: number) => Promise<void>, n: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send(n);
    } catch {
      if (attempt === TRIES) return; // kept in the log of failures, for an operator to examine
      await delay(BACKOFF_MS * 2 ** (attempt - 1));
    }
  }
}
