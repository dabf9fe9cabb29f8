import { expect, test } from 'vitest';
import { asksToWait, retryAfterMs } from '../../../src/client/http/retry-after.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const cases: [retryAfter: string | undefined, date: string | undefined, ms: number][] = [
  ['0', undefined, 1_000],
  ['7', undefined, 7_000],
  [' 7 ', undefined, 7_000],
  ['1.5', undefined, 1_500],
  ['86400', undefined, 900_000],
  ['99999999999999999999999', undefined, 900_000],
  ['Sun, 01 Mar 2026 12:00:30 GMT', undefined, 30_000],
  ['Sun, 01 Mar 2026 11:00:00 GMT', undefined, 1_000],
  ['Sun, 01 Mar 2026 23:00:00 GMT', undefined, 900_000],
  // The service's clock is an hour ahead: the distance to its own Date counts.
  ['Sun, 01 Mar 2026 13:00:05 GMT', 'Sun, 01 Mar 2026 13:00:00 GMT', 5_000],
  ['Sun, 01 Mar 2026 12:00:30 GMT', 'yesterday', 30_000],
  [undefined, undefined, 1_000],
  ['', undefined, 1_000],
  ['-5', undefined, 1_000],
  ['soon', undefined, 1_000],
  ['Infinity', undefined, 1_000],
  ['1e9', undefined, 1_000],
  ['Sunday week', undefined, 1_000],
];
test.each(cases)('Retry-After %j with Date %j is %i ms', (retryAfter, date, ms) => {
  expect(retryAfterMs({ 'retry-after': retryAfter, date }, now)).toBe(ms);
});

test.each([
  [{ 'retry-after-ms': '250', 'retry-after': '1' }, 250],
  [{ 'x-ms-retry-after-ms': '1499.5', 'retry-after': '2' }, 1_499.5],
  [{ 'retry-after-ms': ['40', '50'] }, 40],
  [{ 'retry-after-ms': '99999999' }, 900_000],
  [{ 'retry-after-ms': '0', 'retry-after': '7' }, 7_000],
  [{ 'retry-after-ms': 'soon' }, 1_000],
])('a service that asks in milliseconds, with %j, waits %i ms', (headers, ms) => {
  expect(retryAfterMs(headers, now)).toBe(ms);
  expect(asksToWait(headers)).toBe(true);
});
