/** The demo's load of orders: how the file was understood, and what became of its rows. */
import os from 'node:os';
import path from 'node:path';
import type { Run } from '../../engine/ledger/runs.ts';
import { LockstepError } from '../../errors.ts';
import { receiveLoad } from '../../orders/receive-load.ts';
import { carryRun } from '../carry.ts';
import { FAILED } from '../errors.ts';
import { sheetLines } from '../orders/sheet-lines.ts';
import { hintsFor, rowLine } from '../reasons.ts';
import { figures } from '../report.ts';
import { firstRows, PROBLEMS, type RunReport, reportRun } from '../run-report.ts';
import type { Session } from '../session.ts';
import type { Workspace } from '../wire.ts';

const EXAMPLES = 5;

/** Works on a run until it is done. @throws LockstepError the run's own, or DEMO_STOPPED */
export async function carryToEnd(session: Session, workspace: Workspace, begun: Run, signal: AbortSignal) {
  const carried = await carryRun(session, workspace, begun, { signal, isOurs: true });
  const { status, error = 'The demo was stopped.', errorCode = 'DEMO_STOPPED' } = carried.run;
  if (status !== 'done') throw new LockstepError(errorCode, error, { exitCode: FAILED });
  return carried;
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
  const { run, report } = await carryToEnd(session, workspace, begun.run, signal);
  out.say(...figures(report, run.notes), '  Every row that was not loaded has its reason:');
  for (const verdict of PROBLEMS) {
    const rows = await firstRows(pool, run.id, EXAMPLES, verdict);
    out.say(...rows.map((row) => `  ${rowLine(row, hintsFor(session.hint, run))}`));
  }
  return report;
}
