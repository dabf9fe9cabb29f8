import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutGuard } from '../../src/csv/formulas.ts';
import { csvLine } from '../../src/operator/row-export.ts';

const CELLS: readonly (readonly [cell: string | number | null, written: string])[] = [
  [null, ''],
  [3, '3'],
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "so"', '"say ""so"""'],
  ['two\nlines', '"two\nlines"'],
  [' padded', '" padded"'],
  ['=1+1', "'=1+1"],
  ['+SUM(A1)', "'+SUM(A1)"],
  ['@cmd', "'@cmd"],
  ['-2+3', "'-2+3"],
  ['\tx', "'\tx"],
  ['two\n=1+1', '"two\n\'=1+1"'],
  ['a;=1+1', "a;'=1+1"],
  ['-12.50', '-12.50'],
  ['+4915123', '+4915123'],
  ['00012', '00012'],
];

test.each(CELLS)('writes the cell %j as %j', (cell, written) => {
  expect(csvLine([cell])).toBe(`${written}\r\n`);
});

test('no cell starts like a formula, and every cell can be read back', () => {
  const cell = fc.string({ unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '"', ',', "'", 'a', '1', ' ') });
  fc.assert(
    fc.property(cell, cell, (first, second) => {
      const read = readLine(csvLine([first, second]));
      expect(read.map(withoutGuard)).toEqual([first, second]);
      for (const one of read) if (!isNumber(one)) expect(one).not.toMatch(/^[=+\-@\t\r]/);
    }),
    { numRuns: 2_000 },
  );
});

const isNumber = (cell: string) => /^[+-]?\d+(?:[.,]\d+)*$/.test(cell);

/** Reads one line of RFC 4180. */
function readLine(line: string): string[] {
  expect(line.endsWith('\r\n')).toBe(true);
  const cells = line.slice(0, -2).match(/"(?:[^"]|"")*"|[^",]+|,/g) ?? [];
  const read = [''];
  for (const cell of cells) {
    if (cell === ',') read.push('');
    else read[read.length - 1] = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
  }
  return read;
}
