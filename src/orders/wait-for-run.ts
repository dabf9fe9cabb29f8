/**
 * A load that waits for another run: it calls nothing meanwhile, looks ever more rarely, says which run it waits for, and
 * pauses with the name of a run that is at a standstill.
 */
import { isAttended } from '../engine/ledger/attended.ts';
import { addNote, type Queryable, type Run, readRun } from '../engine/ledger/runs.ts';
import { WAITS_FOR_RUN } from '../engine/ledger/waiting.ts';
import type { JobResult } from '../worker/job.ts';
import { RunPaused } from '../worker/trouble.ts';
import type { Place } from './place.ts';

const FIRST_LOOK_MS = 500;
const LONGEST_LOOK_MS = 10_000;

/** A place that waits for a run from now on. */
export function waitingFor(place: Place, runId: string): Place {
  return { ...place, waits: { run: runId, sinceMs: Date.now() } };
}

/**
 * How the load goes on while it waits; undefined where it waits for no run, or that run has ended.
 * @throws RunPaused where the other run is paused, or no process works on it
 */
export async function whileWaiting(db: Queryable, run: Run, { waits }: Place): Promise<JobResult | undefined> {
  if (waits === undefined) return undefined;
  const other = await readRun(db, waits.run);
  const words = `run ${other.id} of ${other.title}, which writes the same ${whatOf(other)}`;
  if (other.status === 'paused') throw standsStill(run, other, `${words} and is paused: ${other.error ?? 'no reason'}`);
  if (other.status !== 'running') return undefined;
  if (!(await isAttended(db, other.id)))
    throw standsStill(run, other, `${words} and is unfinished, and no process works on it`);
  await addNote(db, run.id, `waited for ${words}`);
  const waitedMs = Math.max(0, Date.now() - waits.sinceMs);
  return { status: 'again', inMs: Math.min(LONGEST_LOOK_MS, Math.max(FIRST_LOOK_MS, waitedMs / 4)) };
}

function whatOf({ resource }: Run): string {
  return resource === 'customers' ? 'customers' : 'orders';
}

function standsStill(run: Run, other: Run, words: string): RunPaused {
  const message = `It waits for ${words.replace(/\.+$/, '')}. Resume that run first: lockstep runs resume ${other.id}. Then: lockstep runs resume ${run.id} (lockstep start does that by itself).`;
  return new RunPaused(WAITS_FOR_RUN, message);
}
