import { expect, test } from 'vitest';
import { paceLines } from '../../src/cli/pace-report.ts';
import type { BudgetStats } from '../../src/client/budget/budget.ts';
import { anAccount } from '../engine/worker/an-account.ts';

const idle = anAccount().budgetStats();
const said = (stats: Partial<BudgetStats>, allowed: number | undefined = 20) =>
  paceLines({ ...idle, ...stats }, allowed).join('\n');

test('prints nothing when no call waited and no rate was learnt', () => {
  expect([said({}), said({ ratePerSecond: 19.8 })]).toEqual(['', '']);
});

test('prints the waiting time of calls by lane', () => {
  const waits = { ...idle.waits, batch: { p50Ms: 812.4, p99Ms: 1_240 } };
  expect(said({ waits })).toBe(
    'The budget, in this process: a call waited 812 ms in the batch lane (1 in 100: 1.2 s).',
  );
});

test.each([
  [14.1, 3, 20, /limited to 14\.1 calls a second, learnt, after 3 answers of "slow down" here/],
  [14.1, 0, 20, /limited to 14\.1 calls a second, learnt\./],
  [0.5, 1, undefined, /limited to 30\.0 calls a minute, learnt, after 1 answer of/],
])('prints the learnt rate of %d/s', (ratePerSecond, limited, allowed, words) => {
  expect(said({ ratePerSecond, limited }, allowed)).toMatch(words);
});

test('counts repeated calls and postponed calls', () => {
  expect(said({ retries: { granted: 2, empty: 1 } })).toMatch(/2 calls repeated, 1 put off/);
});
