/**
 * The queue: BullMQ on Redis if configured, otherwise on its Postgres backend. It only calls jobs; the work to do is in
 * the ledger, so a lost queue is filled again from there.
 */
import { setMaxListeners } from 'node:events';
import {
  Queue as BullQueue,
  Worker as BullWorker,
  DelayedError,
  type IQueueBackend,
  type Job as QueuedJob,
} from 'bullmq';
import type { Logger } from 'pino';
import { z } from 'zod';
import { pause } from '../../base/pause.ts';
import { type Connecting, FORGET, MAX_CONCURRENCY_ON_POSTGRES, openBackend, type QueueNeeds } from './queue-backend.ts';

const QUEUE = 'lockstep';
/** A worker that does not respond loses its job after this time. The ledger's claims block its late writes. */
const LOCK_MS = 30_000;
/** A worker rests after an error. */
const REST_MS = 1_000;

/** Jobs with a lower number run first. */
const URGENT = 1;
const NOT_URGENT = 2;
/** Clocks of machines differ by this much. */
const SKEW_MS = 1_000;

/** Names the run to continue. Never contains a secret. */
const payloadSchema = z.object({ runId: z.string() });
export type Payload = z.infer<typeof payloadSchema>;

/** A processor's answer: the job is over, or runs again. */
export type Processed = { readonly status: 'over' } | { readonly status: 'again'; readonly inMs: number };

export type Processor = (name: string, payload: Payload, signal: AbortSignal) => Promise<Processed>;

export interface Queue {
  /** Adds a job unless the queue has one with this id. */
  add(name: string, payload: Payload, options: { id: string; isUrgent: boolean }): Promise<void>;
  /**
   * Shortens delays that were set on a clock ahead of this machine's; call it about every second. BullMQ delays a job
   * until a time on the wall clock.
   */
  limitDelays(): Promise<void>;
  /** Runs jobs until closed. Closing aborts the signal of active jobs and waits for them. */
  work(processor: Processor, concurrency: number): { close(): Promise<void> };
  close(): Promise<void>;
}

type Worker = BullWorker<Payload, void, string, IQueueBackend, object, unknown>;

export interface SharedQueue extends Queue {
  /** The number of jobs by state; rejects if the queue cannot be reached. */
  depth(): Promise<Readonly<Record<string, number>>>;
  /** The jobs of a state, at most `limit`: those that started or start first. */
  jobs(state: QueueState, limit: number): Promise<readonly ListedJob[]>;
  /** BullMQ's own queue, for Bull Board; rejects if the queue cannot be reached. */
  bull(): Promise<BullQueue>;
}

/** Every job has a priority, so `prioritized` are those that wait for a worker. */
export const QUEUE_STATES = ['active', 'prioritized', 'delayed'] as const;
export type QueueState = (typeof QUEUE_STATES)[number];

export interface ListedJob {
  /** The phase of the run that it works on. */
  readonly name: string;
  readonly run: string;
  readonly isUrgent: boolean;
  readonly addedAt: Date;
  /** When a delayed job is due. */
  readonly dueAt: Date | undefined;
  /** When a worker last began to work on it. */
  readonly startedAt: Date | undefined;
  /** How often its worker stopped responding. */
  readonly stalls: number;
}

