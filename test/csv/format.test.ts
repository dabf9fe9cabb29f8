/** The format of a file is detected from its beginning, and can be overridden. */
import { expect, test } from 'vitest';
import { detectDecimal } from '../../src/csv/format.ts';
import { anError } from '../support/matchers.ts';
import { loaded } from './files.ts';

const ROW = { order_id: 'A-1', client_id: '7', amount: '12.5', description: 'Nuts, bolts; and more' };

const WRITTEN: readonly (readonly [what: string, text: string, format: object])[] = [
  [
    'commas',
    'order_id,client_id,amount,description\nA-1,7,12.50,"Nuts, bolts; and more"\n',
    { delimiter: ',', lineEnd: 'LF' },
  ],
  ['semicolons', 'order_id;client_id;amount;description\nA-1;7;12,50;"Nuts, bolts; and more"\n', { delimiter: ';' }],
  [
    'tabs',
    'order_id\tclient_id\tamount\tdescription\r\nA-1\t7\t12.50\tNuts, bolts; and more\r\n',
    { delimiter: '\t', lineEnd: 'CRLF' },
  ],
  ['bars', 'order_id|client_id|amount|description\nA-1|7|12.50|Nuts, bolts; and more', { delimiter: '|' }],
  [
    'apostrophes',
    "order_id,client_id,amount,description\n'A-1','7','12.50','Nuts, bolts; and more'\n'A-2','8','1','x'\n",
    { quote: "'" },
  ],
  [
    'carriage returns',
    'order_id,client_id,amount,description\rA-1,7,12.50,"Nuts, bolts; and more"\r',
    { lineEnd: 'CR' },
  ],
  [
    'sep=',
    'sep=;\r\norder_id;client_id;amount;description\r\nA-1;7;12.50;"Nuts, bolts; and more"\r\n',
    { skippedLines: 1 },
  ],
  [
    'mixed line ends',
    'order_id,client_id,amount,description\r\nA-1,7,12.50,"Nuts, bolts; and more"\n\r\n\n',
    { newline: '\n' },
  ],
  ['blank lines first', '\n\n,,,\norder_id,client_id,amount,description\nA-1,7,12.50,"Nuts, bolts; and more"\n', {}],
];

test.each(WRITTEN)('reads a file written with %s', async (_, text, format) => {
  const { sheet, rows } = await loaded(text);
  expect(sheet.format).toMatchObject(format);
  expect(rows[0]).toMatchObject({ status: 'valid', values: ROW });
});

test('rows keep the line number that an editor shows, below sep=, blank lines and quoted line breaks', async () => {
  const { rows } = await loaded('sep=,\norder_id,client_id,description\n\nA-1,7,"one\ntwo\r\nthree"\nA-2,8,x\n');
  expect(rows.map(({ line }) => line)).toEqual([4, 7]);
  expect(rows[0]).toMatchObject({ values: { description: 'one\ntwo\r\nthree' } });
});

test('detects a file without a header and names its columns by number', async () => {
  const text = 'A-1,7,12.50\nA-2,8,13.50\n';
  await expect(loaded(text)).rejects.toMatchObject(anError('CSV_NO_CUSTOMER_COLUMN', 'no header'));
  const { sheet, rows } = await loaded(text, {
    map: new Map([
      ['order_id', '1'],
      ['client_id', '2'],
      ['amount', '3'],
    ] as const),
  });
  expect(sheet).toMatchObject({ format: { hasHeader: false }, columns: ['column_1', 'column_2', 'column_3'] });
  expect(rows).toMatchObject([{ line: 1, values: { order_id: 'A-1', client_id: '7' } }, { line: 2 }]);
});

test('a chosen format wins over the detected one', async () => {
  const text = 'order_id;client_id\nA,7;8\n';
  const chosen = { delimiter: ',', quote: "'", hasHeader: false, map: new Map([['client_id', '1']] as const) };
  const { sheet } = await loaded(text, chosen);
  expect(sheet.format).toMatchObject({ delimiter: ',', quote: "'", hasHeader: false });
  const accounting = await loaded('client_id,amount\n7,(12.50)\n', { accounting: true, decimal: '.' });
  expect(accounting.rows).toMatchObject([{ values: { amount: '-12.5' } }]);
});

