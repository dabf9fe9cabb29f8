/** Rows sent over the time of runs. Each reads all attempts of a run, so viewers of the same run share one. */
import type pg from 'pg';
import { type Throughput, throughputOf } from '../engine/ledger/run-figures.ts';
import type { Run } from '../engine/ledger/runs.ts';

/** That of an unfinished run is this old at most. */
const FRESH_MS = 10_000;
const MOST_KEPT = 200;

type Kept = Map<string, { readonly readAtMs: number; readonly throughput: Promise<Throughput | undefined> }>;

const ofPool = new WeakMap<pg.Pool, Kept>();

/** As `throughputOf`. An ended run is read once. */
export function sharedThroughput(pool: pg.Pool, { id, endedAt }: Run): Promise<Throughput | undefined> {
  const kept: Kept = ofPool.get(pool) ?? new Map();
  ofPool.set(pool, kept);
  const key = `${id} ${endedAt?.getTime()}`;
  const known = kept.get(key);
  if (known && (endedAt !== undefined || performance.now() - known.readAtMs < FRESH_MS)) return known.throughput;
  const throughput = throughputOf(pool, id);
  throughput.catch(() => kept.delete(key)); // read again by the next page
  kept.set(key, { readAtMs: performance.now(), throughput });
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return throughput;
}
