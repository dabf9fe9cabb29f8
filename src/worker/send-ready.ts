/** What every sending job does: pumps the run's ready rows, and hands over to the job that reads them back. */
import { openRows } from '../engine/ledger/rows.ts';
import { markTrouble } from '../engine/ledger/runs.ts';
import type { JobContext, JobResult } from './job.ts';
import { pump, type SendRow } from './pump.ts';

/** Sends until no row is ready, its time slice is over, or something stops it; `next` goes on once all are sent. @throws Stop */
export async function sendReady(context: JobContext<unknown>, send: SendRow, next: string): Promise<JobResult> {
  const { pool, run } = context;
  let isAnswering = false;
  const pumped = await pump(context, async (row, how) => {
    const sent = await send(row, how);
    isAnswering ||= sent.result.outcome === 'acked' || sent.result.verdict !== undefined;
    return sent;
  });
  if (pumped.status === 'stopped') {
    if (isAnswering) await markTrouble(pool, run.id, false); // a service that comes and goes is not one that stays away
    throw pumped.cause;
  }
  if (pumped.status === 'more') return { status: 'again', inMs: 0 };
  const open = await openRows(pool, run.id);
  return open.ready + open.intent === 0 ? { status: 'next', job: next } : { status: 'idle' };
}
