/** Columns that are known by their cells, or that their cells rule out. */
import { expect, test } from 'vitest';
import { decimalWords } from '../../src/operator/sheet-words.ts';
import { anError } from '../support/matchers.ts';
import { loaded } from './files.ts';
import { mapped } from './mapped.ts';

const CELLS = { ids: ['17', '4711'], stripe: ['cus_A1', 'cus_B2'], amounts: ['12.50', '1,234'], texts: ['open', 'x'] };
const column = (...cells: readonly (readonly string[])[]) =>
  Array.from({ length: cells[0]?.length ?? 0 }, (_, row) => cells.map((one) => one[row] ?? ''));

test('a column whose cells do not fit is not used for the field of its name, and is listed with the reason', () => {
  const firstRows = column(CELLS.stripe, ['ann@x.de', 'ben@x.de']);
  const { columns, unmapped } = mapped(['Customer ID', 'Customer Email'], new Map(), { firstRows });
  expect(columns.map(({ field }) => field)).toEqual(['customer_email', 'email']);
  expect(unmapped).toEqual([{ index: 0, name: 'Customer ID', unfit: { field: 'client_id', fits: { fit: 0, of: 2 } } }]);
});

test('where no other column names the customer, the refusal says which column does not fit', () => {
  const refused = () =>
    mapped(['Customer ID', 'amount'], new Map(), { firstRows: column(CELLS.stripe, CELLS.amounts) });
  expect(refused).toThrow(/the column "Customer ID" has the name of client_id, but 0 of 2 cells fit.*--header-row/);
});

test.each([
  ['as told', ['Customer ID'], new Map([['client_id', 'Customer ID']] as const)],
  ['with the name of the field itself', ['client_id'], new Map()],
])('takes ids of another form %s', (_, names, told) => {
  const { columns } = mapped(names, told, { firstRows: column(CELLS.stripe) });
  expect(columns).toMatchObject([{ field: 'client_id', fits: { fit: 0, of: 2 } }]);
});

test('of two columns with names of equal weight the one whose cells fit is taken', () => {
  const firstRows = column(CELLS.ids, CELLS.texts, CELLS.amounts);
  const { columns } = mapped(['client_id', 'Value', 'Total'], new Map(), { firstRows });
  expect(columns.find(({ field }) => field === 'amount')).toMatchObject({ name: 'Total', fits: { fit: 2, of: 2 } });
});

test('refuses a file in which no cell of the only column for the amount fits', () => {
  const firstRows = column(CELLS.ids, CELLS.texts);
  expect(() => mapped(['client_id', 'Order Total'], new Map(), { firstRows })).toThrow(
    expect.objectContaining(
      anError(
        'CSV_CELLS_DO_NOT_FIT',
        /0 of 2 cells fit: "open" is not a number\..*--map "amount=Order Total".*--map amount=\./,
        2,
      ),
    ),
  );
  const none = mapped(['client_id', 'Order Total'], new Map([['amount', '']] as const), { firstRows });
  expect(none).toMatchObject({ none: ['amount'], unmapped: [{ name: 'Order Total' }] });
});

test('a company that is the same for all customers is not theirs, and is listed with the reason', () => {
  const names = ['Order Reference', 'Customer', 'Company', 'Total'];
  const rows = (company: string) =>
    [
      ['S1', 'Azure Interior', 'My Shop', '10.00'],
      ['S2', 'Gemini', 'My Shop', '20.00'],
      ['S3', 'Deco Addict', company, '30.00'],
    ] as const;
  const { columns, unmapped } = mapped(names, new Map(), { firstRows: rows('My Shop') });
  expect(columns.map(({ field }) => field)).not.toContain('organization');
  expect(unmapped).toMatchObject([{ name: 'Company', unfit: { why: expect.stringContaining('may be your own') } }]);
  const other = mapped(names, new Map(), { firstRows: rows('Deco') });
  expect(other.columns.at(-1)).toMatchObject({ field: 'organization', name: 'Company' });
});

test('a report of QuickBooks names its orders by "Num", also where totals are between them', () => {
  const names = ['#1', 'Type', 'Date', 'Name', 'Num', 'Amount'];
  const firstRows = [
    ['Ann Lee', '', '', '', '', ''],
    ['', 'Invoice', '11/02/2026', 'Ann Lee', '1021', '75.00'],
    ['', 'Invoice', '11/05/2026', 'Ann Lee', '1022', '20.00'],
    ['Total for Ann Lee', '', '', '', '', '95.00'],
  ];
  const { columns } = mapped(names, new Map(), { firstRows });
  expect(columns[0]).toMatchObject({ field: 'order_id', name: 'Num' });
  const grouped = firstRows.map((row) => row.toSpliced(3, 1));
  expect(() => mapped(names.toSpliced(3, 1), new Map(), { firstRows: grouped })).toThrow(
    expect.objectContaining(
      anError('CSV_NO_CUSTOMER_COLUMN', /grouped under headings such as "Ann Lee"\. Export a report/, 2),
    ),
  );
});

