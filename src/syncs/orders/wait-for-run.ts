/**
 * A load that waits for another run: it makes no calls, checks at growing intervals, names the run in its notes, and pauses
 * with that name if the other run is not continuing.
 */
import { RunPaused } from '../../engine/account/failure.ts';
import { isAttended } from '../../engine/ledger/attended-runs.ts';
import { runRemedy } from '../../engine/ledger/run-remedy.ts';
import { addNote, type Run, readRun } from '../../engine/ledger/runs.ts';
import { WAITS_FOR_RUN } from '../../engine/ledger/waiting-runs.ts';
import type { JobResult } from '../../engine/worker/job.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { LoadCheckpoint } from './load-checkpoint.ts';

const FIRST_LOOK_MS = 500;
const LONGEST_LOOK_MS = 10_000;

export function waitingFor(checkpoint: LoadCheckpoint, runId: string): LoadCheckpoint {
  return { ...checkpoint, waits: { run: runId, sinceMs: Date.now() } };
}

/**
 * How the load continues while it waits; undefined if it waits for no run, or that run has ended.
 * @throws RunPaused if the other run is paused, or no process works on it
 */
export async function whileWaiting(db: Queryable, run: Run, { waits }: LoadCheckpoint): Promise<JobResult | undefined> {
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
  const why = words.replace(/\.+$/, '');
  const then = `Then: \`lockstep runs resume ${run.id}\` (\`lockstep start\` does that by itself).`;
  const { remedy, command } = runRemedy(other);
  const isReplaceable = other.type === 'orders' && command !== `runs cancel ${other.id}`;
  const cancel = isReplaceable
    ? ` If your file replaces the one of that load, cancel that load instead: \`lockstep runs cancel ${other.id}\`.`
    : '';
  const message = `It waits for ${why}. ${remedy}: \`lockstep ${command}\`.${cancel} ${then}`;
  return new RunPaused(WAITS_FOR_RUN, message);
}
