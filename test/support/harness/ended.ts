import { vi } from 'vitest';
import { type Run, readRun } from '../../../src/engine/ledger/runs.ts';
import type { FreshDatabase } from '../database.ts';

/** How far a run is. */
export type Progress = Pick<Run, 'status' | 'phase'>;

/**
 * Waits until a run has stopped: by default, until it is not running any more. Works in concurrent tests too, unlike
 * `expect.poll`. Many wait at the same time, so they do not look often, throw nothing in between, and read the run at the end only.
 */
export function ended(
  { pool }: Pick<FreshDatabase, 'pool'>,
  runId: string,
  { hasStopped = ({ status }: Progress) => status !== 'running', timeout = 100_000 } = {},
): Promise<Run> {
  const progress = { name: 'progress', text: 'select status, phase from ledger.runs where id = $1', values: [runId] };
  const stopped = async () => {
    const { rows } = await pool.query<Progress>(progress);
    return (rows[0] === undefined || hasStopped(rows[0])) && readRun(pool, runId); // which fails if there is no such run
  };
  return vi.waitUntil(stopped, { timeout, interval: 40 });
}
