/** Which column fills which field. */
import { expect, test } from 'vitest';
import { headerSignature } from '../../src/csv/column-names.ts';
import { type MappingChoices, mapColumns } from '../../src/csv/columns.ts';
import { FIELDS, SYNONYMS } from '../../src/csv/fields.ts';
import { recognise } from '../../src/csv/recognise.ts';
import { decimalWords, unusedWords } from '../../src/operator/sheet-words.ts';
import { tellingForm } from '../../src/syncs/orders/remembered-columns.ts';
import { anError } from '../support/matchers.ts';
import { loaded } from './files.ts';

const mapped = (names: readonly string[], told: MappingChoices['told'] = new Map(), more: MappingChoices = {}) =>
  mapColumns({ names, isGiven: true, line: 1 }, { told, ...more });
const asPairs = (names: readonly string[]) =>
  Object.fromEntries(mapped(names).columns.map(({ field, name }) => [field, name]));

test('takes exact names first', () => {
  const { columns, unmapped } = mapped(['amount', 'Total', 'client_id', 'colour']);
  expect(columns).toMatchObject([
    { field: 'amount', index: 0, how: 'exact', confidence: 1 },
    { field: 'client_id', index: 2, how: 'exact' },
  ]);
  expect(unmapped).toEqual([
    { index: 1, name: 'Total' },
    { index: 3, name: 'colour' },
  ]);
});

const HEADERS: readonly (readonly [names: readonly string[], fields: object])[] = [
  [
    ['Order No.', 'Customer Email', 'Total (EUR)', 'Order State'],
    { order_id: 'Order No.', customer_email: 'Customer Email', amount: 'Total (EUR)', status: 'Order State' },
  ],
  [
    ['Bestellnummer', 'Kundennummer', 'Betrag in €', 'Beschreibung'],
    { order_id: 'Bestellnummer', client_id: 'Kundennummer', amount: 'Betrag in €', description: 'Beschreibung' },
  ],
  [
    ['Nº pedido', 'Correo electrónico', 'Importe', 'Estado'],
    { order_id: 'Nº pedido', customer_email: 'Correo electrónico', amount: 'Importe', status: 'Estado' },
  ],
  [
    ['Numéro de commande', 'Nom du client', 'Montant', 'Société'],
    { order_id: 'Numéro de commande', customer_name: 'Nom du client', amount: 'Montant', organization: 'Société' },
  ],
  [
    ['N° de commande', 'E-mail', 'Montant TTC', 'Statut'],
    { order_id: 'N° de commande', customer_email: 'E-mail', amount: 'Montant TTC', status: 'Statut' },
  ],
  [
    ['Número do pedido', 'E-mail do cliente', 'Valor total', 'Situação'],
    { order_id: 'Número do pedido', customer_email: 'E-mail do cliente', amount: 'Valor total', status: 'Situação' },
  ],
  [
    ['OrderID', 'CustEmail', 'OrderTotal', 'OrderStatus'],
    { order_id: 'OrderID', customer_email: 'CustEmail', amount: 'OrderTotal', status: 'OrderStatus' },
  ],
  [
    ['Rechnungsnr.', 'E-Mail', 'Bruttobetrag', 'Artikel'],
    { order_id: 'Rechnungsnr.', customer_email: 'E-Mail', amount: 'Bruttobetrag', description: 'Artikel' },
  ],
  [['Bestellnr.', 'Kundennr.', 'Betrag'], { order_id: 'Bestellnr.', client_id: 'Kundennr.', amount: 'Betrag' }],
  [
    ['Auftragsnr', 'E-Mail', 'Betrag', 'Artikelnr.'],
    { order_id: 'Auftragsnr', customer_email: 'E-Mail', amount: 'Betrag' },
  ],
  [['Ordernr', 'E-post', 'Belopp'], { order_id: 'Ordernr', customer_email: 'E-post', amount: 'Belopp' }],
  [
    ['Sipariş Numarası', 'Müşteri Adı Soyadı', 'Fiyat', 'Ürün Adı'],
    { order_id: 'Sipariş Numarası', customer_name: 'Müşteri Adı Soyadı', amount: 'Fiyat', description: 'Ürün Adı' },
  ],
  [
    ['Nr zamówienia', 'E-mail kupującego', 'Kwota', 'Nazwa produktu'],
    { order_id: 'Nr zamówienia', customer_email: 'E-mail kupującego', amount: 'Kwota', description: 'Nazwa produktu' },
  ],
  [
    ['Номер заказа', 'Покупатель', 'Сумма заказа', 'Статус'],
    { order_id: 'Номер заказа', customer_name: 'Покупатель', amount: 'Сумма заказа', status: 'Статус' },
  ],
  [
    ['注文番号', 'メールアドレス', '合計金額', '商品名'],
    { order_id: '注文番号', customer_email: 'メールアドレス', amount: '合計金額', description: '商品名' },
  ],
  [['注文番号', '顧客名', '金額'], { order_id: '注文番号', customer_name: '顧客名', amount: '金額' }],
  [
    ['订单编号', '买家姓名', '订单金额', '订单状态'],
    { order_id: '订单编号', customer_name: '买家姓名', amount: '订单金额', status: '订单状态' },
  ],
  [
    ['訂單編號', '電子郵件', '總金額', '商品名稱'],
    { order_id: '訂單編號', customer_email: '電子郵件', amount: '總金額', description: '商品名稱' },
  ],
  [
    ['주문번호', '이메일', '결제금액', '상품명'],
    { order_id: '주문번호', customer_email: '이메일', amount: '결제금액', description: '상품명' },
  ],
  [
    ['orderId', 'CUSTOMER-ID', 'ammount', 'Desciption'],
    { order_id: 'orderId', client_id: 'CUSTOMER-ID', amount: 'ammount', description: 'Desciption' },
  ],
];

