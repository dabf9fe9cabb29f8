/** What is said of a group of rows, and how its examples are named. */
import { expect, onTestFinished, test } from 'vitest';
import { PLAIN_HINTS } from '../../src/base/reasons/reasons.ts';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { readRun } from '../../src/engine/ledger/runs.ts';
import type { GroupExample } from '../../src/engine/ledger/views/row-groups.ts';
import { exampleNames, examplesOf, problemSections } from '../../src/operator/problem-rows.ts';
import { reportRun } from '../../src/operator/run-report.ts';
import { aRun, freshLedger } from '../engine/ledger/fresh-ledger.ts';
import { settingsOf } from '../settings/problems-in.ts';

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
  const names = exampleNames({ examples }, { type: 'contacts' });
  expect(examplesOf({ count, examples, names })).toBe(words);
});

test('an order is named as one, beside its lines if another has the same order_id', () => {
  const names = (...examples: readonly GroupExample[]) => exampleNames({ examples }, { type: 'orders' });
  expect(names(named('7', '2'), named('A-7', '4-6'))).toEqual(['order 7', 'order A-7']);
  expect(names(named('7', '2'), named('7', '5'))).toEqual(['order 7 (line 2)', 'order 7 (line 5)']);
  expect(names(named('may.csv', 'may.csv'))).toEqual(['may.csv']); // of a run that watches a folder
});

test('says of all rows of a group only what holds for each of them', async () => {
  const database = await freshLedger();
  onTestFinished(() => database.close());
  const { pool } = database;
  const run = await aRun(database, { account: 'demo' });
  const due = '2026-11-28T17:50:10Z';
  const attempts = [1, 1, 1, 0].map((n) => ({ target: 'hook', said: 'HTTP 400', attempts: String(n), due }));
  const rows = attempts.map((facts, n) => ({ n, sourceId: `task:${n}`, label: `Call ${n}`, facts }));
  const review = { verdict: 'review', reason: 'RETRYING' } as const;
  await addRows(
    pool,
    run.id,
    rows.map((row) => ({ ...row, ...review })),
  );
  const cells = ['3,500', '12,000'].map((cell, n) => ({ line: n + 2, cell, either: cell.replace(',', ''), or: cell }));
  const invalid = { verdict: 'invalid', reason: 'AMOUNT_AMBIGUOUS' } as const;
  await addRows(
    pool,
    run.id,
    cells.map((facts, n) => ({ n: n + 4, sourceId: `${n}`, label: '', facts, ...invalid })),
  );
  await endRun(pool, run.id, 'done');
  const report = await reportRun(pool, await readRun(pool, run.id), settingsOf('accounts: { demo: {} }'));
  const sections = await problemSections(pool, report, PLAIN_HINTS);
  const [section, cut] = ['review', 'invalid'].map((one) => sections.find(({ verdict }) => verdict === one));
  const first = `hook: HTTP 400; attempts when the run ended: 1; the next one was planned for ${due}.`;
  expect(section?.groups).toMatchObject([{ count: 4, said: [first, first, first] }]);
  expect(cut?.groups[0]?.remedy?.match(/--decimal \./g)).toHaveLength(1);
});
