/** How the examples of a group of rows are named. */
import { expect, test } from 'vitest';
import type { GroupExample } from '../../src/engine/ledger/views/row-groups.ts';
import { examplesOf } from '../../src/operator/problem-rows.ts';

const at = (facts: GroupExample['facts'], sourceId = '1'): GroupExample => ({ sourceId, label: null, facts });
const named = (label: string, sourceId: string): GroupExample => ({ sourceId, label, facts: null });

test.each<[string, number, readonly GroupExample[], string]>([
  ['a line with its cell', 1, [at({ line: 4, cell: '12,345,6' })], 'line 4 ("12,345,6")'],
  ['an empty cell is not shown', 1, [at({ line: 4, cell: '' })], 'line 4'],
  [
    'lines of orders',
    3,
    [at({ line: 4 }), at({ line: 7, order: 'A-7', cell: 'x' })],
    'e.g. lines 4, 7 (order A-7: "x")',
  ],
  [
    'contacts of one name',
    2,
    [named('Ann', 'c-7'), named('Bo', 'c-8'), named('Ann', 'c-9')],
    'Ann (c-7), Bo, Ann (c-9)',
  ],
  ['a contact with a name of 10,000 characters', 1, [named('x'.repeat(10_000), 'c-7')], `${'x'.repeat(79)}…`],
  ['rows that come from no file', 1, [at({ customer: '7' }, 'contact 3')], 'contact 3'],
])('%s', (_, count, examples, words) => {
  expect(examplesOf({ count, examples })).toBe(words);
});
