import { expect, test } from 'vitest';
import type { BudgetStats } from '../../src/budget/budget.ts';
import { paceLines } from '../../src/cli/pace-report.ts';
import { anAccount } from '../worker/an-account.ts';

const nobody = anAccount().budgetStats();
const said = (stats: Partial<BudgetStats>, allowed: number | undefined = 20) =>
  paceLines({ ...nobody, ...stats }, allowed).join('\n');

test('where nobody waited and nothing was learnt there is nothing to say', () => {
  expect([said({}), said({ ratePerSecond: 19.8 })]).toEqual(['', '']);
});

test('how long calls waited is said by lane', () => {
  const waits = { ...nobody.waits, batch: { p50Ms: 812.4, p99Ms: 1_240 } };
  expect(said({ waits })).toBe(
    'The budget, in this process: a call waited 812 ms in the batch lane (1 in 100: 1.2 s).',
  );
});

test.each([
  [14.1, 3, 20, /makes 14\.1 calls a second, learnt, after 3 answers of "slow down" here/],
  [14.1, 0, 20, /makes 14\.1 calls a second, learnt\./],
  [0.5, 1, undefined, /makes 30\.0 calls a minute, learnt, after 1 answer of/],
])('a learnt rate of %d/s is said', (ratePerSecond, limited, allowed, words) => {
  expect(said({ ratePerSecond, limited }, allowed)).toMatch(words);
});

test('repeated calls are counted, and those put off', () => {
  expect(said({ retries: { granted: 2, empty: 1 } })).toMatch(/2 calls repeated, 1 put off/);
});
