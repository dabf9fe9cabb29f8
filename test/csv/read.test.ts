/** Rows as text: where they begin and what is wrong with them. One bad row spoils no other. */
import fc from 'fast-check';
import Papa from 'papaparse';
import { expect, test } from 'vitest';
import { type ReadOptions, readRows, type TextRow } from '../../src/csv/read.ts';
import { collected } from './files.ts';

const dialect = { delimiter: ',', quote: '"', newline: '\n' } as const;

async function rowsOf(text: string, blockChars = text.length, options: ReadOptions = {}): Promise<readonly TextRow[]> {
  const blocks = (async function* () {
    for (let at = 0; at < text.length; at += blockChars) yield text.slice(at, at + blockChars);
  })();
  return (await collected(readRows(blocks, dialect, options))).flat();
}

const shown = (rows: readonly TextRow[]) =>
  rows.map(({ line, cells, fault }) =>
    fault ? `${line} ${fault.code}@${fault.facts.line}` : `${line} ${cells.join('|')}`,
  );

const CASES: readonly (readonly [what: string, text: string, rows: readonly string[]])[] = [
  ['plain rows', 'a,b\n1,2\n', ['1 a|b', '2 1|2']],
  ['no line end at the end', 'a,b\n1,2', ['1 a|b', '2 1|2']],
  ['carriage returns before line ends', 'a,b\r\n1,"2"\r\n', ['1 a|b', '2 1|2']],
  ['blank lines', 'a,b\n\n , \n\r\n1,2\n', ['1 a|b', '5 1|2']],
  ['quoted line breaks', 'a,"b\n\nc"\n1,2\n', ['1 a|b\n\nc', '4 1|2']],
  ['doubled quotes', 'a,"b ""c"""\n1,2\n', ['1 a|b "c"', '2 1|2']],
  ['quotes inside plain cells', 'a,5" pipe\n1,2\n', ['1 a|5" pipe', '2 1|2']],
  ['a quote never closed', 'a,b\n1,"2\n3,4\n5,6\n', ['1 a|b', '2 UNCLOSED_QUOTE@2', '3 3|4', '4 5|6']],
  [
    'a quote closed by the next one',
    'a,b\n1,"2\n3,"4, 5"\n6,7\n',
    ['1 a|b', '2 UNCLOSED_QUOTE@2', '3 3|4, 5', '4 6|7'],
  ],
  [
    'a quote closed by an inch sign in a later row',
    'a,b,c\n1,"x,5\n2,y,6\n3,55",7\n4,z,8\n',
    ['1 a|b|c', '2 UNCLOSED_QUOTE@2', '3 2|y|6', '4 3|55"|7', '5 4|z|8'],
  ],
  [
    'a quote in the last column, closed in a later row',
    'a,b,c\nA1,5,"x\nA2,6,y\nA3,7,55"\n',
    ['1 a|b|c', '2 UNCLOSED_QUOTE@2', '3 A2|6|y', '4 A3|7|55"'],
  ],
  ['lines of a note with delimiters', 'a,b,c\n1,5,"x\nred, big, new"\n', ['1 a|b|c', '2 1|5|x\nred, big, new']],
  ['quoted delimiters beside quoted lines', 'a,b,c\n1,",2\n3",",4"\n', ['1 a|b|c', '2 1|,2\n3|,4']],
  ['quoted lines of other rows', 'a,b,c\n"1","x\n2,y,6","5"\n', ['1 a|b|c', '2 1|x\n2,y,6|5']],
  ['a quote opened below a good one', 'a,b\n"1\n1","2\n3,4\n', ['1 a|b', '2 UNCLOSED_QUOTE@3', '4 3|4']],
  ['a quote opened on the last line', 'a,b\n1,"2', ['1 a|b', '2 UNCLOSED_QUOTE@2']],
  ['quotes not doubled in one line', 'a,b\n1,"x "y" z"\n3,4\n', ['1 a|b', '2 BAD_QUOTES@2', '3 3|4']],
  ['a NUL byte', 'a,b\n1,\0\n3,4\n', ['1 a|b', '2 NUL_BYTE@2', '3 3|4']],
];

