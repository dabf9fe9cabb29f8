/** What a person should know about the orders of a file before they are sent. */
import { expect, test } from 'vitest';
import { loaded } from './files.ts';

const lines = (amounts: readonly string[]) =>
  ['order_id,customer_email,amount', ...amounts.map((amount, n) => `A-${n},ann@example.com,${amount}`), ''].join('\n');

test('a note names the orders with a negative amount', async () => {
  const { overview } = await loaded(lines(['1200.00', '-20.00', '-1', '-2', '-3', '5']));
  expect(overview.notes([])).toEqual([
    'the amount is negative in 4 of 6 orders, as in refunds, credit notes and payouts, and is loaded so: line 3 (-20), line 4 (-1), line 5 (-2) and 1 more. If they are not orders, delete them from the file',
  ]);
});

test('there is no note if no amount is negative', async () => {
  expect((await loaded(lines(['0', '5.00']))).overview.notes([])).toEqual([]);
});
