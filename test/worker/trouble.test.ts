import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/client/outcome.ts';
import { ComeBack, isKeyRefused, RunFailed, troubleOf } from '../../src/worker/trouble.ts';
import { anAccount } from './an-account.ts';

type Failure = Exclude<Outcome, { status: 'applied' }>;
const notSent = (
  reason: NonNullable<Extract<Failure, { status: 'not-sent' }>['reason']>,
  retryAfterMs?: number,
): Failure => ({
  status: 'not-sent',
  message: 'it did not leave',
  reason,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});
const unknown = (reason: NonNullable<Extract<Failure, { status: 'unknown' }>['reason']>): Failure => ({
  status: 'unknown',
  message: 'nobody can say',
  reason,
});
const refused = (httpStatus: number, message = 'no'): Failure => ({ status: 'refused', httpStatus, message });

describe('the run goes on later', () => {
  const cases: readonly [Failure, { inMs: number; isTrouble: boolean }][] = [
    [
      { status: 'limited', httpStatus: 429, retryAfterMs: 1_234 },
      { inMs: 1_234, isTrouble: false },
    ],
    [notSent('budget', 700), { inMs: 700, isTrouble: false }],
    [notSent('budget'), { inMs: 1_000, isTrouble: false }],
    [notSent('aborted'), { inMs: 0, isTrouble: false }],
    [notSent('deadline'), { inMs: 0, isTrouble: false }],
    [notSent('closed'), { inMs: 0, isTrouble: false }],
    [notSent('budget-away'), { inMs: 2_000, isTrouble: true }],
    [notSent('unreachable'), { inMs: 2_000, isTrouble: true }],
    [unknown('server-error'), { inMs: 2_000, isTrouble: true }],
    [unknown('timeout'), { inMs: 2_000, isTrouble: true }],
    [unknown('broken-off'), { inMs: 2_000, isTrouble: true }],
  ];
  test.each(cases)('after %o', (failure, when) => {
    const trouble = troubleOf(failure, anAccount(), 'customers.getall');
    expect(trouble).toBeInstanceOf(ComeBack);
    expect(trouble).toMatchObject(when);
  });
});

describe('the run fails, and says what to mend', () => {
  const cases: readonly [Failure, string, RegExp][] = [
    [refused(401, 'bad key'), 'KEY_REFUSED', /https:\/\/acme\.example.*"acme".*401: bad key.*accounts\.acme\.apiKey/],
    [refused(403), 'KEY_REFUSED', /403/],
    [refused(200, 'Invalid API key'), 'KEY_REFUSED', /Invalid API key/],
    [refused(404, 'no such thing'), 'SERVICE_REFUSED', /customers\.getall.*"acme".*no such thing/],
    [notSent('certificate'), 'SERVICE_CERTIFICATE', /customers\.getall/],
    [unknown('html'), 'SERVICE_UNREADABLE', /customers\.getall/],
    [unknown('no-list'), 'SERVICE_UNREADABLE', /nobody can say/],
    [unknown('too-large'), 'SERVICE_UNREADABLE', /nobody can say/],
  ];
  test.each(cases)('after %o with %s', (failure, code, message) => {
    const trouble = troubleOf(failure, anAccount(), 'customers.getall');
    expect(trouble).toBeInstanceOf(RunFailed);
    expect(trouble).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

test.each([
  [401, 'no', true],
  [403, 'no', true],
  [200, 'Unauthorised', true],
  [200, 'authentication needed', true],
  [200, 'wrong API-KEY', true],
  [200, 'no such contact', false],
  [400, 'Unauthorized field', false],
  [422, 'forbidden word in name', false],
])('%i "%s" is about the key: %s', (httpStatus, message, isAboutKey) => {
  expect(isKeyRefused(httpStatus, message)).toBe(isAboutKey);
});
