/** The common part of sending jobs: sends the run's ready rows, then continues with the job that reads them back. */
import type { Stop } from '../account/failure.ts';
import { systemClock } from '../dispatch/clock.ts';
import { dispatch } from '../dispatch/dispatcher.ts';
import type { Ended } from '../dispatch/source.ts';
import { claimTtlMs } from '../ledger/claims.ts';
import { isAnyToSend } from '../ledger/rows.ts';
import type { JobContext, JobResult } from './job.ts';
import { rowSource, type SendRow } from './row-source.ts';

/** After about this long a job frees its slot for other runs; jobs of one run do so at different times. */
const SLICE_MS = 20_000;
const SPREAD = 0.25;
const GATHER_MS = 200;
const MOST_AHEAD = 400;

/** Sends until no row is ready, its time slice is over, or it is stopped; job `next` continues once all rows are sent. */
export async function sendReady(context: JobContext<unknown>, send: SendRow, next: string): Promise<JobResult> {
  const { pool, run } = context;
  const ended = await sendRows(context, send);
  if (ended.status === 'stopped') return ended;
  if (ended.status === 'more' || ended.status === 'lost') return { status: 'again', inMs: 0 };
  return (await isAnyToSend(pool, run.id)) ? { status: 'idle' } : { status: 'next', job: next };
}

/** Sends the run's ready rows for a while. */
export function sendRows(context: JobContext<unknown>, send: SendRow): Promise<Ended<Stop>> {
  const { account, signal, log } = context;
  // As many rows as the budget allows in two seconds, so a slow key does not hold rows that it cannot send.
  const ahead = Math.max(1, Math.min(MOST_AHEAD, Math.ceil(account.ratePerSecond * 2)));
  return dispatch(rowSource(context, send), {
    ttlMs: claimTtlMs(account.timeoutMs),
    timeoutMs: account.timeoutMs,
    concurrency: account.concurrency,
    portion: { least: ahead, most: ahead },
    gatherMs: GATHER_MS,
    whenDry: 'end',
    sliceMs: SLICE_MS * (1 + SPREAD * (2 * Math.random() - 1)),
    clock: systemClock,
    signal,
    log,
  });
}
