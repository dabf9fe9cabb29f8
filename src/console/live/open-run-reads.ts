/** Counts of an unfinished run, which take the longer the larger it is: all who ask share them. */
import type { Run } from '../../engine/ledger/runs.ts';
import { sharedRead } from './shared-reads.ts';

/** How much older than a slow count may be shown while it is made again. */
export const SLOW_COUNTS_MS = 60_000;

interface CountsOf<Value> {
  readonly run: Run;
  readonly read: () => Promise<Value>;
  readonly freshMs?: number;
}

/** Read again once the run is in another state; never shared after its end. Reads that have the same owner and name are the same. */
export function sharedWhileOpen<Value>(
  owner: object,
  what: string,
  { run, read, freshMs = 0 }: CountsOf<Value>,
): Promise<Value> {
  const { id, status, phase, errorCode, attendedAt, endedAt } = run;
  if (endedAt !== undefined) return read();
  const key = [what, id, status, phase, errorCode, attendedAt === undefined].join(' ');
  return sharedRead(owner, key, read, { freshMs, slowMs: SLOW_COUNTS_MS });
}