test.each(HEADERS)('recognises %j', (names, fields) => {
  expect(asPairs(names)).toMatchObject(fields);
});

test('marks a near miss with its confidence', () => {
  const { columns } = mapped(['client_id', 'ammount']);
  expect(columns.find(({ field }) => field === 'amount')).toMatchObject({ how: 'fuzzy', confidence: 0.86 });
});

test('counts two swapped letters as one mistake', () => {
  expect(asPairs(['cleint_id', 'decsription'])).toEqual({ client_id: 'cleint_id', description: 'decsription' });
});

test('leaves a column unused that only resembles a field, and lists it', () => {
  const names = ['client_id', 'order date', 'status date', 'account', 'id', 'count', ''];
  expect(mapped(names).unmapped.map(({ name }) => name)).toEqual(names.slice(1));
});

test('one e-mail column names the customer and is used to create one', () => {
  expect(mapped(['E-Mail']).columns).toMatchObject([
    { field: 'customer_email', index: 0, how: 'shared' },
    { field: 'email', index: 0, how: 'synonym' },
  ]);
});

test.each([
  [['17', '18'], 'client_id'],
  [['ann@example.com'], 'customer_email'],
  [['Ann Lee', '17'], 'customer_name'],
])('a column called "Customer" with %j is %s', (cells, field) => {
  const rows = cells.map((cell) => [cell]);
  const { columns } = mapped(['Customer'], new Map(), { firstRows: rows });
  expect(columns.map((column) => column.field)).toContain(field);
});

test.each([
  [['#1001', '#1002'], 'order_id'],
  [['#1001-EU', ''], 'order_id'],
  [['1001', 'EN-1002'], 'order_id'],
  [['#1001', 'Ann Lee'], 'full_name'],
  [['Ann2', 'Ben'], 'full_name'],
  [[], 'full_name'],
])('a column called "Name" with %j is %s', (cells, field) => {
  const rows = cells.map((cell) => [cell, 'ann@example.com']);
  const { columns } = mapped(['Name', 'Email'], new Map(), { firstRows: rows });
  expect(columns.filter(({ index }) => index === 0).map((column) => column.field)).toContain(field);
  expect(columns.some((column) => column.field === 'customer_name')).toBe(field === 'full_name');
});

test.each([
  ['Nr', ['4711', '4712']],
  ['Nr.', ['A-17', 'A-18']],
  ['No', ['1003']],
  ['Nummer', ['2', '1']],
  ['Numéro', ['#7', '#9']],
  ['Id', ['ch_3Q0ab', '0c0ffee0-1111-4222-8333-444455556666']],
  ['No', ['N-1', 'N-1', 'N-2', 'N-3', 'N-3']],
  ['number', ['', '4711', '4711', ...Array.from({ length: 20 }, (_, index) => `${4_712 + index}`)]],
])('a column called "%s" with the different numbers %j is order_id', (name, cells) => {
  const firstRows = cells.map((cell) => [cell, 'ann@example.com']);
  expect(mapped([name, 'Email'], new Map(), { firstRows }).columns[0]).toMatchObject({ field: 'order_id', name });
});

