/**
 * How long a service asks callers to wait. Pure: headers and the time in, milliseconds out. Names of headers are lower-case, as
 * Node gives them:
 *
 * - `retry-after-ms` and `x-ms-retry-after-ms`: milliseconds. Azure sends them, and its SDKs prefer them
 *   (https://github.com/Azure/azure-sdk-for-js, throttlingRetryStrategy.ts).
 * - `retry-after`: seconds, or an HTTP date.
 * - `date`: the service's own clock; the date in Retry-After is measured against it if both are readable.
 */
import type { Head } from './exchange.ts';

type Headers = Head['headers'];

const SECOND = 1000;
/** Without a readable header (RFC 9110, 10.2.3). */
const DEFAULT_RETRY_AFTER_MS = SECOND;
/** The longest a service, or a wrong header, may stop an account at a time. */
const MAX_RETRY_AFTER_MS = 15 * 60 * SECOND;

const IN_MS = ['retry-after-ms', 'x-ms-retry-after-ms'];

/** Whether a service says how long to wait. */
export function asksToWait(headers: Headers): boolean {
  return [...IN_MS, 'retry-after'].some((name) => headers[name] !== undefined);
}

/** `nowMs` is epoch time. A wait of 0 counts as missing: limiters round the rest of a second to 0. */
export function retryAfterMs(headers: Headers, nowMs: number): number {
  return Math.min(namedWaitMs(headers, nowMs) ?? DEFAULT_RETRY_AFTER_MS, MAX_RETRY_AFTER_MS);
}

/** The wait that a service names; undefined if the header is missing or malformed, or the wait is 0 or over. `nowMs`: epoch time. */
export function namedWaitMs(headers: Headers, nowMs: number): number | undefined {
  const textOf = (name: string) => String([headers[name] ?? ''].flat()[0]).trim();
  const text = textOf('retry-after');
  const until = httpDate(text) ?? Number.NaN;
  const untilMs = until - (httpDate(textOf('date')) ?? nowMs);
  const waits = [...IN_MS.map((name) => numberIn(textOf(name))), numberIn(text) * SECOND, untilMs];
  return waits.find((ms) => ms > 0);
}

function numberIn(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
}

/** Date.parse accepts too much, such as "-5"; all three forms of an HTTP date begin with a weekday. */
function httpDate(text: string): number | undefined {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}
