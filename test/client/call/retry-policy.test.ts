import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRead } from '../../../src/client/call/classify.ts';
import type { NotSentReason, UnknownReason } from '../../../src/client/call/outcome.ts';
import {
  backoffMs,
  decideRetry,
  type Failure,
  isKeyRefused,
  MAX_ATTEMPTS,
  type RetryDecision,
} from '../../../src/client/call/retry-policy.ts';
import { type OperationName, operationNames, operations } from '../../../src/contract/operations.ts';

const FIRST = { attempt: 1, random: 0.5 };
const LAST = { attempt: MAX_ATTEMPTS, random: 0.5 };
const notSent = (reason: NotSentReason, retryAfterMs?: number): Failure => ({
  status: 'not-sent',
  message: 'it did not leave',
  reason,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});
const unknown = (reason: UnknownReason): Failure => ({ status: 'unknown', message: 'outcome unknown', reason });
const refused = (httpStatus: number, message = 'no'): Failure => ({ status: 'refused', httpStatus, message });
const limited: Failure = { status: 'limited', httpStatus: 429, retryAfterMs: 1_234 };

const wait = (afterMs: number, isFailure: boolean): RetryDecision => ({
  status: 'retry',
  afterMs,
  spendsAttempt: false,
  isFailure,
});
const again = (afterMs: number): RetryDecision => ({ status: 'retry', afterMs, spendsAttempt: true, isFailure: true });
const giveUp = (reason: Extract<RetryDecision, { status: 'give-up' }>['reason']): RetryDecision => ({
  status: 'give-up',
  reason,
});
const SETTLE: RetryDecision = { status: 'settle' };
const SUSPEND: RetryDecision = { status: 'suspend' };

const READ = 'contacts.getall';
const PUT = 'customers.update';
const CREATE = 'orders.create';
const COMMENT = 'contacts.comment';
const MOVE = 'pipelines.moveCard';

describe('a call that changed nothing waits, and spends no attempt', () => {
  const cases: readonly [Failure, RetryDecision][] = [
    [limited, wait(1_234, false)],
    [notSent('budget', 700), wait(700, false)],
    [notSent('budget'), wait(1_000, false)],
    [notSent('breaker', 300), wait(300, true)],
    [notSent('aborted'), wait(0, false)],
    [notSent('deadline'), wait(0, false)],
    [notSent('closed'), wait(0, false)],
    [notSent('budget-away'), wait(2_000, true)],
    [notSent('unreachable'), wait(2_000, true)],
  ];
  test.each(cases)('%o', (failure, decision) => {
    for (const operation of [READ, PUT, CREATE, COMMENT, MOVE] as const)
      expect(decideRetry(operation, failure, LAST)).toEqual(decision);
  });
});

describe('after an unknown outcome', () => {
  const cases: readonly [OperationName, UnknownReason, typeof FIRST, RetryDecision][] = [
    [READ, 'server-error', FIRST, again(200)],
    [READ, 'timeout', { attempt: 3, random: 0.5 }, again(800)],
    [READ, 'broken-off', LAST, giveUp('GAVE_UP')],
    [READ, 'unreadable', FIRST, again(200)],
    [READ, 'unreadable', LAST, giveUp('SERVICE_UNREADABLE')],
    [PUT, 'unreadable', LAST, giveUp('GAVE_UP')],
    [READ, 'html', FIRST, again(200)],
    [READ, 'html', { attempt: 3, random: 0.5 }, giveUp('SERVICE_UNREADABLE')],
    [READ, 'redirect', FIRST, again(200)],
    [READ, 'redirect', { attempt: 3, random: 0.5 }, giveUp('SERVICE_UNREADABLE')],
    [READ, 'empty', FIRST, again(200)],
    [READ, 'empty', { attempt: 3, random: 0.5 }, giveUp('SERVICE_UNREADABLE')],
    [READ, 'too-large', FIRST, giveUp('SERVICE_UNREADABLE')],
    [READ, 'no-list', FIRST, giveUp('SERVICE_UNREADABLE')],
    ['pipelines.getall', 'timeout', FIRST, again(200)],
    [PUT, 'timeout', FIRST, again(200)],
    [PUT, 'html', FIRST, again(200)],
    [PUT, 'server-error', LAST, giveUp('GAVE_UP')],
    ['tasks.complete', 'broken-off', FIRST, again(200)],
    [CREATE, 'timeout', FIRST, SETTLE],
    [CREATE, 'server-error', LAST, SETTLE],
    [CREATE, 'html', FIRST, SETTLE],
    ['customers.import', 'redirect', FIRST, SETTLE],
    ['subtasks.create', 'unreadable', FIRST, SETTLE],
    [COMMENT, 'timeout', FIRST, giveUp('CANNOT_BE_CHECKED')],
    ['pipelines.comment', 'server-error', FIRST, giveUp('CANNOT_BE_CHECKED')],
    [MOVE, 'broken-off', FIRST, giveUp('CANNOT_BE_CHECKED')],
  ];
  test.each(cases)('%s, %s, %o', (operation, reason, attempt, decision) => {
    expect(decideRetry(operation, unknown(reason), attempt)).toEqual(decision);
  });
});

