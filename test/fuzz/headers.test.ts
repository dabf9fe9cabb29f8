/** Headers of answers: no text makes an account wait endlessly, send to another address, or show a secret. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { rateHintOf } from '../../src/client/call/rate-headers.ts';
import { redirectOf } from '../../src/client/call/redirect.ts';
import { retryAfterMs } from '../../src/client/http/retry-after.ts';
import { broken, fuzz } from './fuzz.ts';

const NOW = Date.UTC(2026, 10, 23);
const LONGEST_MS = 15 * 60_000;
const CALLED = 'https://sales.example/api/v1/contacts';

const date = fc.date({ noInvalidDate: true }).map((at) => at.toUTCString());
const seconds = fc.nat().map(String);
const times = broken(fc.oneof(date, seconds, fc.constantFrom('1.5', '-5', 'Mon', 'Sunday, 06-Nov-94 08:49:37 GMT')));
const limits = broken(
  fc.constantFrom(
    '100',
    '100, 100;w=60',
    '"default";q=100;w=60',
    '"default";r=50;t=30',
    'limit=100, remaining=50, reset=30',
  ),
  ['r=', 't=', 'w=0', 'q=0', ';', '=', '1763856000', '1763856000000'],
);
const NAMES = [
  'ratelimit',
  'ratelimit-policy',
  'ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-rate-limit-limit',
];

fuzz('keeps every wait and every limit finite, and within 15 minutes', {
  corpus: [
    ['', '', {}],
    ['Mon', 'Mon', { ratelimit: '' }],
    ['999999999999999999999', 'Thu, 01 Jan 1970 00:00:00 GMT', { ratelimit: '"a";r=0;t=0' }],
    ['1.5', '', { 'ratelimit-limit': '0;w=0', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '1763856000000' }],
  ] as const,
  inputs: fc.tuple(times, times, fc.dictionary(fc.constantFrom(...NAMES), fc.oneof(limits, times))),
  check([retryAfter, given, headers]) {
    const waitMs = retryAfterMs({ retryAfter, date: given }, NOW);
    expect(waitMs >= 0 && waitMs <= LONGEST_MS, `${waitMs}`).toBe(true);
    const hint = rateHintOf({ headers: { ...headers, date: given }, arrivedAtMs: NOW }) ?? {};
    for (const value of Object.values(hint))
      expect(Number.isFinite(value) && value >= 0, JSON.stringify(hint)).toBe(true);
    expect(hint.resetMs ?? 0).toBeLessThanOrEqual(LONGEST_MS);
    if (hint.limit !== undefined) expect([hint.limit > 0, (hint.windowMs ?? 0) > 0]).toEqual([true, true]);
  },
});

fuzz('says where a redirect leads, without its secrets', {
  corpus: [
    '',
    '/',
    '//',
    'https://',
    CALLED,
    `${CALLED}/`,
    '/v1/contacts/?token=S3CRET',
    'http://[::1',
    'javascript:S3CRET',
    '\\\\x',
  ],
  inputs: broken(
    fc.constantFrom(CALLED, `${CALLED}/?token=S3CRET`, '/login?next=S3CRET', '//other.example/v1/contacts#S3CRET'),
    ['/', '//', '://', '[', '@', ':99999', '..'],
  ),
  check(location) {
    const { words, wantsSlash } = redirectOf('contacts.getall', CALLED, location);
    expect(words).toMatch(/check the base URL$|set the account’s (url to https?:\/\/\S*|prefix to \S*)$/);
    if (/[?#].*S3CRET/.test(location)) expect(words).not.toContain('S3CRET');
    if (wantsSlash) expect(new URL(location.split(/[?#]/, 1)[0] ?? '', CALLED).href).toBe(`${CALLED}/`);
  },
});