test('one amount that fits is enough, and an empty column is taken by its name', () => {
  const firstRows = column(CELLS.ids, ['free', '5'], ['', '']);
  const { columns } = mapped(['client_id', 'Total', 'Status text'], new Map(), { firstRows });
  expect(columns.map(({ field, fits }) => [field, fits])).toContainEqual(['amount', { fit: 1, of: 2 }]);
  const empty = mapped(['Customer ID'], new Map(), { firstRows: [['']] });
  expect(empty.columns).toMatchObject([{ field: 'client_id', fits: { fit: 0, of: 0 } }]);
});

test('what was remembered counts like what is told now, which wins', () => {
  const remembered = new Map([
    ['amount', 'net'],
    ['description', ''],
  ] as const);
  const names = ['client_id', 'net', 'gross', 'description'];
  const first = mapped(names, new Map(), { remembered });
  expect(first).toMatchObject({
    none: ['description'],
    columns: [{ field: 'amount', name: 'net', how: 'remembered' }, {}],
  });
  const later = mapped(names, new Map([['amount', 'gross']] as const), { remembered });
  expect(later.columns[0]).toMatchObject({ name: 'gross', how: 'told' });
});

test('suggests the column that resembles an unknown one', () => {
  expect(() => mapped(['Id', 'client_id'], new Map([['order_id', 'Idd']] as const))).toThrow(
    /--map order_id=Idd: the file has no such column\. Did you mean "Id"\? It has "Id", "client_id"\./,
  );
});

test('a file without a known customer column names the column that has e-mail addresses', async () => {
  const refused = (text: string) => loaded(text).catch((error: Error) => error.message);
  expect(await refused('Deal - ID,Reply to\n11,ann@example.com\n12,bob@example.com\n')).toContain(
    'Column 2 has e-mail addresses. If they are the customers\', add --map "customer_email=Reply to".',
  );
  expect(await refused('1,ann@example.com\n2,bob@example.com\n')).toMatch(/--map customer_email=2.*--header-row/);
  const deals = 'Deal ID,Deal Owner,Associated Contact Email\n11,sam@seller.com,ann@example.com\n';
  expect(await refused(deals)).toContain('--map "customer_email=Associated Contact Email"');
});

test('the totals of marketplaces and accounts are amounts, and their states are statuses', async () => {
  const fields = async (name: string) => {
    const { sheet } = await loaded(`Email,${name}\nann@example.com,12.50\n`);
    return sheet.mapping.columns.find((column) => column.name === name)?.field;
  };
  for (const name of ['Total Price', 'Gross', 'Nettowert']) expect(await fields(name)).toBe('amount');
  const both = loaded('Email,Net Total,Total Collected\nann@example.com,12.14,12.50\n');
  await expect(both).rejects.toThrow('the columns "Net Total", "Total Collected" all look like amount');
  for (const name of ['Transaction Status', 'Gesamtstatus']) expect(await fields(name)).toBe('status');
});