test.each([
  [['12.50', '1,234'], undefined, '.'],
  [['12,50', '1.234'], undefined, ','],
  [['1,234', '2,500'], undefined, 'unsure'],
  [['1,234', '2,500'], ',', ','],
  [['12,50', '12.50'], undefined, 'unsure'],
  [['1.234.567', '1,234'], undefined, 'unsure'],
  [['1,234,567', '1.234'], undefined, 'unsure'],
  [['1.234.567', '1,234'], ',', ','],
  [['1.234.567', '1,234', '12,50'], undefined, ','],
  [['1,234,567', '1.234', '12.50'], undefined, '.'],
  [['1.234.567', '12.50'], undefined, 'unsure'],
  [['1,234,567', '12,50'], undefined, 'unsure'],
  [['1.234.567', '12'], undefined, 'unsure'],
  [['1.250.000', '250.000'], undefined, ','],
  [['Rp 1,250,000', 'Rp 250,000'], undefined, '.'],
  [['1.250.000', '250.000', '1,5'], undefined, ','],
  [['12', ''], undefined, 'unsure'],
] as const)('amounts such as %j, chosen %s, have the decimal sign %s', (cells, chosen, sign) => {
  expect(detectDecimal(cells, chosen).sign).toBe(sign);
});

test('a comma between digits groups thousands in a column with a name of East Asia', async () => {
  expect(detectDecimal(['15,000', '7'], undefined, '금액').sign).toBe('.');
  expect(detectDecimal(['2,030'], undefined, '合計金額').sign).toBe('.');
  expect(detectDecimal(['￥２，０３０'], undefined, '合計金額').sign).toBe('.');
  expect(detectDecimal(['2.030'], undefined, '合計金額').sign).toBe('unsure');
  expect(detectDecimal(['2,030'], undefined, 'Сумма').sign).toBe('unsure');
});

test('where the decimal sign is unknown it refuses only the cells that depend on it', async () => {
  const { sheet, rows } = await loaded('client_id,amount\n7,"1,234"\n7,12\n');
  expect(sheet.decimal).toEqual({ sign: 'unsure', why: '"1,234" may have decimals or thousands' });
  expect(rows).toMatchObject([{ problems: [{ code: 'AMOUNT_AMBIGUOUS' }] }, { values: { amount: '12' } }]);
});

test('an amount with thousands only does not decide the sign of another amount', async () => {
  const { rows } = await loaded('client_id,amount\n7,1.234.567\n7,"1,234"\n7,"2,50"\n');
  expect(rows).toMatchObject([{ values: { amount: '1234567' } }, { values: { amount: '1.234' } }, {}]);
  const untold = await loaded('client_id,amount\n7,1.234.567\n7,"1,234"\n7,12\n');
  expect(untold.rows).toMatchObject([
    { values: { amount: '1234567' } },
    { problems: [{ code: 'AMOUNT_AMBIGUOUS' }] },
    { values: { amount: '12' } },
  ]);
});

test('a bad row near the beginning does not hide the cells that show the decimal sign', async () => {
  const { sheet, rows } = await loaded('client_id,amount,note\n7,"1,234","x\n7,"1,234",\n7,"12,5",\n');
  expect(sheet.decimal.sign).toBe(',');
  expect(rows.map(({ status }) => status)).toEqual(['invalid', 'valid', 'valid']);
});

