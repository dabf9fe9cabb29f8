/**
 * Attempts that ended without a clear answer: the target may still make the change, after it has shown the earlier state to the
 * next delivery. So a newer delivery of the task waits until that is no longer likely.
 */

/** Longer than the timeouts of common gateways and of the programs behind them. */
const LATE_SECONDS = 60;

/** SQL: until when the target may make the change of an attempt that ended at this time. */
export function unclearUntil(unclearAt: string): string {
  return `${unclearAt} + interval '${LATE_SECONDS} s'`;
}
