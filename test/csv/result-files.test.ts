/** Results as CSV files: no cell is executed, files are complete or absent, and they can be loaded again unchanged. */
import fs from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import Papa from 'papaparse';
import { expect, test } from 'vitest';
import { sentenceFor } from '../../src/base/reasons/reasons.ts';
import { decodeSample } from '../../src/csv/encoding.ts';
import { guarded, withoutGuard } from '../../src/csv/formulas.ts';
import { ResultFiles, type ResultForm, type ResultRow } from '../../src/csv/result-files.ts';
import { anError } from '../support/matchers.ts';
import { freshDir, loaded, verdicts } from './files.ts';

const form = (dir: string, more: Partial<ResultForm> = {}): ResultForm => ({
  dir,
  base: 'run-1',
  columns: ['order_id', 'client_id', 'amount'],
  title: [],
  delimiter: ',',
  quote: '"',
  lineEnd: 'LF',
  encoding: 'utf-8',
  withBom: false,
  ...more,
});
const row = (cells: readonly string[], more: Partial<ResultRow> = {}): ResultRow => ({
  line: 2,
  verdict: 'invalid',
  reason: 'RAGGED',
  detail: 'Line 2: too few',
  cells,
  ...more,
});

const HEADER =
  'lockstep_line,lockstep_verdict,lockstep_reason,lockstep_detail,lockstep_id,lockstep_order_id,order_id,client_id,amount\n';

const live = /^[\s\u200b\ufeff]*[=+\-@＝＋－＠]|^[\t\r]/;
const number = /^[+-]?\d+([.,]\d+)*$/;
const isLive = (cell: string) => !number.test(cell) && cell.split(/[\r\n]/).some((line) => live.test(line));
const hostile = fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n "\',;a1.|＝\ufeff'), maxLength: 6 });

test('100,000 cells: none starts like a formula, also after a line break, and each can be read back', () => {
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 20, maxLength: 20 }), (cells) => {
      // One comparison for twenty cells, because 100,000 comparisons would be slower than the code under test.
      expect(cells.filter((cell) => isLive(guarded(cell)))).toEqual([]);
      expect(cells.map((cell) => withoutGuard(guarded(cell)))).toEqual(cells);
    }),
    { numRuns: 5_000 },
  );
});

test.each([
  ['=1+1', "'=1+1"],
  ['=1+1\nfoo', "'=1+1\nfoo"],
  ['foo\r\n@x', "foo\r\n'@x"],
  [' =1', "' =1"],
  ["'=1", "''=1"],
  ['-12.50', '-12.50'],
  ['+4930123', '+4930123'],
  ['-1,234.50', '-1,234.50'],
  ['-2+3', "'-2+3"],
  ["'s-Hertogenbosch", "'s-Hertogenbosch"],
  ['a=b', 'a=b'],
])('writes the cell %j as %j', (cell, written) => {
  expect(guarded(cell)).toBe(written);
});

test('writes the decision before the original cells, in a file of all lines and in one a verdict', async () => {
  const files = new ResultFiles(form(await freshDir()));
  await files.write(
    'created',
    row(['A', '7', '1'], { verdict: 'created', reason: '', detail: '', id: '41', orderId: 'A' }),
  );
  await files.write('invalid', row(['B', '7'], { line: 3 }));
  const written = await files.close();
  expect([...written].map(([kind, { rows }]) => [kind, rows])).toEqual([
    ['results', 2],
    ['created', 1],
    ['invalid', 1],
  ]);
  const text = await Promise.all([...written.values()].map((file) => fs.readFile(file.path, 'utf8')));
  expect(text).toEqual([
    `${HEADER}2,created,,,41,A,A,7,1\n3,invalid,RAGGED,Line 2: too few,,,B,7\n`,
    `${HEADER}2,created,,,41,A,A,7,1\n`,
    `${HEADER}3,invalid,RAGGED,Line 2: too few,,,B,7\n`,
  ]);
});

