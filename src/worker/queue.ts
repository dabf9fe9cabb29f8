/**
 * The queue: BullMQ on Redis where there is one, else on its Postgres backend. It only calls jobs; what is to be done is
 * in the ledger, so a queue that was lost is filled again from there.
 */
import { setMaxListeners } from 'node:events';
import {
  Queue as BullQueue,
  Worker as BullWorker,
  DelayedError,
  type IQueueBackend,
  type Job as QueuedJob,
} from 'bullmq';
import { z } from 'zod';
import { backendOf, FORGET, MAX_CONCURRENCY_ON_POSTGRES, type QueueNeeds } from './queue-backend.ts';

const QUEUE = 'lockstep';
/** A worker that stops answering loses its job after this long; the ledger's claims fence what it still does. */
const LOCK_MS = 30_000;

/** The lower number goes first, whenever the job comes again. */
const URGENT = 1;
const NOT_URGENT = 2;
/** Clocks of machines are apart by so much. */
const SKEW_MS = 1_000;

/** Names a run to be carried on. Never a secret. */
const payloadSchema = z.object({ runId: z.string() });
export type Payload = z.infer<typeof payloadSchema>;

/** What a processor answers: the job is over, or comes again. */
export type Processed = { readonly status: 'over' } | { readonly status: 'again'; readonly inMs: number };

export type Processor = (name: string, payload: Payload, signal: AbortSignal) => Promise<Processed>;

export interface Queue {
  /** Adds a job unless one of this id is there already. */
  add(name: string, payload: Payload, options: { id: string; isUrgent: boolean }): Promise<void>;
  /**
   * Lets jobs that were delayed on a clock ahead of this machine's sleep no longer than they were to; to be called every
   * second or so. BullMQ delays a job until a time on the wall clock.
   */
  limitDelays(): Promise<void>;
  /** Runs jobs until closed. Closing lets the ones at work finish after their signal was aborted. */
  work(processor: Processor, concurrency: number): { close(): Promise<void> };
  close(): Promise<void>;
}

export function openQueue({ redis, database, log }: QueueNeeds): Queue {
  const { factory, options } = backendOf({ redis, database });
  const queue = new BullQueue<Payload, void, string, Payload, void, string, IQueueBackend, unknown>(
    QUEUE,
    options,
    factory,
  );
  queue.on('error', (error: Error) => log.warn({ err: error }, 'the queue reported an error'));
  let limited = new Map<string | undefined, number | undefined>();

  return {
    async add(name, payload, { id, isUrgent }) {
      await queue.add(name, payload, { jobId: id, priority: isUrgent ? URGENT : NOT_URGENT, ...FORGET });
    },
    async limitDelays() {
      const delayed = (await queue.getDelayed()).filter(isFromAhead);
      for (const job of delayed) {
        // Once: its times stay ahead of this clock while it sleeps again.
        if (limited.get(job.id) !== job.processedOn) await job.changeDelay(job.delay).catch(() => undefined); // it runs
      }
      limited = new Map(delayed.map(({ id, processedOn }) => [id, processedOn]));
    },
    work(processor, concurrency) {
      const stop = new AbortController();
      setMaxListeners(0, stop.signal); // every call in flight listens
      const process = async (job: QueuedJob, token?: string) => {
        const processed = await processor(job.name, payloadSchema.parse(job.data), stop.signal);
        if (processed.status === 'over') return;
        // The job keeps its id and spends no attempt; it goes to the end of the line of its priority.
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
    close: () => queue.close(),
  };
}

/** It was begun at a time that is still to come: the clock was set back since, or another machine's is ahead. */
function isFromAhead({ processedOn }: Pick<QueuedJob, 'processedOn'>): boolean {
  return processedOn !== undefined && processedOn > Date.now() + SKEW_MS;
}
