/** Files of databases, reports and old programs: what is in them besides orders, and what is never treated as one. */
import { expect, test } from 'vitest';
import { sentenceFor } from '../../src/base/reasons/reasons.ts';
import { anError } from '../support/matchers.ts';
import { loaded, verdicts } from './files.ts';

test('an amount that only a later part of a large file makes unclear is refused, not read a thousand times too low', async () => {
  const row = (n: number) => `${n};Ann Lee;${n % 900};${'x'.repeat(60)}\n`;
  const first = Array.from({ length: 18_000 }, (_, n) => row(n + 1)).join('');
  const { rows } = await loaded(`Bestellnummer;Kunde;Betrag;Notiz\n${first}A;Ann Lee;1.234;\nB;Ann Lee;1.234,50;\n`);
  expect(verdicts(rows.slice(18_000))).toEqual(['18002 AMOUNT_AMBIGUOUS', '18003 ok']);
  expect(rows.at(-1)?.values.amount).toBe('1234.5');
});

test('an amount without quotes is not cut at its decimal comma', async () => {
  const text = 'Order No,Customer,Amount,Note\n1,Ann Lee,12,50,\n2,Ann Lee,1,234.50,\n3,Ann Lee,7,x,\n4,Ann Lee,7,,,\n';
  expect(verdicts((await loaded(text)).rows)).toEqual(['2 RAGGED', '3 RAGGED', '4 ok', '5 ok']);
  const { rows } = await loaded('Nr;Kunde;Betrag;Menge\n7;Ann Lee;12;50;\n');
  expect(rows).toMatchObject([{ status: 'valid', values: { amount: '12' } }]);
});

test('a repeated header is no order', async () => {
  const text = 'Order No,Customer,Product,\n1,Ann Lee,Lamp,\nOrder No, Customer,Product,\n2,Ann Lee,Customer,\n';
  expect(verdicts((await loaded(text)).rows)).toEqual(['2 ok', '3 HEADER_REPEATED', '4 ok']);
});

test('a table with another delimiter above another table is not left out as a title', async () => {
  const text =
    'order_id,customer_email,amount\n1,ann@x.org,5.00\n2,ben@x.org,6.00\nOrder No;Mail;Total\n3;cy@x.org;3,50\n4;di@x.org;4,50\n';
  await expect(loaded(text)).rejects.toMatchObject(
    anError(
      'CSV_HEADER_INVALID',
      'above the header in line 4 is another table, with the columns "order_id", "customer_email"',
    ),
  );
  expect(verdicts((await loaded(text, { headerLine: 4 })).rows)).toEqual(['5 ok', '6 ok']);
});

test('rows below a header with other columns are refused, until the first header is repeated', async () => {
  const header = 'Order No,Customer,Amount,Qty';
  const text = `${header}\n1,Ann Lee,5.00,2\nOrder No,Customer,Qty,Amount\n2,Ben Ode,4,9.00\n${header}\n3,Ann Lee,6.00,1\n`;
  const { rows } = await loaded(text);
  expect(verdicts(rows)).toEqual(['2 ok', '3 HEADER_CHANGED', '4 HEADER_CHANGED', '5 HEADER_REPEATED', '6 ok']);
  const [, itself, below] = rows.map((row) =>
    row.status === 'invalid' ? sentenceFor('HEADER_CHANGED', row.problems[0]?.facts ?? null) : '',
  );
  expect(itself).toMatch(/^Line 3: The row is a header with other columns/);
  expect(below).toMatch(
    /^Line 4: Line 3 is a header with other columns .* Load this header and the lines below it as a file of their own; if it only describes the columns, remove it\.$/,
  );
});

test('the header of another export is found by its names, also without amounts', async () => {
  const text = 'Order No,Customer,Note\n1,Ann Lee,x\nBestellnummer,Status,Kunde\n2,offen,Ben Ode\n3,Order,y\n';
  expect(verdicts((await loaded(text)).rows)).toEqual([
    '2 ok',
    '3 HEADER_CHANGED',
    '4 HEADER_CHANGED',
    '5 HEADER_CHANGED',
  ]);
});

test('a header is found below a line that groups its columns', async () => {
  const text =
    'Report\n\nSale,,,,Listing,,Buyer,\nOrder No,Date,Status,Amount,SKU,Title,Customer,City\n1,1/2,paid,5.00,x,Lamp,Ann Lee,Gent\n';
  const { sheet, rows } = await loaded(text);
  expect([sheet.headerLine, rows[0]?.values.customer_name]).toEqual([4, 'Ann Lee']);
});

test('a header of unknown names is found below lines with less than half of its cells', async () => {
  const text = 'Export\nCard: 1,Owner: Lee\nFrom: Monday,\n\nDatum,Wie,Wat,Som,Waar\n1 mei,Ann Lee,Lamp,"5,00",Gent\n';
  const { sheet, rows } = await loaded(text, {
    map: new Map([
      ['customer_name', 'Wie'],
      ['amount', 'Som'],
    ] as const),
  });
  expect([sheet.headerLine, rows[0]?.values.amount]).toEqual([5, '5']);
});

