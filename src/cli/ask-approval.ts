/** Asks a person on a terminal to approve what a run would write. */
import { approveRun, declineRun } from '../engine/ledger/approval.ts';
import type { Run } from '../engine/ledger/runs.ts';
import type { Session } from './session.ts';
import { thisPerson } from './this-person.ts';
import type { Workspace } from './workspace/open-workspace.ts';

/** Returns whether the run continues. If the person declines, the run is cancelled; without an answer, it stays paused. */
export async function askForApproval(
  session: Session,
  { database: { pool } }: Workspace,
  { id, planId }: Run,
  signal: AbortSignal,
): Promise<'continue' | 'leave'> {
  const answer = await session.ask(`Write that? If not, run ${id} ends and nothing is written.`, signal);
  if (answer === 'no') await declineRun(pool, id, thisPerson());
  return answer === 'yes' && (await approveRun(pool, { id, planId }, thisPerson())) ? 'continue' : 'leave';
}
