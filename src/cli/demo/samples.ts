/** The demo's load of orders, and its mirror of tasks: a silent baseline, then a task that the demo completes. */
import os from 'node:os';
import path from 'node:path';
import { plural } from '../../base/counts.ts';
import { LockstepError } from '../../base/errors.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import { hintsFor } from '../../operator/hints.ts';
import type { RunReport } from '../../operator/report.ts';
import { reportRun } from '../../operator/run-report.ts';
import { receiveLoad } from '../../syncs/orders/receive-load.ts';
import { FAILED } from '../errors.ts';
import { problemLines } from '../print/problem-lines.ts';
import { figures } from '../print/run-summary.ts';
import { sheetLines } from '../print/sheet-lines.ts';
import type { Session } from '../session.ts';
import { workOnRun } from '../work-on-run.ts';
import type { Workspace } from '../workspace/open-workspace.ts';
import type { Receiver } from './receiver.ts';
import { MIRROR } from './settings.ts';

/** Works on a run until it is done. @throws LockstepError the error of the run, or DEMO_STOPPED */
export async function workToEnd(session: Session, workspace: Workspace, begun: Run, signal: AbortSignal) {
  const stopped = await workOnRun(session, workspace, begun, { signal, isOurs: true });
  const { status, error = 'The demo was stopped.', errorCode = 'DEMO_STOPPED' } = stopped.run;
  if (status !== 'done') throw new LockstepError(errorCode, error, { exitCode: FAILED });
  return stopped;
}

export async function loadSample(
  session: Session,
  workspace: Workspace,
  file: string,
  signal: AbortSignal,
): Promise<RunReport> {
  const { out } = session;
  const { pool } = workspace.database;
  const lines: string[] = [];
  const { begun } = await receiveLoad(pool, {
    account: await workspace.accounts.open('demo'),
    source: file,
    choices: {},
    options: { existing: 'skip', createCustomers: false, confirm: false },
    lane: 'interactive',
    dryRun: false,
    spoolDir: os.tmpdir(),
    signal,
    onSheet: (sheet, received) => lines.push(...sheetLines(sheet, { ...received, name: path.basename(file) })),
  });
  if (begun.status === 'finished') return reportRun(pool, begun.run, workspace.settings);
  out.say(...lines.map((line) => `  ${line}`));
  const { run, report } = await workToEnd(session, workspace, begun.run, signal);
  out.say(...figures(report, run), ...(await problemLines(pool, report, hintsFor(session.hint, run))));
  return report;
}

/** Runs the sync once and prints the result. */
type RunOnce = (sync: string) => Promise<RunReport>;

export async function mirrorSample(
  { out }: Session,
  workspace: Workspace,
  receiver: Receiver,
  runOnce: RunOnce,
): Promise<{ baseline: RunReport; mirrored: RunReport }> {
  const baseline = await runOnce(MIRROR);
  out.say(
    `  Result: ${plural(receiver.told.length, 'delivery', 'deliveries')}. The first run only records the existing tasks.`,
  );
  const task = await anOpenTask(workspace);
  const { client } = await workspace.accounts.open('demo');
  await client.call('tasks.complete', {
    path: { task_id: task.id },
    body: { isCompleted: true },
    lane: 'interactive',
  });
  out.say('', `6. Completing “${task.title}” through the API, then running the sync again:`);
  const mirrored = await runOnce(MIRROR);
  for (const { id, isGenuine, type, task } of receiver.told)
    out.say(
      `  The receiver got ${type} of “${task.title}”, ${isGenuine ? 'signed' : 'with a wrong signature'}, as ${id}.`,
    );
  return { baseline, mirrored };
}

async function anOpenTask({ database }: Workspace): Promise<{ id: string; title: string }> {
  const found = await database.pool.query<{ id: string; title: string }>(
    `select task_id as id, state->>'title' as title from ledger.tasks
     where sync = $1 and kind = 'task' and not (state->>'isCompleted')::boolean order by task_id::bigint limit 1`,
    [MIRROR],
  );
  const [task] = found.rows;
  if (task) return task;
  throw new LockstepError('DEMO_EMPTY', 'The sample workspace has no open task.');
}
