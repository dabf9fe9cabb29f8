/** The description of how a file was understood, as people read it. */
import { expect, test } from 'vitest';
import { sheetLines } from '../../src/cli/orders/sheet-lines.ts';
import { examineSheet } from '../../src/csv/sheet.ts';
import { received } from '../csv/files.ts';

async function linesOf(text: string): Promise<string> {
  const file = await received(text);
  return sheetLines(examineSheet(file), file).join('\n');
}

test('shows each field with its column, and the unused columns', async () => {
  const lines = await linesOf('Order No.,Customer Email,ammount,colour\nA-1,ann@example.com,12.50,red\n');
  expect(lines).toContain('order_id        ← "Order No." (synonym)');
  expect(lines).toContain('amount          ← "ammount" (guessed, confidence 86%)');
  expect(lines).toContain('not used: "colour"');
});

test('warns about a file without a column of order numbers, with the labels it gives and the remedy', async () => {
  expect(await linesOf('customer_email,amount\nann@example.com,5\n')).toMatch(/Note: no column .*LS-.*--map order_id=/);
});

test('warns about a file without a column of amounts', async () => {
  const text = await linesOf('order_id,customer_email\nA-1,ann@example.com\n');
  expect(text).toMatch(/Note: no column fills amount.*--map amount=/);
});

test('takes a shop’s "Name" column that holds order numbers as the order number, without a warning', async () => {
  const lines = await linesOf('Name,Email,Total\n#1001,ann@example.com,5\n#1002,ben@example.com,6\n');
  expect(lines).toMatch(/order_id +← "Name"/);
  expect(lines).not.toContain('Note:');
});
