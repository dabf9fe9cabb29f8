/** The states of jobs, in words. */
import type { QueueState } from '../engine/worker/queue.ts';

export const QUEUE_WORDS: Readonly<Record<QueueState, string>> = {
  active: 'Being worked on',
  prioritized: 'Waiting for a worker',
  delayed: 'Waiting for a time',
};
