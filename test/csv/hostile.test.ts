/** Hostile files: a clear error, or bad rows reported and the good rows beside them taken. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { receive } from '../../src/csv/receive.ts';
import { checkedRows, examineSheet } from '../../src/csv/sheet.ts';
import { fileOf, loaded, received, verdicts } from './files.ts';

const REFUSED: readonly (readonly [what: string, code: string, text: string])[] = [
  ['blank lines only', 'CSV_EMPTY', '\n\r\n  \n'],
  ['1,000 blank lines above the header', 'CSV_HEADER_INVALID', `${'\n'.repeat(1_000)}order_id,client_id\nA-1,7\n`],
  ['a header only', 'CSV_NO_ROWS', 'order_id,client_id\n'],
  ['a header without an end', 'CSV_NO_ROWS', 'order_id,client_id'],
  ['1,000,000 columns', 'CSV_HEADER_INVALID', `${'a,'.repeat(1_000_000)}client_id\n1\n`],
  ['2,000 columns', 'CSV_TOO_MANY_COLUMNS', `${'a,'.repeat(2_000)}client_id\n1\n`],
  ['one line of 3 MiB', 'CSV_HEADER_INVALID', 'x'.repeat(3 * 1024 * 1024)],
  ['one line of 300 KiB and a row', 'CSV_HEADER_INVALID', `${'x'.repeat(300 * 1024)}\n1\n`],
  ['a quote left open in the header', 'CSV_HEADER_INVALID', '"order_id,client_id\nA,7\n'],
  ['a web page', 'CSV_HEADER_INVALID', '<!DOCTYPE html>\n<html><body>Sign in</body></html>\n'],
  ['a table of HTML', 'CSV_HEADER_INVALID', '<meta charset="utf-8"><table>\n<tr><td>order_id</td></tr>\n</table>\n'],
  ['an archive of a web page', 'CSV_HEADER_INVALID', 'MIME-Version: 1.0\nContent-Type: multipart/related\n'],
  ['JSON', 'CSV_HEADER_INVALID', '[{"order_id": "A", "client_id": 7}]\n'],
  ['lines in quotes as a whole', 'CSV_NO_CUSTOMER_COLUMN', '"order_id,client_id"\n"A,7"\n'],
  ['a vCard', 'CSV_HEADER_INVALID', 'BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ann Lee\r\nEND:VCARD\r\n'],
  ['a bank statement in QIF', 'CSV_HEADER_INVALID', '!Type:Bank\nD01/02/2026\nT12.50\nPAnn Lee\n^\n'],
  ['RTF', 'CSV_HEADER_INVALID', '{\\rtf1\\ansi order_id,client_id\n}\n'],
  [
    'a header of two lines',
    'CSV_HEADER_INVALID',
    'order_id,client_id,amount,status\nBestellnummer,Kundennummer,Betrag,Status\nA,7,1,open\n',
  ],
];

test.each(REFUSED)('refuses %s with %s', async (_, code, text) => {
  await expect(loaded(text)).rejects.toMatchObject({ code, exitCode: 2 });
});

test('takes good rows beside every kind of bad row', async () => {
  const bad = ['A-1', 'A-2,7,1,x', 'A-3,"7,1', 'A-4,7,"x "y" z"', 'A-5,0,1', 'A-6,7 8,1', 'A-7,7,NaN', 'A-8,7,-0'];
  const more = ['A-9,7,1e309', 'A-10,7,2024-01-05', 'A-11,\0,1', `A-12,7,${'9'.repeat(300_000)}`, '"A-13"x,7,1'];
  const good = (n: number) => `=G-${n},7,00012`;
  const lines = [...bad, ...more].flatMap((row, n) => [row, good(n)]);
  const { rows } = await loaded(
    `__proto__,order_id,client_id,amount,constructor\n${lines.map((line) => `x,${line},y`).join('\n')}\n`,
  );
  const taken = rows.filter(({ status }) => status === 'valid');
  expect(taken.map(({ values }) => values.order_id)).toEqual([...bad, ...more].map((_, n) => `=G-${n}`));
  expect(taken[0]?.values).toEqual({ order_id: '=G-0', client_id: '7', amount: '12' });
  expect(rows.map(({ line }) => line)).toEqual(lines.map((_, index) => index + 2));
  expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(12);
});

test('reports a row of a million cells and reads the next row', async () => {
  const { rows } = await loaded(`order_id,client_id\nA,7\nB,${'x,'.repeat(1_000_000)}\nC,7\n`);
  expect(verdicts(rows)).toEqual(['2 ok', '3 ROW_TOO_LONG', '4 ok']);
});

test('reads a file of one unclosed quote and many rows in bounded memory', async () => {
  const file = await received(
    `order_id,client_id,description\nA,7,"open\n${`B,7,${'row after row '.repeat(5)}\n`.repeat(90_000)}`,
  );
  const sheet = examineSheet(file);
  let [rows, largest] = [0, 0];
  const before = process.memoryUsage().heapUsed;
  for await (const batch of checkedRows(file, sheet)) {
    rows += batch.length;
    largest = Math.max(largest, batch.length);
  }
  expect(rows).toBe(90_001);
  expect(largest).toBeLessThan(30_000);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(150 * 1024 * 1024);
});

test('reports an unclosed quote before 140,000 short lines and reads the lines', async () => {
  const { rows } = await loaded(`client_id\n"7\n${'1\n'.repeat(140_000)}`);
  expect(rows).toHaveLength(140_001);
  expect(verdicts(rows.slice(0, 2))).toEqual(['2 UNCLOSED_QUOTE', '3 ok']);
});

test('a file changed after it was examined ends with an error, not with its new rows', async () => {
  const source = await fileOf('order_id,client_id\nA,7\n');
  const file = await receive(source, { spoolDir: path.dirname(source) });
  const sheet = examineSheet(file);
  await writeFile(source, 'order_id,client_id\nA,8\n');
  await expect(checkedRows(file, sheet).next()).rejects.toMatchObject({ code: 'CSV_CHANGED' });
  await file.close();
});