test.each([
  ['counts the lines', ['1', '2', '3']],
  ['repeats a number', ['4711', '4712', '4711']],
  ['has an empty cell', ['4711', '']],
  ['has words', ['first', 'second']],
  ['has no cells', []],
])('a column called "Nr." that %s is no order_id', (_, cells) => {
  const firstRows = cells.map((cell) => [cell, 'ann@example.com']);
  const { columns, unmapped } = mapped(['Nr.', 'Email'], new Map(), { firstRows });
  expect(columns.map(({ field }) => field)).not.toContain('order_id');
  expect(unmapped).toEqual([{ index: 0, name: 'Nr.' }]);
});

test('a column called "ID" gives way to one called "Nr."', () => {
  const firstRows = [['17', '4711', 'ann@example.com']];
  const { columns } = mapped(['ID', 'Nr.', 'Email'], new Map(), { firstRows });
  expect(columns.find(({ field }) => field === 'order_id')?.name).toBe('Nr.');
});

test('"Amount" and "Total" are both the amount if they say the same, and otherwise a person chooses', () => {
  const amountOf = (total: string, amount: string) => {
    const firstRows = [
      ['7', '5', '5'],
      ['7', total, amount],
    ];
    const { columns } = mapped(['client_id', 'Total', 'Amount'], new Map(), { firstRows });
    return columns.find(({ field }) => field === 'amount')?.name;
  };
  expect(amountOf('6', '6')).toBe('Amount');
  expect(() => amountOf('7.14', '6')).toThrow(
    'the columns "Total", "Amount" all look like amount, and differ: "Total" has "7.14" where "Amount" has "6". Name one, as in --map amount=Total.',
  );
});

test('a column named after the order number goes before one called "Nr."', () => {
  const firstRows = [['4711', 'B-1', 'ann@example.com']];
  const { columns } = mapped(['Nr.', 'Bestellnummer', 'Email'], new Map(), { firstRows });
  expect(columns.find(({ field }) => field === 'order_id')?.name).toBe('Bestellnummer');
});

test('a column named after the order number goes before one called "Name"', () => {
  const { columns, unmapped } = mapped(['Name', 'Order', 'Email'], new Map(), {
    firstRows: [['#1001', '17', 'ann@example.com']],
  });
  expect(columns.find(({ field }) => field === 'order_id')?.name).toBe('Order');
  expect(unmapped.map(({ name }) => name)).toEqual(['Name']);
});

test('--map wins, by name or by number', () => {
  const told = new Map([
    ['amount', 'net'],
    ['client_id', '1'],
  ] as const);
  expect(mapped(['Whose', 'amount', 'net'], told).columns).toMatchObject([
    { field: 'amount', index: 2, how: 'told' },
    { field: 'client_id', index: 0, how: 'told' },
  ]);
});

test.each([
  [['client_id', 'amount', 'amount'], 'CSV_DUPLICATE_HEADER', 'columns 2 and 3 are both called "amount"'],
  [['client_id', 'Total', 'Betrag'], 'CSV_COLUMNS_AMBIGUOUS', '--map amount=Total'],
  [['client_id', 'Order Total', 'Net Amount'], 'CSV_COLUMNS_AMBIGUOUS', '--map "amount=Order Total"'],
  [['order_id', 'amount'], 'CSV_NO_CUSTOMER_COLUMN', '--map customer_email=Column'],
])('refuses %j with %s', (names, code, says) => {
  expect(() => mapped(names)).toThrow(expect.objectContaining(anError(code, says, 2)));
});

test('one of two columns of one name is chosen by its number', () => {
  const told = new Map([['amount', '#3']] as const);
  expect(mapped(['client_id', 'amount', 'amount'], told).columns).toMatchObject([
    { field: 'amount', index: 2, how: 'told' },
    { field: 'client_id', index: 0 },
  ]);
  expect(() => mapped(['client_id', 'amount', 'amount'], new Map([['amount', 'amount']]))).toThrow('both called');
});