/** Headers of exports without a preset: what fills which field. */
const EXPORTS: readonly (readonly [header: string, row: string, fields: object])[] = [
  [
    'Order ID,Buyer,Full Name,Price,Total',
    '7,ann77,Ann Lee,3.00,5.00',
    { customer_name: 'Full Name', amount: 'Total' },
  ],
  [
    'Reference,Invoice No.,Contact Name',
    'PO-7,INV-1,Ann Lee',
    { order_id: 'Invoice No.', customer_name: 'Contact Name' },
  ],
  [
    'Deal - Title,Deal - Value,Person - Email',
    'Desk,5,a@x.de',
    { amount: 'Deal - Value', customer_email: 'Person - Email' },
  ],
  [
    'Billing Name,Billing Phone,Kunden-E-Mail',
    'Ann,040123456,a@x.de',
    { customer_name: 'Billing Name', customer_email: 'Kunden-E-Mail' },
  ],
  ['Order No,Title,Customer Name,Notes', '7,Mr,Ann Lee,blue', { description: 'Notes' }],
  ['Order No,First Name,Last Name,Title,Note', '7,Ann,Lee,CEO,blue', { description: 'Note' }],
  ['Order No,Title,Customer Name', '7,Mug,Ann Lee', { description: 'Title' }],
  ['Pedido,Nombre,Ciudad,Estado,CP,Estatus', '7,Ann Lee,Puebla,PUE,72160,Pagado', { status: 'Estatus' }],
  ['Pedido,Nombre,Estatus,Estado,Cidade', '7,Ann Lee,Pago,SP,Campinas', { status: 'Estatus' }],
  ['Pedido,Nombre,Estado,Total', '7,Ann Lee,Pagado,5', { status: 'Estado' }],
  ['Factura,Referencia,Nombre,Total', '242420,staybridge,Ann Lee,5', { order_id: 'Factura' }],
  ['Custom Number,Name,Note,Item Title', ',Ann Lee,,Mug', { description: 'Item Title' }],
  ['Sales Order#,Customer Name,Total', 'SO-1,Ann Lee,5', { order_id: 'Sales Order#' }],
  ['SD Document,Name,Net Value', '45001,Lee GmbH,5', { order_id: 'SD Document' }],
  [
    '注文ID,メールアドレス(請求先),合計金額',
    '7,a@x.jp,5',
    { order_id: '注文ID', customer_email: 'メールアドレス(請求先)' },
  ],
  [
    'OrderId,BillName,BillMailAddress',
    '7,Ann Lee,a@x.jp',
    { customer_name: 'BillName', customer_email: 'BillMailAddress' },
  ],
  ['orderid,user,CUSTOMERID,totaal', '7,ann,12,5', { order_id: 'orderid', client_id: 'CUSTOMERID' }],
  ['Nr zamówienia,E-mail,Suma', '7,a@x.pl,5', { amount: 'Suma' }],
  ['Factuurnummer,Contact,Bedrag excl. btw,Bedrag incl. btw', '7,Ann,100,121', { amount: 'Bedrag incl. btw' }],
  ['Auftragsnummer,Rechnungsadresse: E-Mail', '7,a@x.de', { customer_email: 'Rechnungsadresse: E-Mail' }],
  ['order_number,email,billing_person_name', '7,a@x.de,Ann Lee', { customer_name: 'billing_person_name' }],
  ['주문번호,구매자명,총 주문금액', '7,김철수,15000', { amount: '총 주문금액' }],
  ['订单号,客户名称,金额(元)', '7,王小明,88', { amount: '金额(元)' }],
  ['Номер заказа,Покупатель,"Сумма, руб."', '7,Иван,88', { amount: 'Сумма, руб.' }],
  [
    'Order No,Guest Name,Total Amount (Rs.)',
    '7,Ravi,450/-',
    { customer_name: 'Guest Name', amount: 'Total Amount (Rs.)' },
  ],
  ['N.º de venda,Comprador,Total (BRL)', '7,Ana,5', { order_id: 'N.º de venda', amount: 'Total (BRL)' }],
  ['Numer faktury,Klient,Netto (zł),Brutto (zł)', 'FV-1,Ann,"1,00","1,23"', { amount: 'Brutto (zł)' }],
  ['Pedido,Cliente,Total sem impostos,Total com impostos', '7,Ana,100,119', { amount: 'Total com impostos' }],
  ['Quote Number,Guest name(s),Gross (GBP)', 'Q-1,Ann', { order_id: 'Quote Number', customer_name: 'Guest name(s)' }],
  ['주문번호,구매자,구매자전화번호', '7,김철수,010-123', { customer_name: '구매자', customer_phone: '구매자전화번호' }],
  ['Verkaufsbeleg,Name 1,Nettowert', '10,Lee GmbH,"1,5"', { order_id: 'Verkaufsbeleg', amount: 'Nettowert' }],
];

test.each(EXPORTS)('reads an export with %s', async (header, row, fields) => {
  const { sheet } = await loaded(`${header}\n${row}\n`);
  const found = Object.fromEntries(sheet.mapping.columns.map(({ field, name }) => [field, name]));
  expect(found).toMatchObject(fields);
  expect(Object.values(found)).not.toContain('Custom Number'); // its cells are empty, and its name only resembles one
});

