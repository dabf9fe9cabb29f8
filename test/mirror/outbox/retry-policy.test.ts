import { describe, expect, test } from 'vitest';
import type { DeliveryOutcome } from '../../../src/contract/target.ts';
import { plainAnswer, plainText } from '../../../src/mirror/outbox/plain-text.ts';
import { decideDelivery, SCHEDULE_MS } from '../../../src/mirror/outbox/retry-policy.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LATER = { status: 'later', reason: 'HTTP_503', detail: 'it answered 503' } as const;
const WHY = { reason: 'HTTP_503', detail: 'it answered 503' };

/** The decision after this many spent attempts, without jitter. */
const decided = (outcome: DeliveryOutcome, attempts = 0, random = 0.5) => decideDelivery(outcome, { attempts, random });

describe('a failed delivery is retried', () => {
  test.each([
    [0, 5_000],
    [1, 5 * MINUTE],
    [2, 30 * MINUTE],
    [3, 2 * HOUR],
    [4, 5 * HOUR],
    [5, 10 * HOUR],
    [6, 14 * HOUR],
    [7, 20 * HOUR],
    [8, 24 * HOUR],
  ])('after %d attempts before it in %d ms', (attempts, afterMs) => {
    expect(decided(LATER, attempts)).toEqual({ status: 'again', afterMs, ...WHY });
  });

  test('ten times, and is then a dead letter', () => {
    expect(SCHEDULE_MS).toHaveLength(10);
    const detail = 'given up after 10 attempts: it answered 503';
    expect(decided(LATER, 9)).toEqual({ status: 'ended', verdict: 'dead', reason: 'HTTP_503', detail });
  });

  test('a tenth earlier or later, at random', () => {
    expect(decided(LATER, 1, 0)).toMatchObject({ afterMs: 4.5 * MINUTE });
    expect(decided(LATER, 1, 1)).toMatchObject({ afterMs: 5.5 * MINUTE });
  });

  test.each([
    ['later than scheduled: then', HOUR, HOUR],
    ['sooner than scheduled: as scheduled', 1_000, 5 * MINUTE],
    ['in a hundred years: in a day', 100 * 365 * 24 * HOUR, 24 * HOUR],
  ])('when the target asks for it %s', (_when, retryAfterMs, afterMs) => {
    expect(decided({ ...LATER, retryAfterMs }, 1)).toMatchObject({ status: 'again', afterMs });
  });
});

describe('every other answer', () => {
  test.each<[DeliveryOutcome, object]>([
    [{ status: 'delivered' }, { status: 'ended', verdict: 'delivered' }],
    [
      { status: 'already', detail: 'closed' },
      { status: 'ended', verdict: 'already', detail: 'closed' },
    ],
    [
      { ...WHY, status: 'skipped' },
      { ...WHY, status: 'ended', verdict: 'skipped' },
    ],
    [
      { ...WHY, status: 'refused' },
      { ...WHY, status: 'ended', verdict: 'dead' },
    ],
    [
      { ...WHY, status: 'disabled' },
      { ...WHY, status: 'disabled' },
    ],
    [
      { ...LATER, isLimited: true, retryAfterMs: 7_000 },
      { ...WHY, status: 'limited', afterMs: 7_000 },
    ],
    [
      { ...LATER, isLimited: true, retryAfterMs: 0 },
      { ...WHY, status: 'limited', afterMs: 1_000 },
    ],
    [
      { ...LATER, isLimited: true },
      { ...WHY, status: 'limited', afterMs: 30_000 },
    ],
    [
      { ...LATER, isLimited: true, retryAfterMs: 9e12 },
      { ...WHY, status: 'limited', afterMs: HOUR },
    ],
  ])('%j', (outcome, decision) => {
    expect(decided(outcome, 9)).toEqual(decision);
  });
});

describe('the stored answer of a target is', () => {
  test('cut to 500 characters, never within a character', () => {
    expect(plainAnswer({ httpStatus: 500, text: `${'x'.repeat(499)}😀` })).toEqual({
      httpStatus: 500,
      text: `${'x'.repeat(499)}�`,
    });
  });

  test('without control characters', () => {
    expect(plainText('\u0000 no\r\n\u001b[31mred\u009b\u2028 ')).toBe('no [31mred');
  });
});
