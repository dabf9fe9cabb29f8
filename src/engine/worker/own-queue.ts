/**
 * The in-memory queue of a process that works only on its own runs, such as a command in the foreground. It takes no jobs
 * from the shared queue, and leaves none there when it is killed.
 */
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import type { Payload, Processor, Queue } from './queue.ts';

interface QueuedJob {
  readonly id: string;
  readonly name: string;
  readonly payload: Payload;
  readonly isUrgent: boolean;
}

interface Worker {
  readonly processor: Processor;
  readonly stop: AbortController;
  readonly atWork: Set<Promise<void>>;
  readonly concurrency: number;
}

export function createOwnQueue({ log }: { readonly log: Logger }): Queue {
  /** Waiting, delayed and active jobs. */
  const known = new Set<string>();
  const waiting: QueuedJob[] = [];
  const delayed = new Set<NodeJS.Timeout>();
  const workers = new Set<Worker>();

  function begin(): void {
    for (const worker of workers) {
      while (worker.atWork.size < worker.concurrency) {
        const job = waiting.shift();
        if (!job) return;
        const working = perform(worker, job).finally(() => {
          worker.atWork.delete(working);
          begin();
        });
        worker.atWork.add(working);
      }
    }
  }

  function lineUp(job: QueuedJob): void {
    if (job.isUrgent) waiting.unshift(job);
    else waiting.push(job);
    begin();
  }

  async function perform({ processor, stop }: Worker, job: QueuedJob): Promise<void> {
    try {
      const processed = await processor(job.name, job.payload, stop.signal);
      if (processed.status === 'again') delayFor(job, processed.inMs);
      else known.delete(job.id);
    } catch (error) {
      known.delete(job.id);
      log.error({ err: error, job: job.name }, 'a job failed');
    }
  }

  function delayFor(job: QueuedJob, inMs: number): void {
    const timer = setTimeout(() => {
      delayed.delete(timer);
      lineUp(job);
    }, inMs);
    delayed.add(timer);
  }

  return {
    async add(name, payload, { id, isUrgent }) {
      if (known.has(id)) return;
      known.add(id);
      lineUp({ id, name, payload, isUrgent });
    },
    async limitDelays() {}, // its delays are on a clock that cannot be set
    work(processor, concurrency) {
      const worker: Worker = { processor, concurrency, stop: new AbortController(), atWork: new Set() };
      setMaxListeners(0, worker.stop.signal); // every call in flight listens
      workers.add(worker);
      begin();
      return {
        async close() {
          workers.delete(worker);
          worker.stop.abort(new Error('the process is shutting down'));
          await Promise.all(worker.atWork);
        },
      };
    },
    async close() {
      for (const timer of delayed) clearTimeout(timer);
    },
  };
}
