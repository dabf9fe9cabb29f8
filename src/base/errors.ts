/**
 * The base of every error Lockstep raises on purpose.
 *
 * `code` is stable and may be branched on; `message` says what failed, where, and the remedy if it is known;
 * `exitCode` is the exit code of the command line (2 usage or settings, 3 the work failed).
 */
export class LockstepError extends Error {
  override readonly name: string = 'LockstepError';
  readonly code: string;
  readonly exitCode: 2 | 3;
  /** HTTP status of the service's answer, if an answer caused the error. */
  readonly httpStatus: number | undefined;

  constructor(code: string, message: string, options: { cause?: unknown; exitCode?: 2 | 3; httpStatus?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.exitCode = options.exitCode ?? 3;
    this.httpStatus = options.httpStatus;
  }
}

/** An error in what was asked for or set: exit code 2. */
export function wrongUse(message: string, code = 'USAGE', cause?: unknown): LockstepError {
  return new LockstepError(code, message, { exitCode: 2, cause });
}

/** The message of anything that was thrown, including the nested errors of undici and pg. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a system, undici, pg or Lockstep error, if it carries one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** For the failure of a read, move or removal: undefined if there is no such file; throws any other failure. */
export function unlessMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}
