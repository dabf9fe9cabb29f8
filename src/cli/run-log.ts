/** One line in the log for each run that this process ends or pauses. */
import type { Logger } from 'pino';
import type { Run } from '../engine/ledger/runs.ts';
import type { RunReport } from '../operator/run-result.ts';

export function logStop(log: Logger, run: Run, { status, state, counts, durationMs, error }: RunReport): void {
  const { in: _in, ...verdicts } = counts;
  const rows = Object.fromEntries(Object.entries(verdicts).filter(([, n]) => n > 0));
  const fields = { sync: run.sync, run: run.id, durationMs, rows };
  if (state === 'awaiting-approval') log.info(fields, 'run awaits approval');
  else if (error) log.warn(fields, `run ${status}: ${error.message}`);
  else log.info(fields, `run ${status}`);
}
