import { expect, test } from 'vitest';
import type { Hints } from '../../src/base/reasons/reasons.ts';
import { storyLines } from '../../src/cli/commands/runs-show.ts';
import type { RowStory } from '../../src/engine/ledger/views/row-story.ts';
import { storyResult } from '../../src/operator/row-words.ts';

const HINTS: Hints = { command: (command) => `lockstep ${command} --data D`, about: { run: 'run-1', account: 'demo' } };
const AT = '2026-11-21T02:00:05Z';

const STORY: RowStory = {
  run: 'run-1',
  n: 3,
  sourceId: '3',
  label: 'A-17',
  state: 'settled',
  input: {
    keys: { 'e-mail': 'ann@x.example' },
    fields: { order_id: 'A-17', amount: '12.5' },
    customer: null,
    cells: [
      { column: 'Nr', cell: 'A-17' },
      { column: null, cell: 'two\nlines' },
    ],
  },
  matches: [{ kind: 'customer', recordId: '12', by: 'e-mail' }],
  plan: { action: 'create', recordId: null, fields: null },
  attempts: [
    {
      at: AT,
      action: 'create',
      outcome: 'unknown',
      httpStatus: 503,
      reason: null,
      facts: { said: 'try later' },
      tookMs: 1_200,
    },
    { at: AT, action: 'create', outcome: 'acked', httpStatus: 200, reason: null, facts: null, tookMs: null },
  ],
  formerVerdicts: [{ at: AT, verdict: 'created', reason: null, facts: null, recordId: '7' }],
  verdict: {
    at: null,
    verdict: 'review',
    reason: 'LOST',
    facts: { what: 'order', id: '7' },
    recordId: '7',
  },
};

test('shows a row from its cells to its verdict, with the remedy', () => {
  const text = storyLines(STORY, HINTS, false).join('\n');
  const parts = [
    'Row 3 of run run-1: line 3, A-17\n\nCells of the file\n  Nr          A-17\n  (column 2)  two\\u000alines\n\nRead as\n',
    'Recognised by\n  e-mail  ann@x.example\n\nMatched with\n  customer 12  by e-mail\n\nPlan\n  create\n\nAttempts\n',
    'create  unknown outcome  HTTP 503  1.2 s  try later\n',
    'create  applied          HTTP 200\n\nReplaced verdicts\n',
    'Verdict\n  review LOST\n  Record: 7\n  It was created as order 7; a later read of the list of orders did not find it.\n  What to do: ',
    '`lockstep review --data D`.',
  ];
  let at = 0;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    expect(found, `${part}\n---\n${text}`).toBeGreaterThanOrEqual(at);
    at = found + part.length;
  }
});

test('shows the customer of a row only if its load creates customers', () => {
  const story: RowStory = { ...STORY, input: { ...STORY.input, customer: { email: 'ann@x.example' } } };
  const title = 'Customer, if it is missing';
  expect([true, false].map((creates) => storyLines(story, HINTS, creates).includes(title))).toEqual([true, false]);
});

test('shows what a row without a verdict waits for', () => {
  const story: RowStory = { ...STORY, state: 'unknown', verdict: null, formerVerdicts: [], plan: null, attempts: [] };
  expect(storyLines(story, HINTS, false).slice(-2)).toEqual([
    'Verdict',
    '  none yet: unknown outcome, to be settled by a read',
  ]);
});

test('gives scripts the facts together with their texts', () => {
  expect(storyResult(STORY, HINTS)).toMatchObject({
    input: STORY.input,
    attempts: [{ facts: { said: 'try later' }, statement: 'try later', remedy: null }, { statement: '' }],
    verdict: { reason: 'LOST', facts: { id: '7' }, remedy: expect.stringContaining('lockstep review --data D') },
  });
});
