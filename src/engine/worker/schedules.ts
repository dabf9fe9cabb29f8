/**
 * The schedules of syncs, in a separate queue: a process that only continues runs, such as a command in the foreground,
 * uses another queue and starts no due syncs. The job of a due sync waits for a process that starts syncs.
 */
import { Queue as BullQueue, Worker as BullWorker, type IQueueBackend } from 'bullmq';
import { z } from 'zod';
import { backendOf, FORGET, type QueueNeeds } from './queue-backend.ts';

const QUEUE = 'lockstep-schedules';
const START = 'start-sync';
/** How often to check whether the clock was set back; smaller differences are normal between machines. */
const CHECK_MS = 10_000;
const SKEW_MS = 60_000;
/** Starting a sync is quick: a process that is killed meanwhile delays its schedule by at most twice this time. */
const LOCK_MS = 2_000;
const payloadSchema = z.object({ sync: z.string() });
type Payload = z.infer<typeof payloadSchema>;

export interface ScheduledSync {
  readonly sync: string;
  readonly when: { readonly pattern: string; readonly tz: string } | { readonly every: number };
}

export interface Schedules {
  /**
   * Replaces the schedules with these; each starts its sync when it is due. A sync that was due several times while no
   * process was starting syncs is started once.
   */
  keep(schedules: readonly ScheduledSync[]): Promise<void>;
  /** Starts due syncs until closed, each in one of the processes that do so. */
  beginDue(begin: (sync: string) => Promise<void>): { close(): Promise<void> };
  close(): Promise<void>;
}

export function openSchedules({ redis, database, log }: QueueNeeds, checkMs = CHECK_MS): Schedules {
  const { factory, options } = backendOf({ redis, database });
  const queue = new BullQueue<Payload, void, string, Payload, void, string, IQueueBackend, unknown>(
    QUEUE,
    options,
    factory,
  );
  queue.on('error', (error: Error) => log.warn({ err: error }, 'the schedules reported an error'));

  /** Plans a schedule again if its next time was planned before the clock was set back. */
  async function planAgain(): Promise<void> {
    const ahead = (await queue.getDelayed()).filter(({ timestamp }) => timestamp > Date.now() + SKEW_MS);
    for (const { repeatJobKey, data } of ahead) {
      const when = repeatJobKey && (await queue.getJobScheduler(repeatJobKey));
      if (!when) continue;
      await queue.removeJobScheduler(repeatJobKey);
      await queue.upsertJobScheduler(repeatJobKey, whenOf(when), { name: START, data, opts: FORGET });
    }
  }

  return {
    async keep(schedules) {
      const wanted = new Map(schedules.map(({ sync, when }) => [sync, when]));
      const kept = new Set<string>();
      const waiting = new Set((await queue.getJobs()).map(({ repeatJobKey }) => repeatJobKey));
      for (const { key, ...when } of await queue.getJobSchedulers()) {
        const now = wanted.get(key);
        if (now === undefined) await queue.removeJobScheduler(key);
        else if (waiting.has(key) && isSame(now, when)) kept.add(key);
      }
      for (const { sync, when } of schedules) {
        if (kept.has(sync)) continue; // adding it again would lose a due time that no process has handled yet
        await queue.upsertJobScheduler(sync, when, { name: START, data: { sync }, opts: FORGET });
      }
    },
    beginDue(begin) {
      const worker = new BullWorker<Payload, void, string, IQueueBackend, object, unknown>(
        QUEUE,
        (job) => begin(payloadSchema.parse(job.data).sync),
        {
          ...options,
          lockDuration: LOCK_MS,
          stalledInterval: LOCK_MS,
          maxStalledCount: 1_000, // giving up a job would drop its schedule's next job
          removeOnComplete: { count: 0 },
          removeOnFail: { count: 0 },
        },
        factory,
      );
      worker.on('error', (error: Error) => log.warn({ err: error }, 'the worker of schedules reported an error'));
      worker.on('failed', (job, error) => log.error({ err: error, sync: job?.data.sync }, 'a sync was not started'));
      const checking = setInterval(() => {
        planAgain().catch((error: unknown) => log.warn({ err: error }, 'the schedules could not be checked'));
      }, checkMs);
      return {
        async close() {
          clearInterval(checking);
          await worker.close();
        },
      };
    },
    close: () => queue.close(),
  };
}

type When = ScheduledSync['when'];

function whenOf({ every, pattern = '', tz = 'UTC' }: { every?: number; pattern?: string; tz?: string }): When {
  return every === undefined ? { pattern, tz } : { every };
}

function isSame(
  one: When,
  other: { readonly pattern?: string; readonly tz?: string; readonly every?: number },
): boolean {
  if ('every' in one) return one.every === other.every;
  return one.pattern === other.pattern && one.tz === other.tz;
}