test('cells are unchanged when a file of results is loaded again, with any delimiter', async () => {
  const rows = fc.array(fc.tuple(hostile, hostile), { minLength: 1, maxLength: 40 });
  const dir = await freshDir();
  await fc.assert(
    fc.asyncProperty(rows, fc.constantFrom(',', ';', '\t', '|'), fc.boolean(), async (cells, delimiter, withBom) => {
      const columns = ['client_id', '=note', "'x"];
      const files = new ResultFiles(form(dir, { columns, delimiter, withBom }));
      for (const [one, other] of cells) await files.write('rejected', row(['7', `${one}.`, `${other}.`]));
      const file = (await files.close()).get('rejected')?.path ?? '';
      const again = await loaded(await fs.readFile(file));
      expect(again.sheet).toMatchObject({ columns, format: { delimiter } });
      expect(again.rows.map((read) => read.cells)).toEqual(cells.map(([one, other]) => ['7', `${one}.`, `${other}.`]));
      const { data } = Papa.parse<string[]>(await fs.readFile(file, 'utf8'), { skipEmptyLines: true });
      for (const cell of data.flat()) if (!number.test(cell)) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
    }),
    { numRuns: 12 },
  );
});

const SEPARATORS = [',', ';', '\t', '|'] as const;
/** Cells that are harmless where the separator is the file's own. */
const ELSEWHERE = SEPARATORS.flatMap((separator) => [
  `a${separator}=1+1`,
  `a${separator} @cmd`,
  `a"${separator}"=1+1`,
  `a\n"${separator}+1`,
  `"${separator}\t-2+3`,
  `a${separator}＝1+1`,
]);

/** The cells that a program may see: with its own separator, with quotes or without. */
function cellsBy(separator: string, text: string): readonly string[] {
  const plain = text.split(/[\r\n]+/).flatMap((line) => line.split(separator));
  const quoted = Papa.parse<string[]>(text, { delimiter: separator }).data.flat();
  return [...plain, ...plain.map((cell) => cell.replace(/^"+|"+$/g, '')), ...quoted];
}

test('a results file holds no formula with any list separator, and can be loaded again unchanged', async () => {
  const random = fc.sample(fc.string({ unit: fc.constantFrom(...'=+-@\t\n "\',;|a1'), maxLength: 8 }), 500);
  const cells = [...ELSEWHERE, ...random].map((cell) => `${cell}.`);
  const dir = await freshDir();
  let [live, seen] = [[] as string[], 0];
  for (const delimiter of SEPARATORS) {
    const files = new ResultFiles(form(dir, { columns: ['client_id', 'description'], delimiter }));
    for (const cell of cells) await files.write('rejected', row(['7', cell]));
    const text = await fs.readFile((await files.close()).get('rejected')?.path ?? '', 'utf8');
    for (const separator of SEPARATORS) {
      const found = cellsBy(separator, text);
      live = [...live, ...found.filter(isLive)];
      seen += found.length;
    }
    expect((await loaded(text)).rows.map((read) => read.cells[1])).toEqual(cells);
  }
  expect([live, seen]).toEqual([[], expect.any(Number)]);
});

test('rows of a results file do not decide its decimal sign: ambiguous amounts stay ambiguous', async () => {
  const files = new ResultFiles(form(await freshDir(), { columns: ['client_id', 'amount'] }));
  const problem = { verdict: 'invalid', reason: 'AMOUNT_AMBIGUOUS', detail: '' };
  await files.write('invalid', { ...problem, line: 2, cells: ['7', '2,5'] });
  await files.write('invalid', { ...problem, line: 3, cells: ['7', '1,234'] });
  const written = await fs.readFile((await files.close()).get('invalid')?.path ?? '', 'utf8');
  expect(verdicts((await loaded(written)).rows)).toEqual(['2 ok', '3 AMOUNT_AMBIGUOUS']);
  expect(verdicts((await loaded(written, { decimal: ',' })).rows)).toEqual(['2 ok', '3 ok']);
});

test('a bad file corrected in its results is good; uncorrected it is bad for the same reasons', async () => {
  const text = 'id,line,amount,client_id\n1,a,oops,7\n2,b\n3,c,1,0\n4,"d,1,7\n';
  const first = await loaded(text);
  const dir = await freshDir();
  const files = new ResultFiles(form(dir, { columns: first.sheet.columns }));
  for (const bad of first.rows) {
    const [problem] = bad.status === 'invalid' ? bad.problems : [];
    const { code = '', facts = null } = problem ?? {};
    const detail = sentenceFor(code, facts);
    await files.write('invalid', { line: bad.line, verdict: 'invalid', reason: code, detail, cells: bad.cells });
  }
  const written = await fs.readFile((await files.close()).get('invalid')?.path ?? '', 'utf8');
  expect(verdicts(first.rows)).toEqual([
    '2 AMOUNT_NOT_A_NUMBER',
    '3 RAGGED',
    '4 CLIENT_ID_INVALID',
    '5 UNCLOSED_QUOTE',
  ]);
  const codes = verdicts((await loaded(written)).rows);
  expect(codes).toEqual(['2 AMOUNT_NOT_A_NUMBER', '3 RAGGED', '4 CLIENT_ID_INVALID', '5 ok']);
  const corrected = written.replace('1,a,oops,7', '1,a,5,7').replace('2,b', '2,b,5,7').replace('3,c,1,0', '3,c,1,7');
  expect(verdicts((await loaded(corrected)).rows)).toEqual(['2 ok', '3 ok', '4 ok', '5 ok']);
});

