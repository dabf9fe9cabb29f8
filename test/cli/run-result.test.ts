import { expect, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/errors.ts';
import type { Counts } from '../../src/engine/ledger/rows.ts';
import type { RunStatus } from '../../src/engine/ledger/runs.ts';

const NONE: Counts = {
  in: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  existing: 0,
  invalid: 0,
  rejected: 0,
  review: 0,
  unknown: 0,
};

const CASES: readonly (readonly [status: RunStatus, counts: Partial<Counts>, exitCode: number])[] = [
  ['done', {}, 0],
  ['done', { created: 5, updated: 1, unchanged: 3, existing: 2 }, 0],
  ['done', { created: 5, rejected: 1 }, 1],
  ['done', { review: 1 }, 1],
  ['done', { invalid: 1 }, 1],
  ['done', { unknown: 1 }, 1],
  ['failed', {}, 3],
  ['cancelled', { created: 5 }, 3],
  ['running', { unknown: 5 }, 3],
  ['paused', {}, 3],
];

test('a run that may have missed records does not end the command with 0', () => {
  expect(exitCodeOf({ status: 'done', counts: NONE, scan: 'unproven' })).toBe(1);
  expect(exitCodeOf({ status: 'done', counts: NONE, scan: 'weak' })).toBe(0);
});

test.each(CASES)('a run that is %s with %j ends the command with %i', (status, counts, exitCode) => {
  expect(exitCodeOf({ status, counts: { ...NONE, ...counts }, scan: null })).toBe(exitCode);
});
