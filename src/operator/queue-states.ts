/** The jobs that workers share, by state, and the states in words. */
import type { QueueState, SharedQueue } from '../engine/worker/queue.ts';

export const QUEUE_WORDS: Readonly<Record<QueueState, string>> = {
  active: 'Being worked on',
  prioritized: 'Waiting for a worker',
  delayed: 'Waiting for a time',
};

/** How many jobs are in each state, and the first `most` of them. */
export async function readQueue(queue: Pick<SharedQueue, 'depth' | 'jobs'>, most: number) {
  const depth = await queue.depth();
  const states = Object.keys(QUEUE_WORDS) as QueueState[]; // safe: its keys
  return Promise.all(
    states.map(async (state) => ({ state, count: depth[state] ?? 0, jobs: await queue.jobs(state, most) })),
  );
}