test('reports a full disk and leaves no partial file', async () => {
  const dir = await freshDir();
  const files = new ResultFiles(form(dir, { open: () => fs.open('/dev/full', 'w') }));
  await files.write('invalid', row(['A', '7', '1']));
  await expect(files.close()).rejects.toMatchObject(anError('DISK_FULL', dir));
  await files.abort();
  expect(await fs.readdir(dir)).toEqual([]);
});

test('giving up closes every file, also if none can be deleted', async () => {
  const dir = await freshDir();
  const opened: fs.FileHandle[] = [];
  const open = async (file: string) => {
    const handle = await fs.open(file, 'wx');
    opened.push(handle);
    return handle;
  };
  let isGone = false;
  const at = (entry: string) => path.join(dir, isGone ? 'x'.repeat(256) : entry);
  const files = new ResultFiles(form(dir, { open, folder: { path: dir, at, close: async () => {} } }));
  await files.write('invalid', row(['A', '7', '1']));
  isGone = true;
  await files.abort();
  expect(opened.map(({ fd }) => fd)).toEqual([-1, -1]);
});

test('names a directory that cannot be written to', async () => {
  const file = path.join(await freshDir(), 'file');
  await fs.writeFile(file, '');
  const writing = new ResultFiles(form(file)).write('invalid', row(['A']));
  await expect(writing).rejects.toMatchObject(anError('RESULTS_NOT_WRITTEN', '--results'));
});

test('a file appears under its name only when it is complete, and giving up keeps the previous file', async () => {
  const dir = await freshDir();
  const first = new ResultFiles(form(dir));
  await first.write('invalid', row(['A', '7', '1']));
  const written = await fs.readdir(dir);
  expect(written.map((name) => name.replace(/-[^-]*-[^-]*-[^-]*-[^-]*-[^-]*$/, '')).sort()).toEqual([
    '.lockstep-invalid',
    '.lockstep-results',
  ]);
  await first.close();
  const second = new ResultFiles(form(dir));
  await second.write('invalid', row(['B', '7', '1']));
  await second.abort();
  expect(await fs.readdir(dir)).toEqual(['run-1.invalid.csv', 'run-1.results.csv']);
  await new ResultFiles(form(dir)).close();
  expect(await fs.readdir(dir)).toEqual([]);
});

const SPOKEN = 'Titel;;\nStand: März;;\norder_id;client_id;note\nA;7;Größe "XL"\nB;;€ 5\n';

test.each([
  ['utf-8', Buffer.from(SPOKEN), false],
  ['utf-8', Buffer.from(`\ufeff${SPOKEN.replaceAll('\n', '\r\n')}`), true],
  ['utf-16le', Buffer.from(`\ufeff${SPOKEN}`, 'utf16le'), true],
  ['utf-16be', Buffer.from(`\ufeff${SPOKEN}`, 'utf16le').swap16(), true],
  ['windows-1252', Buffer.from(SPOKEN.replace('€', '\x80'), 'latin1'), false],
] as const)('the file of all lines is the source with added columns, in %s', async (encoding, bytes, withBom) => {
  const { sheet, rows } = await loaded(bytes);
  expect(sheet.encoding).toMatchObject({ encoding, hasBom: withBom });
  const { title, columns, format } = sheet;
  const files = new ResultFiles(form(await freshDir(), { ...format, title, columns, encoding, withBom }));
  for (const { line, cells } of rows)
    await files.write(
      line === 4 ? 'created' : 'invalid',
      row(cells, { line, verdict: 'x', reason: 'R', detail: 'Π’' }),
    );
  const written = await fs.readFile((await files.close()).get('results')?.path ?? '');
  const decode = (file: Buffer) => decodeSample(file, encoding);
  const decoded = decode(written);
  const bare = decoded.replace(/^lockstep_line;.*?lockstep_order_id;/m, '').replace(/^\d;x;R;[^;]*;;;/gm, '');
  expect(written.subarray(0, 2).equals(bytes.subarray(0, 2))).toBe(true); // the byte order mark, or the title
  expect(bare).toBe(decode(bytes).replace('Größe "XL"', '"Größe ""XL"""'));
  expect(decoded).toContain(encoding === 'windows-1252' ? ';?’;' : ';Π’;');
  const again = await loaded(written);
  expect(again.rows.map(({ cells }) => cells)).toEqual(rows.map(({ cells }) => cells));
});

