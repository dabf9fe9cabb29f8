/** Every state that the creation of a row can reach, with crashes, lost answers, late commits and late reads at every step. */
import { expect, test } from 'vitest';
import { explore, RULES, type Rules } from './create-protocol.ts';

const isDoubled = ({ records }: { readonly records: readonly unknown[] }) => records.length > 1;

function canDouble(rules: Partial<Rules>): boolean {
  for (const state of explore({ ...RULES, ...rules })) if (isDoubled(state)) return true;
  return false;
}

test('under the assumptions no state has two records, and every end is true', () => {
  const states = [...explore(RULES)];
  expect(states.length).toBeGreaterThan(1_000);
  expect(states.filter(isDoubled)).toEqual([]);
  const ends = states.filter(({ isEnd }) => isEnd).map(({ row, records }) => `${row}, ${records.length} records`);
  expect(new Set(ends)).toEqual(new Set(['created, 1 records', 'ready, 0 records']));
});

test.each<[string, Partial<Rules>]>([
  ['the wait before a record counts as absent is settle, not twice settle', { wait: RULES.settle }],
  ['a row is sent before its claim is durable', { claimsFirst: false }],
  ['a request may leave after its claim', { minds: false }],
  ['an outcome is recorded without the claim', { fenced: false }],
  ['the service commits later than settle', { commitsWithin: 2 * RULES.settle }],
])('two records are possible if %s', (_, rules) => {
  expect(canDouble(rules)).toBe(true);
});

test('if the service commits later than settle, the audit reports every row that has two records', () => {
  const late = [...explore({ ...RULES, commitsWithin: 2 * RULES.settle })];
  const twice = late.filter((state) => state.isEnd && state.row === 'created' && isDoubled(state));
  expect(twice.length).toBeGreaterThan(0);
  expect(twice.filter(({ audited }) => audited < 2)).toEqual([]);
});