test.each(CASES)('%s', async (_, text, rows) => {
  for (const blockChars of [text.length, 7, 1]) expect(shown(await rowsOf(text, blockChars))).toEqual(rows);
});

test('the row of an unclosed quote ends at its line, with the quote as text', async () => {
  const [, bad] = await rowsOf('a,b,c\n1,"2,3\n4,5,6\n');
  expect(bad?.cells).toEqual(['1', '"2', '3']);
});

test('gives up at the cap on an unclosed quote far from the end of the file', async () => {
  const text = `a,b\n1,"2\n${'3,4\n'.repeat(9_000)}`;
  const rows = await rowsOf(text, 1000, { maxRowChars: 5000 });
  expect(rows).toHaveLength(9_002);
  expect(shown(rows.slice(1, 3))).toEqual(['2 UNCLOSED_QUOTE@2', '3 3|4']);
  expect(rows.at(-1)?.line).toBe(9_002);
});

test('reports a quoted cell longer than the cap once, and loses no row after it, or in it if its quote is stray', async () => {
  const cell = 'a line\nof ""text"", that is no row\n'.repeat(500);
  for (const blockChars of [100_000, 1000, 7]) {
    const closed = await rowsOf(`a,b,c,d\n1,2,"${cell}",3\n4,5,6,7\n`, blockChars, { maxRowChars: 5000 });
    const last = 3 + 1000;
    expect(shown(closed)).toEqual([
      '1 a|b|c|d',
      expect.stringMatching(/^2 (UNCLOSED_QUOTE|ROW_TOO_LONG)@2$/),
      `${last} 4|5|6|7`,
    ]);
    const stray = await rowsOf(`a,b,c,d\n1,2,"${cell}4,5,6,7\n8,9,0,1\n`, blockChars, { maxRowChars: 5000 });
    expect(shown(stray)).toEqual(['1 a|b|c|d', '2 UNCLOSED_QUOTE@2', `${last - 1} 4|5|6|7`, `${last} 8|9|0|1`]);
    const short = await rowsOf(`a,b,,\n1,"${cell.replaceAll(',', '')}4,5\n8,9\n`, blockChars, { maxRowChars: 5000 });
    expect(shown(short).slice(1)).toEqual(['2 UNCLOSED_QUOTE@2', `${last - 1} 4|5`, `${last} 8|9`]);
  }
});

test('reports a row longer than the cap, wherever the blocks end, and loses no other row', async () => {
  const text = `a,b\n1,${'x'.repeat(6000)}\n3,4\n`;
  for (const blockChars of [text.length, 1000, 5000, 6008]) {
    const rows = await rowsOf(text, blockChars, { maxRowChars: 5000 });
    expect(shown(rows)).toEqual(['1 a|b', '2 ROW_TOO_LONG@2', '3 3|4']);
    expect(rows[1]?.cells.join('').length).toBeLessThan(100);
  }
});

test('a stray quote on every line takes linear time, and every line is reported', async () => {
  const lines = 60_000;
  const rows = await rowsOf('1,"Foo,3\n'.repeat(lines), 65_536);
  expect(rows).toHaveLength(lines);
  expect(rows.every(({ fault }) => fault !== undefined)).toBe(true);
});

test('reads what PapaParse writes unchanged, with its lines, however it is cut into blocks', async () => {
  // Without digits: lines of numbers inside quotes may be rows that a stray quote swallowed (swallowed-rows.ts).
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'é', 'b', "'"), maxLength: 6 });
  const table = fc.array(fc.tuple(fc.constant('x'), cell, cell), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(table, fc.integer({ min: 1, max: 40 }), async (cells, blockChars) => {
      const text = Papa.unparse(cells, { newline: '\n' });
      const rows = await rowsOf(text, blockChars);
      expect(rows.map((row) => row.cells)).toEqual(cells);
      expect(rows.map(({ line }) => line)).toEqual(linesOf(cells));
    }),
    { numRuns: 300 },
  );
});

function linesOf(rows: readonly (readonly string[])[]): readonly number[] {
  let line = 1;
  return rows.map((row) => {
    const begins = line;
    line += 1 + row.join('').split('\n').length - 1;
    return begins;
  });
}
