/** `runs retry` of a load: opens it again for the rows that failed, and follows it. */
import { type Run, readRun } from '../../engine/ledger/runs.ts';
import { reopenLoad } from '../../orders/reopen.ts';
import { carryAndReport } from '../carry.ts';
import { type ExitCode, wrongUse } from '../errors.ts';
import type { Session } from '../session.ts';
import type { Workspace } from '../wire.ts';
import { plural } from '../words.ts';

export async function retryLoad(
  session: Session,
  workspace: Workspace,
  { id, status, dryRun, title }: Run,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { pool } = workspace.database;
  const { hint, out } = session;
  if (status === 'running' || status === 'paused') {
    throw wrongUse(`Run ${id} is unfinished. Go on with it: ${hint(`runs resume ${id}`)}`, 'RUN_UNFINISHED');
  }
  if (dryRun) throw wrongUse(`Run ${id} was a dry run: nothing was sent, so nothing has failed.`, 'RUN_WAS_DRY');
  const againSince = new Date();
  const rows = await reopenLoad(pool, id);
  if (rows === 0) throw wrongUse(`Nothing failed in run ${id}: there is nothing to try again.`, 'NOTHING_FAILED');
  out.say(`Run ${id} of ${title} is open again: ${plural(rows, 'row')} to try once more.`);
  return carryAndReport(session, workspace, await readRun(pool, id), { signal, isOurs: true, againSince });
}
