/** Which column fills which field. */
import { expect, test } from 'vitest';
import { headerSignature } from '../../src/csv/column-names.ts';
import { FIELDS, SYNONYMS } from '../../src/csv/fields.ts';
import { recognise } from '../../src/csv/recognise.ts';
import { columnWords, unusedWords } from '../../src/operator/sheet-words.ts';
import { tellingForm } from '../../src/syncs/orders/remembered-columns.ts';
import { anError } from '../support/matchers.ts';
import { loaded } from './files.ts';
import { asPairs, mapped } from './mapped.ts';

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
    ['N° pièce', 'Nom client', 'Total TTC', 'Référence'],
    { order_id: 'N° pièce', customer_name: 'Nom client', amount: 'Total TTC' },
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
  [
    ['Order Id', 'Customer Email ID', 'Mobile No.', 'Amount'],
    { order_id: 'Order Id', customer_email: 'Customer Email ID', customer_phone: 'Mobile No.', amount: 'Amount' },
  ],
  [
    ['Bestellnr.', 'Telefonnummer Kunde', 'Mail ID', 'Phone ID', 'Betrag'],
    { order_id: 'Bestellnr.', customer_email: 'Mail ID', customer_phone: 'Telefonnummer Kunde', amount: 'Betrag' },
  ],
  [['Ordernr', 'E-post', 'Belopp'], { order_id: 'Ordernr', customer_email: 'E-post', amount: 'Belopp' }],
  [['Ordrenr', 'E-post', 'Beløp'], { order_id: 'Ordrenr', customer_email: 'E-post', amount: 'Beløp' }],
  [['Order', 'E-mail', 'Σύνολο'], { order_id: 'Order', customer_email: 'E-mail', amount: 'Σύνολο' }],
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

test.each(['Nom', 'Nombre', 'Nome'])('a column called "%s" may have the numbers of the orders too', (name) => {
  const fieldOf = (cell: string) =>
    mapped([name, 'Email'], new Map(), { firstRows: [[cell, 'a@x.de']] }).columns[0]?.field;
  expect([fieldOf('#1001'), fieldOf('Ann Lee')]).toEqual(['order_id', 'customer_email']);
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
  for (const map of [new Map(), new Map([['amount', 'amount']] as const)])
    expect(() => mapped(['client_id', 'amount', 'amount'], map)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(
          /both called "amount". Name the one to read by its number, as in --map "amount=#2".$/,
        ),
        choices: [
          { field: 'amount', column: '#2' },
          { field: 'amount', column: '#3' },
        ],
      }),
    );
});

test('the choice between two columns of one name is shown by their numbers, and remembered', async () => {
  const text = 'client_id,amount,amount\n1,2.50,3\n2,3,4\n';
  const { sheet } = await loaded(text, { map: new Map([['amount', '#3']] as const) });
  const [amount] = sheet.mapping.columns.filter(({ field }) => field === 'amount');
  expect(amount && columnWords(amount, sheet.columns)).toBe('"amount" (column 3)');
  const { columns } = tellingForm(sheet);
  const again = await loaded(text, { recall: () => new Map([['amount', columns?.told.amount ?? '']]) });
  expect(again.rows.map(({ values }) => values.amount)).toEqual(['3', '4']);
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
