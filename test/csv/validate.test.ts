/** The decision about each row: its values, or every problem with its position, code and remedy. */
import { expect, test } from 'vitest';
import { customerCreate, orderCreate } from '../../src/contract/records.ts';
import { loaded, verdicts } from './files.ts';

const csv = (header: string, ...rows: readonly string[]) => `${[header, ...rows].join('\n')}\n`;

test('turns a row into values: amounts are exact text, ids and labels stay unchanged', async () => {
  const header = 'order_id,client_id,customer_email,description,amount,status,gender,picture_url';
  const { rows } = await loaded(
    csv(header, '00012, 7 ,Ann@Example.com,"two\nlines","1,234.50",open,,https://x.example/a.png'),
  );
  expect(rows).toMatchObject([{ status: 'valid', line: 2, warnings: [] }]);
  expect(rows[0]?.values).toEqual({
    order_id: '00012',
    client_id: '7',
    customer_email: 'Ann@Example.com',
    email: 'Ann@Example.com',
    description: 'two\nlines',
    amount: '1234.5',
    status: 'open',
    picture_url: 'https://x.example/a.png',
  });
});

test('an amount that is not given is shown as it is written', async () => {
  const { rows } = await loaded(csv('client_id,amount', '7, - ', '8,'));
  const cells = rows.map(
    (row) => row.status === 'invalid' && row.problems.map(({ code, facts }) => [code, facts.cell]),
  );
  expect(cells).toEqual([[['AMOUNT_EMPTY', '-']], [['AMOUNT_EMPTY', '']]]);
});

test('a problem names code, field, column, line and number', async () => {
  const { rows } = await loaded(csv('order_id,Kundennummer,amount', 'A-1,0,1e309'));
  expect(rows).toMatchObject([
    {
      status: 'invalid',
      values: { order_id: 'A-1' },
      problems: [
        {
          code: 'AMOUNT_EXPONENT',
          severity: 'error',
          field: 'amount',
          facts: { column: 'amount', line: 2, columnNumber: 3, cell: '1e309' },
        },
        { code: 'CLIENT_ID_INVALID', field: 'client_id', facts: { column: 'Kundennummer', columnNumber: 2 } },
      ],
    },
  ]);
});

const CELLS: readonly (readonly [field: string, cell: string, verdict: string])[] = [
  ['client_id', '0', 'CLIENT_ID_INVALID'],
  ['client_id', '9007199254740993123', 'ok'],
  ['client_id', 'a9e906ee-8245-4043-a30d-f525614d7933', 'ok'],
  ['client_id', 'cus_Nffrh-7', 'ok'],
  ['client_id', 'Ann Lee', 'CLIENT_ID_INVALID'],
  ['client_id', 'ann@example.com', 'CLIENT_ID_INVALID'],
  ['client_id', '9.00719925474099E+15', 'CLIENT_ID_CUT_SHORT'],
  ['client_id', '9007199254740991', 'ok'],
  ['client_id', '00012', 'ok'],
  ['client_id', '-7', 'CLIENT_ID_INVALID'],
  ['client_id', '7.0', 'CLIENT_ID_INVALID'],
  ['client_id', '1e3', 'CLIENT_ID_INVALID'],
  ['client_id', '', 'NO_CUSTOMER'],
  ['customer_email', 'ann@example.com', 'ok'],
  ['customer_email', 'ann+tag@sub.example.co', 'ok'],
  ['customer_email', 'zoë@exämple.com', 'ok'],
  ['customer_email', 'ann@example', 'EMAIL_INVALID'],
  ['customer_email', 'Ann <ann@example.com>', 'EMAIL_INVALID'],
  ['customer_email', 'ann@example.com;ben@example.com', 'EMAIL_INVALID'],
  ['customer_email', 'ann\u200b@example.com', 'INVISIBLE_CHARACTER'],
  ['customer_phone', '+49 (30) 555-0', 'ok'],
  ['customer_phone', '4.93012E+11', 'PHONE_INVALID'],
  ['customer_phone', 'n/a', 'NO_CUSTOMER'],
  ['customer_phone', 'none', 'PHONE_INVALID'],
  ['customer_phone', '4915123456789.0', 'PHONE_INVALID'],
  ['customer_name', '#N/A', 'FORMULA_ERROR'],
  ['customer_name', '#Nova', 'ok'],
  ['customer_name', 'constructor', 'ok'],
  ['customer_name', 'a'.repeat(256), 'TOO_LONG'],
  ['customer_name', 'bell\u0007', 'CONTROL_CHARACTER'],
  ['customer_name', '"two\nlines"', 'CONTROL_CHARACTER'],
];

test.each(CELLS)('%s %j is %s', async (field, cell, verdict) => {
  const { rows } = await loaded(csv(`order_id,${field}`, `A-1,${cell}`));
  expect(verdicts(rows)).toEqual([`2 ${verdict}`]);
});

test('a line of totals is not an order of a customer called Total; such a customer has an e-mail', async () => {
  const rows = [
    ',Total,,30',
    'A-1,TOTAL,,30',
    ',Grand Total,,30',
    ',Total,total@example.com,30',
    'Summe:,2 Kunden,,30',
    'Summe,,,30',
  ];
  const { rows: checked } = await loaded(csv('order_id,customer_name,customer_email,amount', ...rows));
  expect(verdicts(checked)).toEqual(['2 TOTALS_ROW', '3 ok', '4 TOTALS_ROW', '5 ok', '6 TOTALS_ROW', '7 TOTALS_ROW']);
});

