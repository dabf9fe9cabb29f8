import { expect, test } from 'vitest';
import { createStoreClock } from '../../../src/client/budget/store-clock.ts';

test('a slow answer does not shift the times that a fast one gave', () => {
  const clock = createStoreClock();
  clock.observe(0, 1, 1000.5);
  clock.observe(100, 180, 1101); // the answer waited 79 ms in a busy event loop
  expect(clock.toOwn(1000.5)).toBeCloseTo(1, 0);
});

test('a faster answer corrects the time of a slow one', () => {
  const clock = createStoreClock();
  clock.observe(0, 80, 1000);
  clock.observe(100, 101, 1100);
  expect(clock.toOwn(1100)).toBeCloseTo(101, 0);
});

test('a fast answer settles the time, and so do three slow ones', () => {
  const clock = createStoreClock();
  for (const settled of [false, false, true]) {
    clock.observe(0, 40, 1020);
    expect(clock.isSettled(10)).toBe(settled);
  }
  const other = createStoreClock();
  other.observe(0, 4, 1002);
  expect(other.isSettled(10)).toBe(true);
});

test.each([
  ['a clock was set', 1000, 5000],
  ['nothing was heard for long', 100_000, 101_000],
])('what was learnt is void when %s', (_, sentAtMs, storeNowMs) => {
  const clock = createStoreClock();
  for (let answer = 0; answer < 3; answer++) clock.observe(0, 1, 1000);
  clock.observe(sentAtMs, sentAtMs + 50, storeNowMs);
  expect(clock.toOwn(storeNowMs)).toBe(sentAtMs + 50);
  expect(clock.isSettled(10)).toBe(false);
});
