import { vi } from 'vitest';
import { type Run, readRun } from '../../../src/engine/ledger/runs.ts';
import type { FreshDatabase } from '../database.ts';

/**
 * Waits until a run has stopped: by default, until it is not running any more. Works in concurrent tests too, unlike
 * `expect.poll`. Many wait at the same time, so they do not look often, and throw nothing in between.
 */
export function ended(
  { pool }: Pick<FreshDatabase, 'pool'>,
  runId: string,
  { hasStopped = ({ status }: Run) => status !== 'running', timeout = 100_000 } = {},
): Promise<Run> {
  const stopped = async () => {
    const run = await readRun(pool, runId);
    return hasStopped(run) && run;
  };
  return vi.waitUntil(stopped, { timeout, interval: 40 });
}