const BODY = 'Bestellnummer;Kundennummer;Betrag\nA-1;7;12,50\n';
const TITLES: readonly (readonly [what: string, text: string, headerLine: number])[] = [
  ['a title', `Umsatzliste 2026\n${BODY}`, 2],
  ['a title in a row of empty cells', `Umsatzliste 2026;;\n${BODY}`, 2],
  ['a title, a period and an empty line', `Umsatzliste\nZeitraum;01.01.-31.03.\n\n${BODY}`, 4],
  ['a quoted title with a line break', `"Liste\nder Bestellungen"\n${BODY}`, 3],
  ['sep= and a title', `sep=;\nListe\n${BODY}`, 3],
  ['a title above columns of other names', 'Liste\nBestellnummer;Wer;Wann;Wo\nA-1;7;x;y\n', 2],
];

test.each(TITLES)('finds the header below %s, and lines keep their numbers', async (_, text, headerLine) => {
  const { sheet, rows } = await loaded(text, { map: new Map([['client_id', '2']] as const) });
  expect([sheet.headerLine, sheet.title.length > 0]).toEqual([headerLine, true]);
  expect(rows).toMatchObject([{ line: headerLine + 1, values: { order_id: 'A-1', client_id: '7' } }]);
});

test('a row with as many cells as the header is no title', async () => {
  const { sheet } = await loaded('order_id;client_id;note\nOrder No;7;Customer ID\n');
  expect([sheet.headerLine, sheet.title]).toEqual([1, []]);
  const other = await loaded('client_id;Anlass;Ort\n7;Order No;Total\n');
  expect(other.sheet.headerLine).toBe(1);
});

test('--header-row names the line of the header, whatever is above it', async () => {
  const text = 'order_id;client_id;amount\nold;1;1\nNummer;Wer;Wieviel\nA-1;7;12,50\n';
  const map = new Map([
    ['order_id', 'Nummer'],
    ['client_id', 'Wer'],
    ['amount', 'Wieviel'],
  ] as const);
  const { sheet, rows } = await loaded(text, { headerLine: 3, map });
  expect(sheet).toMatchObject({ headerLine: 3, columns: ['Nummer', 'Wer', 'Wieviel'] });
  expect(rows).toMatchObject([{ line: 4, values: { order_id: 'A-1', client_id: '7' } }]);
});

test.each([
  [2, /Line 2 of .*orders\.csv cannot be the header: it is empty\./],
  [9, /Line 9 cannot be the header: .*orders\.csv has fewer lines\./],
])('--header-row %i is refused where there is no header', async (headerLine, says) => {
  const refused = loaded('Liste\n\norder_id,client_id\nA,7\n', { headerLine });
  await expect(refused).rejects.toMatchObject({
    code: 'CSV_HEADER_INVALID',
    exitCode: 2,
    message: expect.stringMatching(says),
  });
});

test('messages name the line of the header', async () => {
  await expect(loaded('Liste;;\nKundennummer;Total;Betrag\n7;1;2\n')).rejects.toThrow(/^Line 2: the columns/);
});

test('finds the header below a title in any encoding and block size', async () => {
  const text = `Größenliste\r\n${'x'.repeat(70_000)}\r\norder_id;client_id;note\r\nA-1;7;ü\r\n`;
  const { sheet, rows } = await loaded(Buffer.from(`\ufeff${text}`, 'utf16le'));
  expect(sheet).toMatchObject({ headerLine: 3, encoding: { encoding: 'utf-16le' } });
  expect(rows).toMatchObject([{ line: 4, cells: ['A-1', '7', 'ü'] }]);
});

test('the header of a DATEV export is found below the line that describes the file', async () => {
  const text =
    '"EXTF";700;21;"Buchungsstapel";2026\nUmsatz (ohne Soll/Haben-Kz);Konto;Belegfeld 1;Buchungstext;Kurs;Skonto\n';
  const map = new Map([['customer_name', 'Buchungstext']] as const);
  const { sheet, rows } = await loaded(`${text}119,00;10001;RE-1;Ann Lee;;\n`, { map });
  expect(sheet.headerLine).toBe(2);
  expect(rows[0]?.values).toMatchObject({ order_id: 'RE-1', amount: '119', customer_name: 'Ann Lee' });
});
