/** A problem for tests of alerts. */
import type { Problem } from '../../../src/operator/alerts/problem.ts';

export const FAILED_RUN: Problem = {
  event: 'run-failed',
  subject: 'nightly',
  what: 'run run-1 of nightly',
  why: 'failed (key refused)',
  cause: 'KEY_REFUSED',
  since: new Date('2026-11-21T02:00:05Z'),
  isPassing: false,
  command: 'runs show run-1',
  sync: 'nightly',
  run: 'run-1',
};
