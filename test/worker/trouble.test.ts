import { describe, expect, test } from 'vitest';
import { decideRetry, type Failure } from '../../src/client/retry-policy.ts';
import { ComeBack, KeyRefused, RunFailed, stopFor } from '../../src/worker/trouble.ts';
import { anAccount } from './an-account.ts';

const OPERATION = 'customers.getall';
const unknown = (reason: Extract<Failure, { status: 'unknown' }>['reason'] & string): Failure => ({
  status: 'unknown',
  message: 'nobody can say',
  reason,
});
const refused = (httpStatus: number, message = 'no'): Failure => ({ status: 'refused', httpStatus, message });
const notSent = (reason: Extract<Failure, { status: 'not-sent' }>['reason'] & string): Failure => ({
  status: 'not-sent',
  message: 'it did not leave',
  reason,
});
const stopAfter = (failure: Failure, attempt = 5) =>
  stopFor(decideRetry(OPERATION, failure, { attempt, random: 0.5 }), failure, anAccount(), OPERATION);

describe('the run goes on later', () => {
  const cases: readonly [Failure, { inMs: number; isTrouble: boolean }][] = [
    [
      { status: 'limited', httpStatus: 429, retryAfterMs: 1_234 },
      { inMs: 1_234, isTrouble: false },
    ],
    [notSent('budget'), { inMs: 1_000, isTrouble: false }],
    [notSent('unreachable'), { inMs: 2_000, isTrouble: true }],
    [unknown('server-error'), { inMs: 2_000, isTrouble: true }],
    [unknown('broken-off'), { inMs: 2_000, isTrouble: true }],
  ];
  test.each(cases)('after %o', (failure, when) => {
    const stop = stopAfter(failure);
    expect(stop).toBeInstanceOf(ComeBack);
    expect(stop).toMatchObject({ ...when, message: expect.stringContaining(OPERATION) });
  });
});

describe('the run fails, and says what to mend', () => {
  const cases: readonly [Failure, string, RegExp][] = [
    [refused(404, 'no such thing'), 'SERVICE_REFUSED', /customers\.getall.*"acme".*no such thing/],
    [notSent('certificate'), 'SERVICE_CERTIFICATE', /customers\.getall/],
    [unknown('html'), 'SERVICE_UNREADABLE', /customers\.getall/],
    [unknown('too-large'), 'SERVICE_UNREADABLE', /nobody can say/],
  ];
  test.each(cases)('after %o with %s', (failure, code, message) => {
    const stop = stopAfter(failure);
    expect(stop).toBeInstanceOf(RunFailed);
    expect(stop).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

test('a refusal tells its HTTP status', () => {
  expect(stopAfter(refused(404))).toMatchObject({ httpStatus: 404 });
});

test.each([
  [refused(401, 'bad key'), /https:\/\/acme\.example.*"acme".*401: bad key.*accounts\.acme\.apiKey.*suspended/],
  [refused(200, 'Invalid API key'), /Invalid API key/],
])('%o suspends the account, and says where to mend its key', (failure, message) => {
  const stop = stopAfter(failure);
  expect(stop).toBeInstanceOf(KeyRefused);
  expect(stop).toMatchObject({ code: 'KEY_REFUSED', operation: OPERATION, message: expect.stringMatching(message) });
});
