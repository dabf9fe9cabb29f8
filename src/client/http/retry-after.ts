/** How long a service asks callers to wait. Pure: headers and the time in, milliseconds out. */

const SECOND = 1000;
/** Without a readable Retry-After (RFC 9110, 10.2.3). */
const DEFAULT_RETRY_AFTER_MS = SECOND;
/** The longest a service, or a wrong header, may stop an account at a time. */
const MAX_RETRY_AFTER_MS = 15 * 60 * SECOND;

interface RetryAfterHeaders {
  /** Seconds, or an HTTP date. */
  readonly retryAfter: string | undefined;
  /** The service's own clock; its Retry-After date is measured against it if both are readable. */
  readonly date: string | undefined;
}

/** `nowMs` is epoch time. A malformed header counts as missing, and so does no wait: limiters round the rest of a second to 0. */
export function retryAfterMs({ retryAfter, date }: RetryAfterHeaders, nowMs: number): number {
  const text = retryAfter?.trim() ?? '';
  const until = httpDate(text) ?? Number.NaN;
  const waitMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * SECOND : until - (httpDate(date ?? '') ?? nowMs);
  return waitMs > 0 ? Math.min(waitMs, MAX_RETRY_AFTER_MS) : DEFAULT_RETRY_AFTER_MS;
}

/** Date.parse accepts too much, such as "-5"; all three forms of an HTTP date begin with a weekday. */
function httpDate(text: string): number | undefined {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}