test.each([
  ['psql', ' order_id | customer | amount\n----------+----------+--------\n 1        | Ann Lee  |   5.00\n', ['3 ok']],
  [
    'MySQL',
    '+----+-----+\n| nr | customer | amount |\n+----+-----+\n| A1 | Ann Lee | 5.00 |\n+----+-----+\n',
    ['4 ok'],
  ],
  ['Markdown', '| order_id | customer | amount |\n|---|:---|---:|\n| 1 | Ann Lee | 5.00 |\n', ['3 ok']],
])('the lines that a table of %s draws are no rows', async (_, text, expected) => {
  const { sheet, rows } = await loaded(text);
  expect(sheet.columns).toContain('customer');
  expect(verdicts(rows)).toEqual(expected);
});

test.each([
  ...['Totale', 'Totale generale', 'Totaal', 'Razem', 'Suma końcowa', 'Total geral', 'Totalt', 'Genel toplam', 'Итого'],
  ...[
    'Grand Average',
    'Durchschnitt',
    'Count',
    'Overall total',
    'Zwischensumme',
    'Gesamtergebnis',
    'TOTAL EUR',
    'Total (2)',
    '合計',
  ],
])('a line that is called "%s" is no order in a file without order numbers', async (name) => {
  const { rows } = await loaded(`Customer,Amount\nAnn Lee,5\n${name},5\nTotal Energies,6\nSummer Lee,7\n`);
  expect(verdicts(rows)).toEqual(['2 ok', '3 TOTALS_ROW', '4 ok', '5 ok']);
});

test.each([
  ...['Total', 'Subtotal', 'Sub-total', 'Summe', 'Gesamt', 'Total général', 'Total général :', 'Totaux', 'Suma total'],
  ...[
    'Totale complessivo',
    'Grand Total',
    'Order total',
    'TOTAL: 2 orders',
    'Total for Ann Lee',
    '小計',
    '総計',
    '总计',
  ],
])('a line with the order_id or the description "%s" is no order, even if it names a customer', async (name) => {
  const rows = ['A-1,ann@x.de,,5', `${name},ann@x.de,,5`, `,ann@x.de,${name},5`, `A-2,ann@x.de,${name},5`];
  const others = [
    'SUM-17,ann@x.de,Total Quartz 9000,5',
    'Totalis,ann@x.de,Summer hat,5',
    'A-3,ann@x.de,Gesamtausgabe,5',
  ];
  const { rows: checked } = await loaded(['order_id,customer_email,description,amount', ...rows, ...others].join('\n'));
  expect(verdicts(checked)).toEqual([
    ...['2 ok', '3 TOTALS_ROW', '4 TOTALS_ROW', '5 TOTALS_ROW', '6 ok', '7 ok', '8 ok'],
  ]);
});

test('a line of totals whose name is below the dates is no item of the order above', async () => {
  const rows = ['1 May,1001,Ann Lee,5', 'Total,,,5', '2 May,1002,Bo Fay,6', '3 May,,,7', 'Total,1003,Cy Ito,8'];
  const { rows: checked } = await loaded(`Date,Num,Customer,Amount\n${rows.join('\n')}\n`);
  expect(verdicts(checked)).toEqual(['2 ok', '3 TOTALS_ROW', '4 ok', '5 NO_CUSTOMER', '6 ok']);
});

test('a line of totals below the rows of a customer is no order of a customer of that name', async () => {
  const rows = [
    'Ann Lee,30',
    'Ann Lee,20',
    'Ann Lee Total,50',
    'Bo Fay,10',
    'Bo Fay Ergebnis,10',
    'Cy Total,7',
    'Ann Total,8',
  ];
  expect(verdicts((await loaded(`Customer,Amount\n${rows.join('\n')}\n`)).rows)).toEqual([
    ...['2 ok', '3 ok', '4 TOTALS_ROW', '5 ok', '6 TOTALS_ROW', '7 ok', '8 ok'],
  ]);
});

test('invisible marks are no part of a name or a phone number', async () => {
  const { rows } = await loaded('Order No,Customer,Phone\n1,\u200eAnn\u200b Lee\ufeff,\u202a+49 170 5550\u202c\n');
  expect(rows).toMatchObject([{ values: { customer_name: 'Ann Lee', customer_phone: '+49 170 5550' } }]);
  expect(verdicts((await loaded('Order No,Customer\n1,\u200b\n2,Ann\n')).rows)).toEqual([
    '2 INVISIBLE_CHARACTER',
    '3 ok',
  ]);
});

test.each(['-', '--', '–', 'N/A', 'n.a.', '?', '...'])('%s is neither an order number nor a name', async (none) => {
  const { rows } = await loaded(`Order No,Customer,Email\n${none},${none},a@x.de\n2,${none},\nA-,N.A. Lee,\n`);
  expect(verdicts(rows)).toEqual(['2 ok', '3 NO_CUSTOMER', '4 ok']);
  const values = rows.map(({ values: { order_id, customer_name } }) => [order_id, customer_name]);
  expect(values).toEqual([
    [undefined, undefined],
    ['2', undefined],
    ['A-', 'N.A. Lee'],
  ]);
});

