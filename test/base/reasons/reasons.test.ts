import { expect, test } from 'vitest';
import type { Facts } from '../../../src/base/reasons/reason.ts';
import { type Hints, REASON_AREAS, remedyFor, sentenceFor } from '../../../src/base/reasons/reasons.ts';

const HINTS: Hints = {
  command: (command) => `lockstep ${command} --data D`,
  about: { run: 'run-1', account: 'demo', file: 'my orders.csv' },
};

const cases: readonly (readonly [string | null, Facts, string])[] = [
  [
    'AMBIGUOUS_MATCH',
    { by: 'e-mail', customers: ['12', '15'] },
    'By e-mail it could be customer 12 or 15; other contacts',
  ],
  [
    'DIFFERS',
    { order: '9', differences: [{ field: 'amount', is: '12.5', expected: '12' }, { field: 'description' }] },
    'Order 9 exists and differs: amount 12.5 instead of 12, another description. ' +
      'Decide with `lockstep review --data D` whether to overwrite it. To overwrite all that differ,',
  ],
  [
    'REFUSED_BY_SERVICE',
    { http: 422, answer: 'no such product' },
    'The service refused it (HTTP 422): no such product. Correct the record as the answer says, or remove the cause, ' +
      'then run: `lockstep runs retry run-1 --data D`.',
  ],
  [
    'CUSTOMER_NOT_CREATED',
    { creator: 'run-2', because: { code: 'REFUSED_BY_SERVICE', facts: { answer: 'no such mailbox' } } },
    'Its customer was not created (run run-2): The service refused it: no such mailbox. Fix the cause',
  ],
  ['GAVE_UP', { sends: 5, what: 'order' }, 'It was sent 5 times and is not in the list of orders.'],
  ['EXISTS', { order: '9' }, 'Order 9 exists with this content.'],
  [
    'EXISTS',
    { order: '9', hidesAmount: true },
    'Order 9 exists with this content; the service does not show its amount',
  ],
  [
    'EMAIL_INVALID',
    { line: 3, columnNumber: 2, column: 'Mail', cell: 'ann' },
    'Line 3, column 2 (Mail): "ann" is not an e-mail address. Give exactly one address, such as ann@example.com.',
  ],
  [
    'AMOUNT_EMPTY',
    { line: 3, columnNumber: 2, column: 'Amount', cell: '-' },
    'Line 3, column 2 (Amount): "-" means that there is no amount. Give an amount, or 0;',
  ],
  ['AMOUNT_EMPTY', { line: 3, columnNumber: 2, column: 'Amount', cell: '' }, 'Line 3, column 2 (Amount) is empty.'],
  [
    'RAGGED',
    { line: 3, cells: 4, header: 5, also: [{ code: 'NUL_BYTE', facts: { line: 3 } }] },
    'Line 3: The header has 5 cells, and the row has 4. Add or remove delimiters, and put quotes around a cell that has one ("12,50"); if the line is not an order, such as a footer, remove it, or leave it: it is not sent. Line 3: The row contains a NUL byte',
  ],
  [
    'KEY_REFUSED',
    {},
    'The service refused the API key. Put the right key where the settings read it from, then resume the run: `lockstep runs resume run-1 --data D`.',
  ],
  [
    'KEY_REFUSED',
    { load: 'run-7' },
    'The service refused the API key. Put the right key where the settings read it from, then resume the run: `lockstep runs resume run-7 --data D`.',
  ],
  [null, { event: 'completed' }, 'Change: completed.'],
];

test.each(cases)('words %s with %j', (reason, facts, sentence) => {
  expect(sentenceFor(reason, facts, HINTS).slice(0, sentence.length)).toBe(sentence);
});

test('leaves the text of another system unchanged', () => {
  expect(sentenceFor('DIFFERS', { said: 'order 9 is there and differs' }, HINTS)).toBe('order 9 is there and differs');
  expect(sentenceFor('PLANNED', { said: 'completed' }, HINTS)).toBe('completed');
  expect(sentenceFor('REJECTED', { target: 'jira', said: 'no {x} [y]' }, HINTS)).toBe('jira: no {x} [y]');
  expect(sentenceFor('OF_A_LATER_VERSION', { said: 'it says' }, HINTS)).toBe('it says');
});

test('returns nothing for a row without a reason', () => {
  expect(sentenceFor(null, null)).toBe('');
  expect(sentenceFor('OF_A_LATER_VERSION', {})).toBe('');
});

test('uses the general meaning when a fact is missing, and leaves gaps in a command to be filled in', () => {
  expect(sentenceFor('NEVER_SENT', {})).toBe('It has not been sent. To send what is left: `lockstep runs retry RUN`.');
});

test('cuts the values of a record that is longer than a sentence', () => {
  const replaced = sentenceFor('CONTACT_REPLACED', { was: 'x'.repeat(10_000), is: 'ann', customer: '7' }, HINTS);
  expect(replaced).toContain(`The contact was ${'x'.repeat(499)}… and is ann`);
});

test('does not treat a fact as a template', () => {
  const odd = '`lockstep x` {run} [said]';
  expect(sentenceFor('EXISTS', { order: odd }, HINTS)).toBe(`Order ${odd} exists with this content.`);
});

test.each(['NOT_LINKED', 'LINK_AMBIGUOUS', 'LINK_TAKEN'])(
  'the remedy of %s sends skipped deliveries again, because that is its verdict',
  (reason) => {
    const command = '`lockstep deliveries replay --target issues --verdict skipped`.';
    expect(remedyFor(reason, { target: 'issues' })).toMatch(new RegExp(`${command}$`));
    expect(remedyFor(reason, { delivery: 'msg_1' })).toMatch(/`lockstep deliveries replay --id msg_1`\.$/);
  },
);

test('every sentence and remedy is readable with any facts missing', () => {
  for (const reasons of Object.values(REASON_AREAS)) {
    for (const code of Object.keys(reasons)) {
      const text = sentenceFor(code, { line: 3 });
      expect(text, code).toMatch(/^[A-Z].*[.]$/);
      expect(text, code).not.toMatch(/[[\]{}]|undefined| {2}| \.(?!`)/);
      expect(remedyFor(code, {}) ?? '', code).toMatch(/^$|^[A-Z].*[.]$/);
    }
  }
});
