/** The description of how a file was understood, as people read it. */
import { expect, test } from 'vitest';
import { sheetLines } from '../../src/cli/print/sheet-lines.ts';
import { readPresets } from '../../src/csv/presets.ts';
import { examineSheet, type SheetChoices } from '../../src/csv/sheet.ts';
import { received } from '../csv/files.ts';

async function linesOf(text: string, choices: SheetChoices = {}): Promise<string> {
  const file = await received(text);
  return sheetLines(examineSheet(file, choices), file).join('\n');
}

test('shows each field with its column, and the unused columns', async () => {
  const lines = await linesOf('Order No.,Customer Email,ammount,colour\nA-1,ann@example.com,12.50,red\n');
  expect(lines).toContain('order_id        ← "Order No." (a common name for it; 1 of 1 cell fits)');
  expect(lines).toContain('amount          ← "ammount" (a similar name, 86% equal; 1 of 1 cell fits)');
  expect(lines).toContain('not used: "colour"');
});

test('takes a shop’s "Name" column that holds order numbers as the order number', async () => {
  const lines = await linesOf('Name,Email,Total\n#1001,ann@example.com,5\n#1002,ben@example.com,6\n');
  expect(lines).toMatch(/order_id +← "Name"/);
});

test('says how amounts are read whose decimal signs differ', async () => {
  const lines = await linesOf('order_id,client_id,amount\nA-1,1,"1,50"\nA-2,1,2.50\n');
  expect(lines).toContain(
    'the decimal sign of each amount is its own; an amount that can be read in two ways, such as 1.234, is not valid ("2.50" has a decimal point, "1,50" a decimal comma)',
  );
});

test('counts the cells that fit a field, and says why a column with its name is not used', async () => {
  const rows = Array.from({ length: 1_000 }, (_, n) => `A-${n},cus_${n},ann@example.com,${n < 2 ? 'free' : n}`);
  const lines = await linesOf(['Order No.,Customer ID,Customer Email,Total', ...rows, ''].join('\n'));
  expect(lines).toMatch(/amount +← "Total" \(a common name for it; 998 of 1,000 cells fit\)/);
  expect(lines).toContain('not used: "Customer ID" (not client_id: 0 of 1,000 cells fit)');
  expect(lines).not.toContain('client_id  ');
});

test('names the preset and why, the columns that were told, the lines that are combined and the limit', async () => {
  const presets = await readPresets();
  const map = new Map([
    ['order_id', 'Id'],
    ['description', ''],
  ] as const);
  const lines = await linesOf(
    '2026,,,,,,\nName,Email,Financial Status,Total,Lineitem name,Billing Name,Id\n#1,a@x.de,paid,5,Mug,Ann,9\n',
    { presets, map, limit: 10 },
  );
  expect(lines).toContain('header on line 2');
  expect(lines).toMatch(
    /preset shopify-orders \(Shopify orders\), because the header has Name, Email, .*--preset none/,
  );
  expect(lines).toMatch(/order_id +← "Id" \(as chosen; 1 of 1 cell fits\)/);
  expect(lines).toMatch(/amount +← "Total" \(by the preset; 1 of 1 cell fits\)/);
  expect(lines).toContain('no column, as chosen: description');
  expect(lines).toContain('become one order: the first amount counts, descriptions are joined');
  expect(lines).toContain('at most 10 orders, because of --limit 10');
});
