/** Files of orders: no row is lost, whatever the file contains, and a regular file is read as RFC 4180 says. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { sentenceFor } from '../../src/base/reasons/reasons.ts';
import { receive } from '../../src/csv/receive.ts';
import { checkedRows, examineSheet } from '../../src/csv/sheet.ts';
import type { CheckedRow } from '../../src/csv/validate.ts';
import { brokenBytes, expectRefusal, fuzz, onFile, toBytes } from './fuzz.ts';

const NAMES = ['order_id', 'client_id', 'amount', 'description', 'customer_email', 'status'];
/** Spaces, or a line that is drawn. */
const LINE = /^[\s\-+=_|*:]*$/;
const cell = fc.oneof(
  fc.constantFrom('', '12,50', '1.234,50 €', '-3', 'ann@example.com', 'open', '2024-01-05', 'x "y"', 'two\nlines', ' '),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);
const file = fc
  .record({
    rows: fc.array(fc.array(cell, { minLength: 5, maxLength: 5 }), { minLength: 1, maxLength: 6 }),
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    newline: fc.constantFrom('\n', '\r\n', '\r'),
    title: fc.constantFrom('', 'Orders of May\n', '\ufeff'),
  })
  .map(({ rows, delimiter, newline, title }) => {
    const quoted = (text: string) => (/["\r\n,;\t|]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    // Each row has a mark of its own, which must be found again.
    const lines = [NAMES, ...rows.map((cells, n) => [`M${n}M`, ...cells])].map((row) =>
      row.map(quoted).join(delimiter),
    );
    return title + lines.map((line) => line + newline).join('');
  });

const rowsOf = onFile('orders.csv', async (file, spoolDir) => {
  const received = await receive(file, { spoolDir });
  try {
    const sheet = examineSheet(received);
    const rows: CheckedRow[] = [];
    for await (const batch of checkedRows(received, sheet)) rows.push(...batch);
    return { sheet, rows };
  } finally {
    await received.close();
  }
});

fuzz('loses no row of a file, and reads a regular one as it is', {
  corpus: [
    ...['', '\n', 'a', 'order_id,client_id\nM0M,1\n', 'order_id,client_id\nM0M,"1\nM1M,2\n', 'order_id\rM0M\rM1M'],
    ...[
      'client_id\n"M0M"x\nM1M\n',
      'client_id\n\0M0M\nM1M\n',
      '\u00ff\u00fec\0\n\0',
      '\u001f\u008b',
      'client_id,x\n,,,M0M\n',
      'client_id;x\nM0M;1\n:',
    ],
  ],
  inputs: brokenBytes(file, ['""', '",', '\r\n', '\n\n', 'client_id', 'amount', 'sep=;\n', 'M7M']),
  async check(bytes) {
    const read = await rowsOf(toBytes(bytes)).catch(expectRefusal);
    if (read === undefined) return;
    const { sheet, rows } = read;
    const lines = rows.map(({ line }) => line);
    expect(lines).toEqual([...new Set(lines)].toSorted((a, b) => a - b));
    for (const row of rows) expectVerdict(row);
    const found = [sheet.columns, ...sheet.title, ...rows.map(({ cells }) => cells)].flat().join('\n');
    for (const [mark] of bytes.matchAll(/M\dM/g)) expect(found).toContain(mark);
    const { delimiter, quote, newline, skippedLines, hasHeader } = sheet.format;
    if (quote !== '"' || sheet.encoding.encoding !== 'utf-8' || skippedLines > 0 || sheet.added) return;
    const regular = strictRows(
      toBytes(bytes)
        .toString()
        .replace(/^\ufeff/, ''),
      delimiter,
      newline,
    );
    const kept = regular?.filter((cells) => cells.some((text) => !LINE.test(text))).slice(hasHeader ? 1 : 0);
    const width = sheet.columns.length;
    const fitted = (cells: readonly string[]) =>
      cells.slice(0, Math.max(width, cells.findLastIndex((text) => text.trim() !== '') + 1));
    if (kept) expect(rows.map(({ cells }) => fitted(cells))).toEqual(kept.map(fitted));
  },
});

function expectVerdict(row: CheckedRow): void {
  const problems = row.status === 'valid' ? row.warnings : row.problems;
  if (row.status === 'invalid') expect(problems).not.toEqual([]);
  for (const { code, facts } of problems) expect(sentenceFor(code, facts).trim()).not.toBe('');
}

/** Undefined if a quote is anywhere but around a whole cell, or if the text ends within a line end. */
function strictRows(text: string, delimiter: string, newline: string): readonly (readonly string[])[] | undefined {
  if (text.includes('\0') || (newline === '\n' && text.endsWith('\r'))) return undefined;
  const separator = delimiter.replace(/\W/, '\\$&');
  const token = new RegExp(`("(?:[^"]|"")*"|[^"${separator}${newline}]*?)(${separator}|\r?${newline}|\r?$)`, 'y');
  const rows: string[][] = [[]];
  while (token.lastIndex < text.length) {
    const [, written, end = ''] = token.exec(text) ?? [];
    if (written === undefined) return undefined;
    rows.at(-1)?.push(written.startsWith('"') ? written.slice(1, -1).replaceAll('""', '"') : written);
    if (end !== delimiter) rows.push([]);
    else if (token.lastIndex === text.length) rows.at(-1)?.push('');
  }
  return rows;
}