test('a note shows a text with HTML codes', async () => {
  const notes = async (name: string) => (await loaded(`Order No,Customer,Total\n1,${name},5\n`)).overview.notes([]);
  expect(await notes('M&uuml;ller &amp; Co')).toEqual([
    'texts have HTML codes, such as &amp; for &, and are loaded unchanged: line 2 (M&uuml;ller &amp; Co). If that is wrong, export the file again without them',
  ]);
  expect(await notes('Lee & Co; A&B')).toEqual([]);
});

test.each(['NULL', 'null', '\\N', '(null)', '<null>', '[NULL]'])('a cell %s of a database is empty', async (none) => {
  const { rows } = await loaded(
    `order_id,customer_name,customer_phone,description,amount\n1,Null,${none},${none},5\n2,${none},,x,6\n${none},Ann,,,7\n`,
  );
  expect(verdicts(rows)).toEqual(['2 ok', '3 NO_CUSTOMER', '4 ok']);
  const said = rows.map(({ values: { order_id, customer_name, customer_phone, description } }) => [
    ...[order_id, customer_name, customer_phone, description],
  ]);
  expect(said).toEqual([
    ['1', 'Null', undefined, undefined],
    ['2', undefined, undefined, 'x'],
    [undefined, 'Ann', undefined, undefined],
  ]);
});

test('cells whose quotes are behind a space are read without the quotes', async () => {
  const text = '"Order No", "Customer", "Total"\n"1", "Lee, Ann", "1,234.50"\n"2", "Ben ""B"" Fox", 6\n';
  const { sheet, rows } = await loaded(text);
  expect(sheet.format).toMatchObject({ delimiter: ',', isSpaced: true });
  expect(rows.map(({ values }) => values)).toMatchObject([
    { order_id: '1', customer_name: 'Lee, Ann', amount: '1234.5' },
    { order_id: '2', customer_name: 'Ben "B" Fox', amount: '6' },
  ]);
});

test('a quote behind a comma and a space in a text does not change how the cells are separated', async () => {
  const row = '1,Ann Lee,"said, ""no""", 5\n';
  for (const header of [
    'Order No,Customer,Note,Total',
    'Order No,Customer,Note, Total',
    'Order No, Customer, Note, Total',
  ]) {
    const { rows } = await loaded(`${header}\n${row}${row.replace('1', '2')}`);
    expect(rows).toMatchObject([{ values: { description: 'said, "no"', amount: '5' } }, { status: 'valid' }]);
  }
});

test.each([
  ['line breaks inside cells', 'Order No,Customer,Note\r1,Ann Lee,"a\nb"\r2,Ben Fox,\r', ['a\nb', undefined]],
  ['a line feed at its end', 'Order No,Customer,Note\r1,Ann Lee,x\r2,Ben Fox,y\n', ['x', 'y']],
])('a file of an old Mac may have %s', async (_, text, notes) => {
  const { sheet, rows } = await loaded(text);
  expect(sheet.format.lineEnd).toBe('CR');
  expect(rows.map(({ values }) => values.description)).toEqual(notes);
});

test('carriage returns inside cells do not end the lines of a file that has line feeds', async () => {
  const { sheet, rows } = await loaded('Order No,Customer,Note\n1,Ann Lee,"a\rb\rc\rd"\n2,Ben Fox,"e\rf\rg"\n');
  expect([sheet.format.lineEnd, verdicts(rows)]).toEqual(['LF', ['2 ok', '3 ok']]);
});

test('the sign at the end of a file of DOS is no row', async () => {
  expect(verdicts((await loaded('Order No;Customer\r\n1;Ann Lee\r\n\u001a')).rows)).toEqual(['2 ok']);
});

test('a file of one column asks for its delimiter', async () => {
  await expect(loaded('Order No^Customer^Total\n1^Ann Lee^5\n')).rejects.toMatchObject(
    anError(
      'CSV_NO_CUSTOMER_COLUMN',
      /the file has one column only, "Order No\^Customer\^Total"\. .* name it with --delimiter\. If the header is further down, name its line with --header-row\.$/,
    ),
  );
});

test.each([
  ["'1001", { order_id: '1001' }],
  ["O'1", { order_id: "O'1" }],
])('the order number %s of a spreadsheet has no apostrophe in front', async (cell, values) => {
  expect((await loaded(`Order No,Customer\n${cell},Ann Lee\n`)).rows).toMatchObject([{ values }]);
});

test.each(['1E+12', '1.5E12', '1,2E+11'])('the order number %s was shortened', async (cell) => {
  const { rows } = await loaded(`Order No;Customer\n${cell};Ann Lee\nA-2;Ben Fox\n3E12;Cy\n`);
  expect(verdicts(rows)).toEqual(['2 ORDER_ID_CUT_SHORT', '3 ok', '4 ok']);
});