test('a row is one of totals by its amount, whatever it is called, unless a row above has no order_id', async () => {
  const totals = ',Összesen,11.30';
  const file = (...rows: string[]) => loaded(['order_id,customer_name,amount', ...rows].join('\n'));
  expect(verdicts((await file('A1,Ann,5.10', 'A2,Bob,6.20', totals)).rows)).toEqual(['2 ok', '3 ok', '4 TOTALS_ROW']);
  expect(verdicts((await file('A1,Ann,5.10', 'A2,Bob,6.21', totals)).rows)).toEqual(['2 ok', '3 ok', '4 ok']);
  expect(verdicts((await file('A1,Ann,5.10', ',Bob,6.20', totals)).rows)).toEqual(['2 ok', '3 ok', '4 ok']);
  const large = Array.from({ length: 20 }, (_, n) => `A${n},Ann,495000000000.02`);
  const { rows: added } = await file(...large, ',Összesen,9900000000000.40');
  expect(verdicts(added).at(-1)).toBe('22 TOTALS_ROW');
  expect(verdicts((await file('A1,Ann,0.001', 'A2,Bob,0.002', ',Cy,0.004')).rows).at(-1)).toBe('4 ok');
  expect(verdicts((await file('A1,Ann,0', 'A2,Bob,0', ',Cy,0')).rows).at(-1)).toBe('4 ok');
  const { rows } = await loaded('order_id,customer_email,amount\nA1,a@x.de,5\nA2,a@x.de,-5\n,a@x.de,0\n');
  expect(verdicts(rows)).toEqual(['2 ok', '3 ok', '4 ok']);
});

const OTHERS: readonly (readonly [field: string, cell: string, verdict: string])[] = [
  ['order_id', '=1+1', 'ok'],
  ['order_id', '1.23457E+12', 'ORDER_ID_CUT_SHORT'],
  ['order_id', '1001.0', 'ORDER_ID_DECIMAL'],
  ['order_id', '#REF!', 'FORMULA_ERROR'],
  ['order_id', '#1001', 'ok'],
  ['description', '#####', 'FORMULA_ERROR'],
  ['order_id', 'A\u200b1', 'INVISIBLE_CHARACTER'],
  ['order_id', 'A\t1', 'CONTROL_CHARACTER'],
  ['description', '"tab\tand\nline"', 'ok'],
  ['description', 'a'.repeat(10_001), 'TOO_LONG'],
  ['amount', '', 'AMOUNT_EMPTY'],
  ['amount', '#VALUE!', 'FORMULA_ERROR'],
  ['amount', '2024-01-05', 'AMOUNT_IS_DATE'],
  ['status', 'whatever it is', 'ok'],
  ['gender', 'x', 'ok'],
  ['picture_url', 'javascript:alert(1)', 'PICTURE_URL_INVALID'],
  ['picture_url', 'http://', 'PICTURE_URL_INVALID'],
];

test.each(OTHERS)('%s %j beside a customer is %s', async (field, cell, verdict) => {
  const { rows } = await loaded(csv(`client_id,${field}`, `7,${cell}`));
  expect(verdicts(rows)).toEqual([`2 ${verdict}`]);
});

test.each([
  ["'+49 170 5550", '+49 170 5550'],
  ["'0170 5550", '0170 5550'],
  ["'t is 0170 5550", "'t is 0170 5550"],
])('the phone %j of a spreadsheet is %j', async (cell, value) => {
  const { rows } = await loaded(csv('order_id,customer_phone', `A-1,${cell}`));
  expect(rows).toMatchObject([{ status: 'valid', values: { customer_phone: value, phone_number: value } }]);
});

test('reports rows with too few or too many cells, except empty cells at the end', async () => {
  const { rows } = await loaded(csv('order_id,client_id', 'A-1', 'A-2,7,x', 'A-3,7,,', 'A-4,7'));
  expect(verdicts(rows)).toEqual(['2 RAGGED', '3 RAGGED', '4 ok', '5 ok']);
});

test('returns the currencies of a file', async () => {
  const { validator } = await loaded(csv('client_id,amount', '7,€ 5', '7,6 USD', '7,€ 7'));
  expect(validator.currencies).toEqual(['€', 'USD']);
});

test('every valid row fits the contract', async () => {
  const rows = CELLS.map(([field, cell]) => (field === 'client_id' ? `A,${cell},Ann,12.50` : `A,7,${cell},12.50`));
  const loadedRows = (await loaded(csv('order_id,client_id,customer_name,amount', ...rows))).rows;
  for (const { status, values } of loadedRows) {
    if (status !== 'valid' || !Number.isSafeInteger(Number(values.client_id))) continue;
    orderCreate.parse({ ...values, client_id: Number(values.client_id), amount: Number(values.amount) });
    customerCreate.parse(values);
  }
  expect(loadedRows.filter(({ status }) => status === 'valid').length).toBeGreaterThan(5);
});