test('a refusal says which columns are clear all the same', () => {
  const named = (names: readonly string[]) => {
    try {
      return mapped(names);
    } catch (error) {
      return error;
    }
  };
  const clear = ['order_id', 'description'].map((field) => ({ field }));
  expect(named(['order_id', 'Betrag', 'description'])).toMatchObject({ columns: [...clear, { field: 'amount' }] });
  expect(named(['client_id', 'Total', 'Betrag', 'description'])).toMatchObject({
    columns: [{ field: 'description' }, { field: 'client_id' }],
  });
});

test('refuses a column that --map names and the file lacks, and lists the file’s columns', () => {
  const telling = () => mapped(['client_id', 'net'], new Map([['amount', 'gross']] as const));
  expect(telling).toThrow(expect.objectContaining(anError('CSV_UNKNOWN_COLUMN', '"net"')));
});

test('a column without a name is called by its number, which --map takes, is remembered and is shown', async () => {
  const map = new Map([['description', '#3']] as const);
  const text = 'client_id,amount,,\n1,2.50,Desk,extra\n2,3,Lamp,\n';
  const { sheet, rows } = await loaded(text, { map });
  expect(rows.map(({ values, cells }) => [values.description, cells])).toEqual([
    ['Desk', ['1', '2.50', 'Desk', 'extra']],
    ['Lamp', ['2', '3', 'Lamp', '']],
  ]);
  expect(sheet.mapping.unmapped.map(unusedWords)).toEqual(['#4 (column 4, which has no name)']);
  const { columns } = tellingForm(sheet);
  const again = await loaded(text, { recall: () => new Map([['description', columns?.told.description ?? '']]) });
  expect(again.rows.map(({ values }) => values.description)).toEqual(['Desk', 'Lamp']);
});

test('--map takes the number of any column with a #, and a column of that name goes first', () => {
  const at = (names: readonly string[], column: string) =>
    mapped(names, new Map([['client_id', column]] as const)).columns.find(({ field }) => field === 'client_id')?.index;
  expect([at(['a', 'b'], '#2'), at(['2', 'b'], '#2'), at(['2', 'b'], '2'), at(['#2', 'b'], '#2')]).toEqual([
    1, 1, 0, 0,
  ]);
  expect(() => at(['a', 'b'], '#3')).toThrow(expect.objectContaining({ code: 'CSV_UNKNOWN_COLUMN' }));
});

test('a field mapped to no column stays without one, whatever column resembles it', () => {
  const { columns, unmapped } = mapped(['client_id', 'email', 'amount'], new Map([['client_id', '']] as const));
  expect(columns.map(({ field }) => field)).toEqual(['amount', 'customer_email', 'email']);
  expect(unmapped.map(({ name }) => name)).toEqual(['client_id']);
});

test.each(['Customer Note', 'Order Count', 'Sender', 'Cantidad', 'State'])(
  'does not use a column called %s',
  (name) => {
    expect(recognise(name)).toBeUndefined();
  },
);

test('treats hostile names like other names', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'client_id'];
  expect(mapped(names).unmapped.map(({ name }) => name)).toEqual(names.slice(0, 4));
  expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(12);
});

test('no synonym belongs to two fields', () => {
  const all = FIELDS.flatMap((field) => SYNONYMS[field]);
  expect(all.filter((words, index) => all.indexOf(words) !== index)).toEqual([]);
});

test('a signature is the same only for the same names in the same order', () => {
  const signature = headerSignature(['a', 'b ']);
  expect(headerSignature(['a ', 'b'])).toBe(signature);
  expect(headerSignature(['b', 'a'])).not.toBe(signature);
  expect(headerSignature(['a,b'])).not.toBe(signature);
});

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
      anError('CSV_CELLS_DO_NOT_FIT', /0 of 2 cells fit.*--map "amount=Order Total".*--map amount=\./, 2),
    ),
  );
  const none = mapped(['client_id', 'Order Total'], new Map([['amount', '']] as const), { firstRows });
  expect(none).toMatchObject({ none: ['amount'], unmapped: [{ name: 'Order Total' }] });
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
  await expect(loaded('Email,Beløb\nann@example.com,"€ 12,-"\nann@example.com,"€ 5,00"\n')).rejects.toThrow('"Beløb"');
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
