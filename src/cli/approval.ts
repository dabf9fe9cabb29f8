/** Asks a person on a terminal to approve what a run would write. */
import { NOT_APPROVED } from '../engine/ledger/approval.ts';
import { endRun, type Run, resumeRun } from '../engine/ledger/runs.ts';
import type { Session } from './session.ts';
import type { Workspace } from './wire.ts';

/** Returns whether the run continues. Declined, the run is cancelled; without an answer, it stays paused. */
export async function askForApproval(
  session: Session,
  { database: { pool } }: Workspace,
  { id }: Run,
  signal: AbortSignal,
): Promise<'continue' | 'leave'> {
  const answer = await session.ask('Write that?', signal);
  if (answer === 'no')
    await endRun(pool, id, 'cancelled', { code: NOT_APPROVED, message: 'Not approved: nothing was sent.' });
  return answer === 'yes' && (await resumeRun(pool, id)) ? 'continue' : 'leave';
}