test('a file whose amounts have no known name is not loaded without them', async () => {
  const text = 'Email,Subtotal,Grand Total (Base)\nann@example.com,48.00,53.0000\n';
  await expect(loaded(text)).rejects.toMatchObject({
    code: 'CSV_NO_AMOUNT_COLUMN',
    statement: expect.stringMatching(/the columns "Subtotal", "Grand Total \(Base\)" have amounts\.$/),
    message: expect.stringContaining('--map "amount=Grand Total (Base)"; if no column has it, add --map amount=.'),
  });
  const { sheet } = await loaded(text, { map: new Map([['amount', '']] as const) });
  expect(decimalWords(sheet)).toBe('no amounts');
  await expect(loaded('Email,Weight\nann@example.com,48\n')).resolves.toBeDefined();
  await expect(loaded('Email,Összeg\nann@example.com,"€ 12,-"\nann@example.com,"€ 5,00"\n')).rejects.toThrow(
    '"Összeg"',
  );
});

test('a number that only some orders have is not used where another column has one in each line', async () => {
  const text = 'ID,PO Number,Client,Invoice Amount\n1001,,Ann,5.00\n1002,PO-7,Ben,6.00\n';
  await expect(loaded(text)).rejects.toMatchObject(
    anError('CSV_COLUMNS_AMBIGUOUS', /differ: "ID" has "1001" where "PO Number" is empty\. .*--map order_id=ID\./),
  );
  const filled = await loaded(text.replace('1001,,', '1001,PO-6,'));
  expect(filled.rows[0]?.values.order_id).toBe('PO-6');
  const own = await loaded(text.replace('PO Number', 'order_id'));
  expect(own.rows[0]?.values.order_id).toBeUndefined();
});

test('"Name" is not treated as the customer in a list of deals', async () => {
  const text = 'Opportunity Id,Name,Value\n9001,Lamps for the hall,5.00\n';
  await expect(loaded(text)).rejects.toMatchObject(
    anError(
      'CSV_NO_CUSTOMER_COLUMN',
      /"Name" is not used, because "Opportunity Id" says that the lines are deals.*--map customer_name=Name\./,
    ),
  );
  const byEmail = await loaded('Deal ID,Name,Email,Value\n9001,Lamps,a@x.de,5.00\n');
  expect(byEmail.rows[0]?.values).not.toHaveProperty('customer_name');
});

test('order numbers that a spreadsheet has cut off after 15 digits are refused', async () => {
  const text = 'Order ID,Email,Amount\n576123456789012000,a@x.de,5.00\n576123456789013000,b@x.de,6.00\n';
  await expect(loaded(text)).rejects.toMatchObject(
    anError('CSV_CELLS_DO_NOT_FIT', /by zeros, as in 576123456789012000, .*add --map "order_id=Order ID"\./),
  );
  await expect(loaded(text, { map: new Map([['order_id', 'Order ID']] as const) })).resolves.toBeDefined();
  await expect(loaded(text.replace('2000', '2007'))).resolves.toBeDefined();
  await expect(loaded(text.replaceAll('00,', ','))).resolves.toBeDefined(); // one zero each
});

test('the price of one piece is not the amount of an order of several', async () => {
  const text = (quantity: number) => `Order ID,Email,Qty,Price\n1,a@x.de,${quantity},5.00\n`;
  await expect(loaded(text(3))).rejects.toMatchObject(
    anError(
      'CSV_NO_AMOUNT_COLUMN',
      /"Price" may be the price of one piece, because "Qty" has quantities\. .*--map amount=Price/,
    ),
  );
  expect((await loaded(text(1))).rows).toMatchObject([{ values: { amount: '5' } }]);
  const both = 'Order ID,Email,Qty,Price,Line Total\n1,a@x.de,2,5.00,10.00\n';
  await expect(loaded(both)).rejects.toThrow('otherwise add --map "amount=Line Total".');
});

test('an amount in cents is not loaded if another column has it as people read it', async () => {
  const text = (cents: number) =>
    `id,contact_email,value,value_formatted\no1,a@x.de,${cents},"$1,234.50"\no2,b@x.de,2000,$20\n`;
  await expect(loaded(text(123_450))).rejects.toMatchObject(
    anError(
      'CSV_NO_AMOUNT_COLUMN',
      /"value" may have the amounts in cents, because "value_formatted" has a hundredth of each\. .*--map amount=value; .*--map amount=value_formatted\./,
    ),
  );
  expect((await loaded(text(7))).rows).toMatchObject([{ values: { amount: '7' } }, { values: { amount: '2000' } }]);
  const { rows } = await loaded(text(123_450), { map: new Map([['amount', 'value_formatted']] as const) });
  expect(rows).toMatchObject([{ values: { amount: '1234.5' } }, { values: { amount: '20' } }]);
});
