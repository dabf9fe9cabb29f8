/** What every sending job does: sends the run's ready rows, and hands over to the job that reads them back. */
import { systemClock } from '../engine/dispatch/clock.ts';
import { dispatch } from '../engine/dispatch/dispatcher.ts';
import type { Ended } from '../engine/dispatch/source.ts';
import { claimTtlMs } from '../engine/ledger/claims.ts';
import { openRows } from '../engine/ledger/rows.ts';
import { markTrouble } from '../engine/ledger/runs.ts';
import type { JobContext, JobResult } from './job.ts';
import { rowSource, type SendRow } from './row-source.ts';
import type { Stop } from './trouble.ts';

/** After about this long a job gives its slot to other runs; not all jobs of a run at once. */
const SLICE_MS = 20_000;
const SPREAD = 0.25;
const GATHER_MS = 200;
const MOST_AHEAD = 400;

/** Sends until no row is ready, its time slice is over, or something stops it; `next` goes on once all are sent. */
export async function sendReady(context: JobContext<unknown>, send: SendRow, next: string): Promise<JobResult> {
  const { pool, run } = context;
  let isAnswering = false;
  const ended = await sendRows(context, async (row, how) => {
    const sent = await send(row, how);
    isAnswering ||= sent.result.outcome === 'acked' || sent.result.verdict !== undefined;
    return sent;
  });
  if (ended.status === 'stopped') {
    if (isAnswering) await markTrouble(pool, run.id, false); // a service that comes and goes is not one that stays away
    return ended;
  }
  if (ended.status === 'more' || ended.status === 'lost') return { status: 'again', inMs: 0 };
  const open = await openRows(pool, run.id);
  return open.ready + open.intent === 0 ? { status: 'next', job: next } : { status: 'idle' };
}

/** Sends the run's ready rows for a while. */
export function sendRows(context: JobContext<unknown>, send: SendRow): Promise<Ended<Stop>> {
  const { account, signal, log } = context;
  // As many as the budget lets through in two seconds: a slow key does not hold rows it cannot send.
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
