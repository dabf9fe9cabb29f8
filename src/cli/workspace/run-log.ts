/** One line in the log for each run that this process ends or pauses. */
import type { Logger } from 'pino';
import type { Run } from '../../engine/ledger/runs.ts';
import type { RunReport } from '../../operator/report.ts';
import { unconfirmedWords, unsentWords } from '../../operator/run-words.ts';

export function logStop(log: Logger, run: Run, report: RunReport): void {
  const { status, state, durationMs, error } = report;
  const { in: _in, unknown, ...verdicts } = report.counts;
  const { sent = unknown, neverSent = 0 } = report.unsettled ?? {};
  const open = { [unconfirmedWords(report)]: sent, [unsentWords(report)]: neverSent };
  const rows = Object.fromEntries(Object.entries({ ...verdicts, ...open }).filter(([, n]) => n > 0));
  const fields = { sync: run.sync, run: run.id, durationMs, rows };
  if (state === 'awaiting-approval') log.info(fields, 'run waits for approval');
  else if (error) log.warn(fields, `run ${status}: ${error.message}`);
  else log.info(fields, `run ${status}`);
}
