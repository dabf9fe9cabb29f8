/**
 * The queue: BullMQ on Redis where there is one, else on its Postgres backend. It only calls jobs; what is to be done is
 * in the ledger, so a queue that was lost is filled again from there.
 */
import { setMaxListeners } from 'node:events';
import {
  type BackendFactory,
  Queue as BullQueue,
  Worker as BullWorker,
  createPostgresBackend,
  createRedisBackend,
  DelayedError,
  type IQueueBackend,
  type Job as QueuedJob,
} from 'bullmq';
import type { Redis } from 'ioredis';
import type pg from 'pg';
import type { Logger } from 'pino';
import { z } from 'zod';

const QUEUE = 'lockstep';
/** A worker that stops answering loses its job after this long; the ledger's claims fence what it still does. */
const LOCK_MS = 30_000;
/** BullMQ's Postgres backend uses a connection for each job that is being moved. */
const MAX_CONCURRENCY_ON_POSTGRES = 8;

/** Names a run to be carried on, or a sync to be started by its schedule. Never a secret. */
const payloadSchema = z.union([z.object({ runId: z.string() }), z.object({ sync: z.string() })]);
export type Payload = z.infer<typeof payloadSchema>;

export interface QueueNeeds {
  /** Used where given, else `database`. */
  readonly redis: { readonly connection: Redis; readonly prefix: string } | undefined;
  readonly database: pg.PoolConfig;
  readonly log: Logger;
}

/** What a processor answers: the job is over, or comes again. */
export type Processed = { readonly status: 'over' } | { readonly status: 'again'; readonly inMs: number };

export type Processor = (name: string, payload: Payload, signal: AbortSignal) => Promise<Processed>;

export interface Queue {
  /** Adds a job unless one of this id is there already. */
  add(name: string, payload: Payload, options: { id: string; isUrgent: boolean }): Promise<void>;
  /** Runs jobs until closed. Closing lets the ones at work finish after their signal was aborted. */
  work(processor: Processor, concurrency: number): { close(): Promise<void> };
  /** Keeps exactly these schedules; each adds a job for its sync when it is due. */
  schedule(schedules: readonly ScheduledSync[]): Promise<void>;
  close(): Promise<void>;
}

export interface ScheduledSync {
  readonly sync: string;
  readonly when: { readonly pattern: string; readonly tz: string } | { readonly every: number };
}

/** The job that a schedule adds. */
export const START_SYNC = 'start-sync';

export function openQueue({ redis, database, log }: QueueNeeds): Queue {
  const { factory, options } = backendOf(redis, database);
  const queue = new BullQueue<Payload, void, string, Payload, void, string, IQueueBackend, unknown>(
    QUEUE,
    options,
    factory,
  );
  queue.on('error', (error: Error) => log.warn({ err: error }, 'the queue reported an error'));

  return {
    async add(name, payload, { id, isUrgent }) {
      await queue.add(name, payload, { jobId: id, ...(isUrgent ? { lifo: true } : {}), ...FORGET });
    },
    work(processor, concurrency) {
      const stop = new AbortController();
      setMaxListeners(0, stop.signal); // every call in flight listens
      const process = async (job: QueuedJob, token?: string) => {
        const processed = await processor(job.name, payloadSchema.parse(job.data), stop.signal);
        if (processed.status === 'over') return;
        // The job keeps its id and spends no attempt; it goes to the end of the line.
        await job.moveToDelayed(Date.now() + Math.ceil(processed.inMs), token);
        throw new DelayedError();
      };
      const settings = {
        ...options,
        concurrency: redis ? concurrency : Math.min(concurrency, MAX_CONCURRENCY_ON_POSTGRES),
        lockDuration: LOCK_MS,
        stalledInterval: LOCK_MS,
        maxStalledCount: 1_000, // the ledger decides when a run has failed, never the queue
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      };
      const worker = new BullWorker<Payload, void, string, IQueueBackend, object, unknown>(
        QUEUE,
        process,
        settings,
        factory,
      );
      worker.on('error', (error: Error) => log.warn({ err: error }, 'the worker reported an error'));
      worker.on('failed', (job, error) => log.error({ err: error, job: job?.name }, 'a job failed'));
      return {
        async close() {
          stop.abort(new Error('the process is shutting down'));
          await worker.close();
        },
      };
    },
    async schedule(schedules) {
      const wanted = new Set(schedules.map(({ sync }) => sync));
      for (const { key } of await queue.getJobSchedulers()) {
        if (!wanted.has(key)) await queue.removeJobScheduler(key);
      }
      for (const { sync, when } of schedules) {
        await queue.upsertJobScheduler(sync, when, { name: START_SYNC, data: { sync }, opts: FORGET });
      }
    },
    close: () => queue.close(),
  };
}

/** Ids are used again, and BullMQ silently ignores a job whose id it still keeps. */
const FORGET = { removeOnComplete: true, removeOnFail: true };

/** Both backends behind one type: each factory is given the connection it takes, two lines below. */
function backendOf(
  redis: QueueNeeds['redis'],
  database: pg.PoolConfig,
): { factory: BackendFactory<IQueueBackend, unknown>; options: { connection: unknown; prefix?: string } } {
  if (redis) {
    const factory = createRedisBackend as BackendFactory<IQueueBackend, unknown>;
    return { factory, options: { connection: redis.connection, prefix: `{${redis.prefix}}` } };
  }
  const connection = { ...database, schema: 'bullmq', migrate: true, max: MAX_CONCURRENCY_ON_POSTGRES + 2 };
  return { factory: createPostgresBackend as BackendFactory<IQueueBackend, unknown>, options: { connection } };
}
