import { expect, test } from 'vitest';
import { formatCount, plural } from '../../src/base/counts.ts';
import { asSentence, formatRate, formatShare, formatTook } from '../../src/operator/format.ts';

test.each([
  [400, '0.4 s'],
  [12_340, '12.3 s'],
  [59_990, '1 min'],
  [200_000, '3 min 20 s'],
  [3_599_900, '1 h'],
  [7_500_000, '2 h 5 min'],
])('%i ms took %s', (ms, words) => {
  expect(formatTook(ms)).toBe(words);
});

test.each([
  [20, '20 calls a second'],
  [1, '1 call a second'],
  [150 / 60, '2.5 calls a second'],
  [100 / 60, '100 calls a minute'],
  [14.123, '14.1 calls a second'],
  [0.5, '30 calls a minute'],
  [10 / 3_600, '10 calls an hour'],
  [1 / 86_400, '1 call a day'],
])('%d calls a second are %s', (perSecond, words) => {
  expect(formatRate(perSecond)).toBe(words);
});

test('groups digits, rounds shares, and uses the singular for one row', () => {
  expect([formatCount(1_234_567), formatShare(0.974), formatShare(0.001), formatShare(0)]).toEqual([
    '1,234,567',
    '97%',
    '<1%',
    '0%',
  ]);
  expect([plural(1, 'row'), plural(2, 'row')]).toEqual(['1 row', '2 rows']);
});

test('a note becomes a sentence; a name at its start stays as it is', () => {
  expect(
    ['3 rows left', 'waited for it.', 'ops-hook: 6 not yet delivered', 'contacts.getall failed'].map(asSentence),
  ).toEqual(['3 rows left.', 'Waited for it.', 'ops-hook: 6 not yet delivered.', 'contacts.getall failed.']);
});
