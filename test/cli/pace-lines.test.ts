import { expect, test } from 'vitest';
import { paceLines } from '../../src/cli/print/pace-lines.ts';
import type { BudgetStats } from '../../src/client/budget/budget.ts';
import { anAccount } from '../engine/worker/an-account.ts';

const idle = anAccount().budgetStats();
const said = (stats: Partial<BudgetStats>) => paceLines({ ...idle, ...stats }).join('\n');

test('prints nothing when no call waited and no rate was learnt', () => {
  expect([said({}), said({ ratePerSecond: 19.8 })]).toEqual(['', '']);
});

test('prints the waiting time of calls by lane', () => {
  const waits = { ...idle.waits, batch: { p50Ms: 812.4, p99Ms: 1_240 } };
  expect(said({ waits })).toBe(
    'The budget, in this process: the median wait of a call was 812 ms in the batch lane (1 call in 100 waited 1.2 s or more).',
  );
});

test.each([
  [14.1, 3, /limited to 14\.1 calls a second, a rate learnt from the service, which asked 3 times to slow down/],
  [14.1, 0, /limited to 14\.1 calls a second, a rate learnt from the service\./],
  [0.5, 1, /limited to 30 calls a minute, a rate learnt from the service, which asked 1 time to slow/],
])('prints the learnt rate of %d/s', (learntPerSecond, limited, words) => {
  expect(said({ learntPerSecond, limited })).toMatch(words);
});

test('counts retried and postponed calls', () => {
  expect(said({ retries: { granted: 2, empty: 1 } })).toMatch(/2 calls retried, 1 postponed/);
});
