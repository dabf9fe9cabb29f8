import { expect, test } from 'vitest';
import { addSuccesses, takeRetry } from '../../support/budget-oracle.ts';

const NOW_US = 1.7e15;

test('saves up at most a hundred retries, one for every ten successes', () => {
  expect(addSuccesses({ tenths: 1000, askedAtUs: 0 }, 50).tenths).toBe(1000);
  expect(addSuccesses({ tenths: 0, askedAtUs: NOW_US }, 25).tenths).toBe(25);
});

test('an empty retry budget says when the next retry is available, and grants it then', () => {
  const { retryInUs, isGranted, retries } = takeRetry({ tenths: 3, askedAtUs: NOW_US }, 0, NOW_US);
  expect([isGranted, retryInUs]).toEqual([false, 7e6]);
  expect(takeRetry(retries, 0, NOW_US + 7e6)).toMatchObject({ isGranted: true, retries: { tenths: 0 } });
});

test('time alone never saves up more than one retry', () => {
  const { retries } = takeRetry({ tenths: 0, askedAtUs: NOW_US }, 0, NOW_US + 3600e6);
  expect(takeRetry(retries, 0, NOW_US + 3600e6).isGranted).toBe(false);
});