test('a file that is quoted with apostrophes has results that are', async () => {
  const text = "'order_id','client_id','note'\n'A','7','it''s, \"so\"'\n'B','8','x'\n";
  const { sheet, rows } = await loaded(text);
  const files = new ResultFiles(form(await freshDir(), { ...sheet.format, columns: sheet.columns }));
  for (const { line, cells } of rows)
    await files.write('created', row(cells, { line, detail: 'Line 2 (note): "x" is' }));
  const written = await fs.readFile((await files.close()).get('results')?.path ?? '');
  expect((await loaded(written)).rows.map(({ cells }) => cells)).toEqual(rows.map(({ cells }) => cells));
});

test('a file of results is read by the names of its columns: all its cells may be wrong', async () => {
  const files = new ResultFiles(form(await freshDir(), { columns: ['Kundennummer', 'Betrag'] }));
  await files.write('invalid', row(['7', 'zwölf']));
  const written = await fs.readFile((await files.close()).get('invalid')?.path ?? '');
  expect(verdicts((await loaded(written)).rows)).toEqual(['2 AMOUNT_NOT_A_NUMBER']);
});

test.each(['Customer', 'Customer ID'])(
  'codes that another program gave its customers in the column "%s" are no ids in a file of results either',
  async (name) => {
    const text = `Order ID,${name},Customer Name,Total\nA-1,C02514,Ann Lee,5\nA-2,C02515,Ben Ode,x\n`;
    const { sheet, rows } = await loaded(text);
    const files = new ResultFiles(form(await freshDir(), { columns: sheet.columns }));
    for (const { line, cells } of rows) await files.write('invalid', row(cells, { line }));
    const written = await fs.readFile((await files.close()).get('invalid')?.path ?? '');
    const fields = (await loaded(written)).sheet.mapping.columns.map(({ field }) => field);
    expect(fields).toEqual(sheet.mapping.columns.map(({ field }) => field));
  },
);

test('the header of results is found below a title, whatever its columns are called', async () => {
  const title = [
    ['Liste', 'März'],
    ['Stand', '1.3.', 'x', 'y'],
  ];
  const files = new ResultFiles(form(await freshDir(), { title, columns: ['Nr', 'client_id'] }));
  await files.write('created', row(['1', '7']));
  const written = await fs.readFile((await files.close()).get('results')?.path ?? '');
  expect((await loaded(written)).sheet).toMatchObject({ headerLine: 3, columns: ['Nr', 'client_id'], title });
});

test('an order keeps the order_id that an earlier load gave it, unless the file has one now', async () => {
  const files = new ResultFiles(form(await freshDir(), { columns: ['client_id', 'order_id'] }));
  await files.write('rejected', row(['7', ''], { line: 2, orderId: 'LS-1a2b3c4d-2' }));
  await files.write('rejected', row(['7', 'A'], { line: 3, orderId: 'LS-1a2b3c4d-3' }));
  await files.write('invalid', row(['7', ''], { line: 4 }));
  const written = await fs.readFile((await files.close()).get('results')?.path ?? '');
  const labels = (await loaded(written)).rows.map(({ values }) => values.order_id);
  expect(labels).toEqual(['LS-1a2b3c4d-2', 'A', undefined]);
});

test('a file of results that was sorted, and whose columns were moved, deleted or added, keeps the identity of its orders', async () => {
  const file =
    '\ufeffnote;lockstep_order_id;client_id;lockstep_line;amount\r\nx;LS-1-3;8;3;20,50\r\ny;LS-1-2;7;2;10,50\r\nz;LS-1-4;7;4\r\n';
  const { sheet, rows } = await loaded(Buffer.from(file));
  expect(sheet.columns).toEqual(['note', 'client_id', 'amount']);
  expect(rows.map((one) => one.values.order_id ?? (one.status === 'invalid' && one.label))).toEqual([
    'LS-1-3',
    'LS-1-2',
    'LS-1-4',
  ]);
});
