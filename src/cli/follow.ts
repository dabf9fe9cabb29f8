/** Follows a run in the ledger, no matter which process works on it, and shows its progress. */
import { pause } from '../base/pause.ts';
import { rowsLeft } from '../engine/ledger/rows.ts';
import { runningPart } from '../engine/ledger/run-parts.ts';
import { type Run, readRun } from '../engine/ledger/runs.ts';
import type { Queryable } from '../storage/queryable.ts';
import type { Output } from './print/output.ts';
import { type KeyNow, type Look, progressLine, withLook } from './print/progress-line.ts';

const LOOK_MS = 200;
/** Looking takes at most this share of the time, however many rows are counted. */
const LOOK_SHARE = 0.1;
/** Without a terminal, a new line is written at most this often. */
const PLAIN_MS = 2_000;

export type ProgressOutput = Pick<Output, 'isLive' | 'columns' | 'live' | 'say'>;

export interface Followed {
  readonly db: Queryable;
  readonly out: ProgressOutput;
  readonly allowedPerSecond: number | undefined;
  /** Of its account; undefined for a run that only delivers. */
  readonly settleMs?: number | undefined;
  /** The budget of the account's key as this process knows it. */
  readonly budget?: () => KeyNow | undefined;
  readonly signal: AbortSignal;
  /** Notes of the run that are not shown again. */
  readonly toldNotes?: readonly string[] | undefined;
  /** Called with the run each time it was read and is still running; `leave` stops following it. */
  readonly onLook?: (run: Run) => Promise<'stay' | 'leave'>;
}

/** Returns the run when it has stopped, when the signal aborts, or when `onLook` returns `leave`. @throws the database's errors */
export async function follow(
  runId: string,
  { db, out, allowedPerSecond, settleMs, budget, signal, toldNotes = [], onLook }: Followed,
): Promise<Run> {
  let looks: readonly Look[] = [];
  const show = progressWriter(out);
  for (;;) {
    const atMs = performance.now();
    const run = await readRun(db, runId);
    if (run.status !== 'running' || signal.aborted) {
      out.live('');
      return run;
    }
    if ((await onLook?.(run)) === 'leave') return run;
    const working = (await runningPart(db, runId)) ?? run;
    const notes = working.notes.filter((note) => !toldNotes.includes(note));
    const left = await rowsLeft(db, working.id);
    looks = withLook(looks, { atMs, run: { ...working, notes }, left, key: budget?.(), settleMs });
    const line = progressLine(looks, allowedPerSecond, out.columns);
    if (line !== undefined) show(line);
    const tookMs = performance.now() - atMs;
    await pause(Math.max(LOOK_MS, tookMs / LOOK_SHARE), signal);
  }
}

function progressWriter(out: ProgressOutput): (line: string) => void {
  if (out.isLive) return (line) => out.live(line);
  let last = '';
  let writtenAtMs = performance.now(); // a short run needs no progress
  return (line) => {
    if (line === last || performance.now() - writtenAtMs < PLAIN_MS) return;
    out.say(line);
    last = line;
    writtenAtMs = performance.now();
  };
}
