/** Turns anything that was thrown into one message and an exit code. */
import { CommanderError } from 'commander';
import { LockstepError, messageOf } from '../base/errors.ts';
import { capital } from '../base/texts.ts';
import type { RunReport } from '../operator/report.ts';
import { problemsIn } from '../operator/run-report.ts';
import { describeDatabaseError } from '../storage/errors.ts';

/** Done; of a run, every row succeeded. */
export const DONE = 0;
/** Done, but something needs a person: rows were rejected, failed or need review, or the scan is unproven, so records may have been missed. */
export const DONE_WITH_PROBLEMS = 1;
/** Usage or settings error. */
export const WRONG_USE = 2;
/** The run failed, was cancelled or not approved, or is unfinished; or the work could not be done. */
export const FAILED = 3;

export type ExitCode = typeof DONE | typeof DONE_WITH_PROBLEMS | typeof WRONG_USE | typeof FAILED;

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
}

/** Of a command that reports a run. */
export function exitCodeOf({ status, counts, scan }: Pick<RunReport, 'status' | 'counts' | 'scan'>): ExitCode {
  if (status !== 'done') return FAILED;
  return problemsIn(counts) === 0 && scan !== 'unproven' ? DONE : DONE_WITH_PROBLEMS;
}

/** Undefined if nothing failed: commander also throws after help and version. `database`: `Database.describe`, if known. */
export function commandFailure(error: unknown, database: string | undefined): Failure | undefined {
  if (error instanceof CommanderError) return usageFailure(error);
  const described = error instanceof LockstepError ? error : describeDatabaseError(error, database ?? 'the database');
  if (described) return { code: described.code, message: described.message, exitCode: described.exitCode };
  return {
    code: 'UNEXPECTED',
    message: `${messageOf(error)}. This is a defect in Lockstep. Run the command again with --verbose and report the output`,
    exitCode: FAILED,
  };
}

function usageFailure(error: CommanderError): Failure | undefined {
  if (error.exitCode === 0) return undefined;
  const said = error.message
    .replace(/^error: /, '')
    .replace(/\s*\n/g, ' ')
    .trim();
  const message = said === '(outputHelp)' ? 'A command is missing' : capital(said.replace(/\.$/, ''));
  const of = 'helpOf' in error ? `${error.helpOf} ` : '';
  return { code: 'USAGE', message: `${message}. See: lockstep ${of}--help`, exitCode: WRONG_USE };
}
