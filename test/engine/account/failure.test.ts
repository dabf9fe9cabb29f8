import { describe, expect, test } from 'vitest';
import { decideRetry, type Failure } from '../../../src/client/call/retry-policy.ts';
import type { KeyFound } from '../../../src/engine/account/account.ts';
import {
  KeyRefused,
  keyRefused,
  OperationForbidden,
  RetryLater,
  RunFailed,
  stopFor,
} from '../../../src/engine/account/failure.ts';
import { stopAfterRefusal } from '../../../src/engine/account/key-check.ts';
import { anAccount } from '../worker/an-account.ts';

const OPERATION = 'customers.getall';
const unknown = (reason: Extract<Failure, { status: 'unknown' }>['reason'] & string): Failure => ({
  status: 'unknown',
  message: 'outcome unknown',
  reason,
});
const refused = (httpStatus: number, message = 'no') => ({ status: 'refused', httpStatus, message }) as const;
const notSent = (reason: Extract<Failure, { status: 'not-sent' }>['reason'] & string): Failure => ({
  status: 'not-sent',
  message: 'it did not leave',
  reason,
});
function stopAfter(failure: Failure, attempt = 5) {
  const decision = decideRetry(OPERATION, failure, { attempt, random: 0.5 });
  if (decision.status === 'suspend') throw new Error('to be looked into before');
  return stopFor(decision, failure, anAccount(), OPERATION);
}

describe('the run is retried later', () => {
  const cases: readonly [Failure, { inMs: number; isFailure: boolean }][] = [
    [
      { status: 'limited', httpStatus: 429, retryAfterMs: 1_234 },
      { inMs: 1_234, isFailure: false },
    ],
    [notSent('budget'), { inMs: 1_000, isFailure: false }],
    [notSent('unreachable'), { inMs: 2_000, isFailure: true }],
    [unknown('server-error'), { inMs: 2_000, isFailure: true }],
    [unknown('broken-off'), { inMs: 2_000, isFailure: true }],
  ];
  test.each(cases)('after %o', (failure, when) => {
    const stop = stopAfter(failure);
    expect(stop).toBeInstanceOf(RetryLater);
    expect(stop).toMatchObject({ ...when, message: expect.stringContaining(OPERATION) });
  });
});

describe('the run fails and says what to fix', () => {
  const cases: readonly [Failure, string, RegExp][] = [
    [refused(404, 'no such thing'), 'SERVICE_REFUSED', /customers\.getall.*"acme".*no such thing/],
    [notSent('certificate'), 'SERVICE_CERTIFICATE', /customers\.getall/],
    [unknown('html'), 'SERVICE_UNREADABLE', /customers\.getall/],
    [unknown('too-large'), 'SERVICE_UNREADABLE', /outcome unknown/],
  ];
  test.each(cases)('after %o with %s', (failure, code, message) => {
    const stop = stopAfter(failure);
    expect(stop).toBeInstanceOf(RunFailed);
    expect(stop).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

test('a refusal includes its HTTP status', () => {
  expect(stopAfter(refused(404))).toMatchObject({ httpStatus: 404 });
});

describe('a read that is refused with the message of a refused key', () => {
  const cases: readonly [string, KeyFound, new (...args: never[]) => Error, RegExp][] = [
    [
      'suspends the account where other reads are refused too',
      { status: 'refused', refused: keyRefused(anAccount(), refused(401)), failure: refused(401), calls: 4 },
      KeyRefused,
      /https:\/\/acme\.example.*"acme".*403: bad key.*accounts\.acme\.apiKey.*While the account is suspended,.*`lockstep accounts resume acme` at once/,
    ],
    [
      'fails the run, and names the operation, where another read is answered',
      { status: 'accepted', by: 'contacts.getall', calls: 1 },
      OperationForbidden,
      /^customers\.getall.*"acme".*403: bad key.*Give the key this permission/,
    ],
    [
      'waits where no other read can be made',
      { status: 'unclear', why: '', calls: 1 },
      RetryLater,
      /customers\.getall: bad key/,
    ],
  ];
  test.each(cases)('%s', async (_what, found, kind, message) => {
    const account = { ...anAccount(), checkKey: async () => found };
    const made = { calls: 1 };
    const stop = await stopAfterRefusal(account, refused(403, 'bad key'), OPERATION, made);
    expect(stop).toBeInstanceOf(kind);
    expect(made.calls).toBe(1 + found.calls);
    expect(stop.message).toMatch(message);
  });
});
