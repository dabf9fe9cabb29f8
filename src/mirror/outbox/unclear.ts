/**
 * Attempts that ended without a clear answer: the target may still make the change, after it has shown the earlier state to the
 * next delivery. So a newer delivery of the task waits until that is no longer likely.
 */

/** Longer than the timeouts of common gateways and of the programs behind them. */
const LATE_SECONDS = 60;

/** The call has left, and the target may still work on it. */
const UNCLEAR: ReadonlySet<string> = new Set(['TIMEOUT', 'BROKEN_OFF', 'SERVER_ERROR', 'ABORTED']);

export function isUnclear(reason: string | undefined): boolean {
  return reason !== undefined && UNCLEAR.has(reason);
}

/** SQL: until when the target may make the change of an attempt that ended at this time. */
export function unclearUntil(unclearAt: string): string {
  return `${unclearAt} + interval '${LATE_SECONDS} s'`;
}