export function openQueue({ redis, database, log }: QueueNeeds): SharedQueue {
  const { factory, options, connecting, close } = openBackend({ redis, database });
  const queue = connecting(() => {
    const made = new BullQueue<Payload, void, string, Payload, void, string, IQueueBackend, unknown>(
      QUEUE,
      options,
      factory,
    );
    return made.on('error', (error: Error) => log.warn({ err: error }, 'the queue reported an error'));
  });
  let limited = new Map<string | undefined, number | undefined>();

  return {
    async add(name, payload, { id, isUrgent }) {
      await (await queue.ready()).add(name, payload, {
        jobId: id,
        priority: isUrgent ? URGENT : NOT_URGENT,
        ...FORGET,
      });
    },
    depth: async () => (await queue.ready()).getJobCounts(...QUEUE_STATES),
    async jobs(state, limit) {
      const jobs = await (await queue.ready()).getJobs([state], 0, limit - 1, true);
      return jobs.map((job) => listed(state, job));
    },
    bull: queue.ready as () => Promise<BullQueue>, // safe: only the type of its connection differs
    async limitDelays() {
      const delayed = (await (await queue.ready()).getDelayed()).filter(isFromAhead);
      for (const job of delayed) {
        // Only once: its times stay ahead of this clock during the new delay.
        if (limited.get(job.id) !== job.processedOn) await job.changeDelay(job.delay).catch(() => undefined); // it runs
      }
      limited = new Map(delayed.map(({ id, processedOn }) => [id, processedOn]));
    },
    work(processor, concurrency) {
      const stop = new AbortController();
      setMaxListeners(0, stop.signal); // every call in flight listens
      const active = new Set<Promise<Processed>>();
      const process = async (job: QueuedJob, token?: string) => {
        const processing = processor(job.name, payloadSchema.parse(job.data), stop.signal);
        active.add(processing);
        const processed = await processing.finally(() => active.delete(processing));
        if (processed.status === 'over') return;
        // The job keeps its id and spends no attempt; it goes to the end of the queue of its priority.
        await job.moveToDelayed(Date.now() + Math.ceil(processed.inMs), token);
        throw new DelayedError();
      };
      const settings = {
        ...options,
        autorun: false,
        concurrency: redis ? concurrency : Math.min(concurrency, MAX_CONCURRENCY_ON_POSTGRES),
        lockDuration: LOCK_MS,
        stalledInterval: LOCK_MS,
        maxStalledCount: 1_000, // the ledger, not the queue, decides when a run has failed
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      };
      const make = () => {
        const made = new BullWorker<Payload, void, string, IQueueBackend, object, unknown>(
          QUEUE,
          process,
          settings,
          factory,
        );
        made.on('failed', (job, error) => log.error({ err: error, job: job?.name }, 'a job failed'));
        return made.on('error', (error) => {
          log.warn({ err: error }, 'the worker reported an error');
          if (!stop.signal.aborted) rest(made);
        });
      };
      const working = keepWorking(connecting(make), stop.signal, log);
      return {
        async close() {
          stop.abort(new Error('the process is shutting down'));
          // BullMQ's worker does not close while Redis is away; the ledger has what the jobs have done.
          await (redis ? redis.withoutWaiting(working.close()) : working.close());
          await Promise.allSettled(active);
        },
      };
    },
    async close() {
      await queue.close();
      await close();
    },
  };
}

/** Runs a worker until it is closed. */
function keepWorking(worker: Connecting<Worker>, stop: AbortSignal, log: Logger): { close(): Promise<void> } {
  const run = async (): Promise<void> => {
    while (!stop.aborted) {
      try {
        return await (await worker.ready()).run();
      } catch (error) {
        if (!stop.aborted) log.warn({ err: error }, 'the worker could not connect to the queue');
        await pause(REST_MS, stop);
      }
    }
  };
  void run();
  return { close: worker.close };
}

/** BullMQ asks for the next job at once after an error, so the worker rests for a moment. The jobs that it has continue. */
function rest(worker: Worker): void {
  if (worker.isPaused()) return;
  void worker.pause(true);
  setTimeout(() => void worker.resume(), REST_MS).unref();
}

function listed(state: QueueState, job: QueuedJob): ListedJob {
  const { name, data, priority, timestamp, delay, processedOn, stalledCounter } = job;
  return {
    name,
    run: payloadSchema.parse(data).runId,
    isUrgent: priority === URGENT,
    addedAt: new Date(timestamp),
    // A job that is delayed counts from when its worker left it, soon after it began.
    dueAt: state === 'delayed' ? new Date((processedOn ?? timestamp) + delay) : undefined,
    startedAt: processedOn === undefined ? undefined : new Date(processedOn),
    stalls: stalledCounter,
  };
}

/** Its start time is in the future: the clock was set back since, or another machine's clock is ahead. */
function isFromAhead({ processedOn }: Pick<QueuedJob, 'processedOn'>): boolean {
  return processedOn !== undefined && processedOn > Date.now() + SKEW_MS;
}