describe('after a refusal', () => {
  const cases: readonly [OperationName, Failure, RetryDecision][] = [
    [READ, refused(401), SUSPEND],
    [CREATE, refused(403), SUSPEND],
    [PUT, refused(200, 'Invalid API key'), SUSPEND],
    [CREATE, refused(409), SETTLE],
    [PUT, refused(409), giveUp('REFUSED_BY_SERVICE')],
    [COMMENT, refused(409), giveUp('REFUSED_BY_SERVICE')],
    [CREATE, refused(422), giveUp('REFUSED_BY_SERVICE')],
    [CREATE, refused(200, 'no such customer'), giveUp('REFUSED_BY_SERVICE')],
    [READ, refused(404), giveUp('REFUSED_BY_SERVICE')],
    [CREATE, notSent('certificate'), giveUp('SERVICE_CERTIFICATE')],
  ];
  test.each(cases)('%s, %o', (operation, failure, decision) => {
    expect(decideRetry(operation, failure, FIRST)).toEqual(decision);
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
  expect(isKeyRefused({ httpStatus, message })).toBe(isAboutKey);
});

describe('for all outcomes', () => {
  const failures: fc.Arbitrary<Failure> = fc.oneof(
    fc.record({
      status: fc.constant('limited' as const),
      httpStatus: fc.constantFrom(429, 503),
      retryAfterMs: fc.nat(),
    }),
    fc
      .constantFrom<NotSentReason>('budget', 'budget-away', 'breaker', 'deadline', 'aborted', 'closed', 'unreachable')
      .map((reason) => notSent(reason)),
    fc.integer({ min: 200, max: 599 }).map((httpStatus) => refused(httpStatus)),
    fc
      .constantFrom<UnknownReason>('server-error', 'timeout', 'aborted', 'broken-off', 'redirect', 'html', 'unreadable')
      .map((reason) => unknown(reason)),
  );
  const attempts = fc.record({
    attempt: fc.integer({ min: 1, max: 50 }),
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  });
  const anything = [fc.constantFrom(...operationNames), failures, attempts] as const;

  test('sends what may have been applied again only where repeating is harmless', () => {
    fc.assert(
      fc.property(...anything, (operation, failure, attempt) => {
        const decision = decideRetry(operation, failure, attempt);
        const mayBeApplied = failure.status === 'unknown';
        if (mayBeApplied && decision.status === 'retry') expect(operations[operation].repeatable).toBe(true);
      }),
    );
  });

  test('never settles a read or a write that cannot be read back', () => {
    fc.assert(
      fc.property(...anything, (operation, failure, attempt) => {
        if (decideRetry(operation, failure, attempt).status !== 'settle') return;
        expect([isRead(operation), 'readBack' in operations[operation]]).toEqual([false, true]);
      }),
    );
  });

  test('never retries forever, and never waits longer than the cap between two tries', () => {
    fc.assert(
      fc.property(...anything, (operation, failure, attempt) => {
        const decision = decideRetry(operation, failure, attempt);
        if (decision.status !== 'retry' || !decision.spendsAttempt) return;
        expect([attempt.attempt < MAX_ATTEMPTS, decision.afterMs <= 5_000]).toEqual([true, true]);
      }),
    );
  });
});

test('the pause is random, up to a cap that doubles', () => {
  expect([1, 2, 3, 4, 5, 6].map((attempt) => backoffMs({ attempt, random: 1 }))).toEqual([
    400, 800, 1_600, 3_200, 5_000, 5_000,
  ]);
  expect(backoffMs({ attempt: 3, random: 0 })).toBe(0);
});
