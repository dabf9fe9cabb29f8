import { expect, vi } from 'vitest';
import { type Run, readRun } from '../../../src/engine/ledger/runs.ts';
import type { FreshDatabase } from '../database.ts';

/** Waits until a run is not running any more. Works in concurrent tests too, unlike `expect.poll`. */
export async function ended({ pool }: Pick<FreshDatabase, 'pool'>, runId: string): Promise<Run> {
  return vi.waitFor(
    async () => {
      const run = await readRun(pool, runId);
      expect(run.status).not.toBe('running');
      return run;
    },
    { timeout: 60_000, interval: 20 },
  );
}
