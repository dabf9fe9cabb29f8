/** Exports of programs without a preset: what is never read as something else, and what a person is asked. */
import { expect, test } from 'vitest';
import type { SheetChoices } from '../../src/csv/sheet.ts';
import { unusedWords } from '../../src/operator/sheet-words.ts';
import { loaded, verdicts } from './files.ts';

/** The columns that fill fields, by field. */
async function fieldsOf(header: string, row: string, choices: SheetChoices = {}) {
  const { sheet } = await loaded(`${header}\n${row}\n`, choices);
  return Object.fromEntries(sheet.mapping.columns.map(({ field, name }) => [field, name]));
}

test('another program’s customer numbers give way to e-mails, because the service numbers its customers too', async () => {
  const text = 'Order ID,Customer ID,Customer Email,Total\n101,12,ann@example.com,5\n102,,ben@example.com,6\n';
  const { sheet, rows, overview } = await loaded(text);
  expect(rows.map(({ values }) => [values.client_id, values.customer_email])).toEqual([
    [undefined, 'ann@example.com'],
    [undefined, 'ben@example.com'],
  ]);
  expect(sheet.mapping.unmapped.map(unusedWords)).toEqual([
    '"Customer ID" (not client_id: "Customer Email" says who the customer is)',
  ]);
  expect(overview.notes([])).toEqual([]);
});

test.each([
  ['if a row has no e-mail', 'Order ID,Customer ID,Customer Email,Total\n101,12,ann@example.com,5\n102,13,,6\n', {}],
  ['if no column has e-mails', 'Order ID,Kundennummer,Total\n101,12,5\n', {}],
])('customer numbers are used %s, and a note says what that means', async (_, text, choices) => {
  const { rows, overview } = await loaded(text, choices);
  expect(rows[0]?.values.client_id).toBe('12');
  expect(overview.notes([])).toEqual([
    expect.stringMatching(
      /^the customers are found by "(Customer ID|Kundennummer)", as ids of this service\. If they are ids of another program, the orders would go to other customers: choose no column for client_id \(`--map client_id=`\)$/,
    ),
  ]);
});

test('a column that is called client_id, or was chosen, is used without a note', async () => {
  const { overview } = await loaded('order_id,client_id,email,amount\n101,12,ann@example.com,5\n');
  expect(overview.notes([])).toEqual([]);
  const map = new Map([['client_id', 'Customer ID']] as const);
  const told = await loaded('Order ID,Customer ID,Email,Total\n101,12,ann@example.com,5\n', { map });
  expect([told.rows[0]?.values.client_id, told.overview.notes([])]).toEqual(['12', []]);
});

test('"Name" is the name of the order where another column names the customer', async () => {
  const dynamics = await fieldsOf('Order ID,Name,Potential Customer,Total Amount', 'O-1,Lamps,Lee GmbH,5');
  expect(dynamics).toMatchObject({ customer_name: 'Potential Customer', full_name: 'Potential Customer' });
  const sugar = await fieldsOf('ID,Name,Account Name,Opportunity Amount', 'a1,Lamps,Lee GmbH,5');
  expect(sugar).toMatchObject({ customer_name: 'Account Name', full_name: 'Account Name' });
  const board = await fieldsOf('Name,Contacts,Deal Value', 'Lamps,Ann Lee,5');
  expect(board).toMatchObject({ customer_name: 'Contacts' });
  expect(await fieldsOf('Name,Email,Total', 'Ann Lee,a@x.de,5')).toMatchObject({ customer_name: 'Name' });
});

test('a short word of a name has no similar word: a customer’s purchase order is not a customer number', async () => {
  expect(await fieldsOf('Customer PO,Email,Total', '12,a@x.de,5')).not.toHaveProperty('client_id');
});

test('what is left after taxes or fees is not the amount of the order beside other amounts', async () => {
  const header = 'Purchase ID,Email,Taxes ($),Sale Price ($),Fees ($),Net Total ($)';
  const row = 'g1,ann@example.com,4.56,28.56,1.85,22.15';
  await expect(loaded(`${header}\n${row}\n`)).rejects.toMatchObject({
    code: 'CSV_NO_AMOUNT_COLUMN',
    message:
      'Line 1: "Net Total ($)" may not be the whole amount of the order, because it and "Taxes ($)", "Fees ($)" add up to "Sale Price ($)". ' +
      'If it is the amount of the order, add --map "amount=Net Total ($)"; otherwise add --map "amount=Sale Price ($)".',
  });
  const map = new Map([['amount', 'Sale Price ($)']] as const);
  expect(await fieldsOf(header, row, { map })).toMatchObject({ amount: 'Sale Price ($)' });
  expect(await fieldsOf('Auftrag,Name 1,Menge,Nettowert', '1,Lee,"2,000","1,50"')).toMatchObject({
    amount: 'Nettowert',
  });
});

test('only the columns that a person has to choose from are named, each with its cell', async () => {
  const text = 'Order number,Email,Price,Net amount,Total\n7,a@x.de,20.00,0.00,23.80\n';
  await expect(loaded(text)).rejects.toThrow(
    'Line 1: the columns "Net amount", "Total" all look like amount, and differ: "Net amount" has "0.00" where "Total" has "23.80". Name one, as in --map',
  );
});

test.each([
  ['Net amount,Gross transaction amount', '21.46,26.60', '"amount=Gross transaction amount"'],
  ['Net sum,Total', '100.00,119.00', 'amount=Total'],
  ['Amount,Amount Including VAT', '100.00,119.00', '"amount=Amount Including VAT"'],
  ['Tax,Subtotal,Paid sum', '1.00,5.00,6.00', '"amount=Paid sum"'],
  ['ItemRate,ItemTax,ItemAmount', '1.50,0.30,3.00', 'amount=ItemAmount'],
  ['Width,Height', '1.50,3.00', 'amount=Column'], // no name says more than the other
])(
  'of the columns %s a question names the one that may be the whole amount as its example',
  async (names, cells, option) => {
    await expect(loaded(`Order No,Email,${names}\n1,a@x.de,${cells}\n`)).rejects.toThrow(`--map ${option}`);
  },
);

test('customers whose data is masked are not told apart by it', async () => {
  const text =
    'Order ID,Total,Phone #,Buyer email,Recipient\n1,5,(+49)228****34,a***@x.de,A\n2,5,(+49)431****34,b***@x.de,B\n';
  await expect(loaded(text)).rejects.toThrow(/"Phone #" has the name of phone_number, but 0 of 2 cells fit/);
  const map = new Map([
    ['customer_phone', 'Phone #'],
    ['customer_email', 'Buyer email'],
    ['customer_name', 'Recipient'],
  ] as const);
  const one = await loaded(text.replace(',A\n', ',A**e\n'), { map });
  expect(verdicts(one.rows)).toEqual([
    '2 CUSTOMER_MASKED CUSTOMER_MASKED CUSTOMER_MASKED',
    '3 CUSTOMER_MASKED CUSTOMER_MASKED',
  ]);
});

test('amounts whose last zero a program left out are amounts too', async () => {
  const text = 'Bestellnummer,Email,Warenwert\n1001,a@x.de,100\n1002,b@x.de,50.5\n';
  await expect(loaded(text)).rejects.toMatchObject({ code: 'CSV_NO_AMOUNT_COLUMN' });
});

test.each([
  ['Invoice Number', 'Invoice ID,Invoice Number,Email,Total', '4271,INV-1,a@x.de,5'],
  ['Invoice #', 'Client Name,Invoice #,Total', 'Ann Lee,INV-1,5'],
  ['Receipt number', 'Receipt number,Email,Total', '#1001,a@x.de,5'],
  ['Sale ID', 'Sale ID,Email,Total', '220001,a@x.de,5'],
  ['Purchase ID', 'Purchase ID,Purchase Email,Total', 'g1x,a@x.de,5'],
  ['Document Number', 'Internal ID,Document Number,Email,Total', '55010,SO1001,a@x.de,5'],
])('"%s" is the number of the order in an export with %s', async (order_id, header, row) => {
  expect(await fieldsOf(header, row)).toMatchObject({ order_id, amount: 'Total' });
});

test.each([
  ['Shopper Email', 'customer_email', 'ann@example.com'],
  ['Purchase Email', 'customer_email', 'ann@example.com'],
  ['Account Email', 'customer_email', 'ann@example.com'],
  ['Consumer name', 'customer_name', 'Ann Lee'],
  ['Besteller', 'customer_name', 'Ann Lee'],
])('%s is %s', async (name, field, cell) => {
  expect(await fieldsOf(`Order No,Total,${name}`, `1,5,${cell}`)).toMatchObject({ [field]: name });
});

test('a customer’s e-mail column without cells gives way to one that has them', async () => {
  const fields = await fieldsOf('Order No,Total,Buyer Email,Purchase Email', '1,5,,ann@example.com');
  expect(fields).toMatchObject({ customer_email: 'Purchase Email' });
});

test.each(['Total for Ann Lee', 'Summe für Lee GmbH', 'Sous-total', 'Total général'])(
  'a line of a report that is called "%s" is no order of a customer of that name',
  async (name) => {
    const { rows } = await loaded(`Customer,Order No,Amount\nAnn Lee,1,5\n${name},,5\n`);
    expect(verdicts(rows)).toEqual(['2 ok', '3 TOTALS_ROW']);
  },
);

test('two columns of one name are no problem if neither is read', async () => {
  const text = 'Order No,Email,Total,City,City\n1,a@x.de,5,Bonn,Kiel\n';
  expect(verdicts((await loaded(text)).rows)).toEqual(['2 ok']);
  const refusal = { code: 'CSV_DUPLICATE_HEADER' };
  const map = new Map([['description', 'City']] as const);
  await expect(loaded(text, { map })).rejects.toMatchObject(refusal);
  await expect(loaded(text, { where: new Map([['City', 'Bonn']]) })).rejects.toMatchObject(refusal);
  await expect(loaded(text.replaceAll('City', 'Customer'))).rejects.toMatchObject(refusal);
});

test('a column of quantities is not suggested for the amount', async () => {
  await expect(loaded('Order No,Email,Qty,Gross Sales\n1,a@x.de,1.5,$5.00\n')).rejects.toThrow(
    'but the column "Gross Sales" has amounts.',
  );
});

test('a link behind a name is no part of the name', async () => {
  const { rows } = await loaded('Order No,Client,Total\n1,Ann Lee (https://www.notion.so/Ann-Lee-0123?pvs=21),5\n');
  expect(rows).toMatchObject([{ values: { customer_name: 'Ann Lee' } }]);
});

test.each([
  ['First Name,Last Name,Email', 'Ann,Lee,a@x.de'],
  ['Customer First Name,Customer Last Name,Customer Email', 'Ann,Lee,a@x.de'],
  ['firstname,lastname,email', 'Ann,Lee,a@x.de'],
  ['Rechnungvorname,Rechnungnachname,EMail', 'Ann,Lee,a@x.de'],
  ['Nom facturation,Prénom facturation,Mail', 'Lee,Ann,a@x.de'],
  ['Name,Vorname,E-Mail', 'Lee,Ann,a@x.de'],
  ['Name,Vorname,E-Mail', 'Ann Lee,Ann,a@x.de'],
])('the names in %s are the name of the customer', async (header, cells) => {
  const { rows } = await loaded(`Order No,${header},Total\n1,${cells},5\n`);
  expect(rows).toMatchObject([{ values: { customer_name: 'Ann Lee', email: 'a@x.de' } }]);
});

test('a first name that begins a last name is joined too', async () => {
  const { rows } = await loaded('Order No,First Name,Last Name,Vorname,Name\n1,Jo,Johns,,\n2,Ann,Lee,,\n');
  expect(rows.map(({ values }) => values.customer_name)).toEqual(['Jo Johns', 'Ann Lee']);
  const german = await loaded('Nr,Vorname,Name\nA-1,Jo,Johns\nA-2,Ann,Lee\n');
  expect(german.rows.map(({ values }) => values.customer_name)).toEqual(['Jo Johns', 'Ann Lee']);
});

test('the names of a recipient are not those of the customer, and a whole name goes first', async () => {
  const row = 'a@x.de,5,Cleo,Fay';
  expect(await fieldsOf('Email,Total,Shipping First Name,Shipping Last Name', row)).not.toHaveProperty('customer_name');
  const fields = await fieldsOf('Email,Total,First Name,Last Name,Customer Name', `${row},Ann Lee`);
  expect(fields).toMatchObject({ customer_name: 'Customer Name' });
});

test('the family name of Japanese goes first, and a given name alone is not the customer’s name', async () => {
  const header = '注文番号,注文者姓,注文者名,注文者メールアドレス,請求金額,送付先姓,送付先名';
  const { rows } = await loaded(`${header}\nR-1,鈴木,花子,a@example.jp,4000,佐藤,花子\nR-2,山田,花子,,500,,\n`);
  expect(rows.map(({ values }) => [values.customer_name, values.customer_email])).toEqual([
    ['鈴木 花子', 'a@example.jp'],
    ['山田 花子', undefined],
  ]);
  for (const [family, given] of [
    ['氏(請求先)', '名(請求先)'],
    ['お名前(姓)', 'お名前(名)'],
  ])
    expect((await loaded(`注文番号,${family},${given},請求金額\nR-1,鈴木,花子,4000\n`)).rows).toMatchObject([
      { values: { customer_name: '鈴木 花子' } },
    ]);
  expect(await fieldsOf('注文番号,注文者名,請求金額', 'R-1,鈴木 花子,4000')).toMatchObject({
    customer_name: '注文者名',
  });
});

test('a column that says yes to a refund tells which orders were refunded, and the remedy leaves them out', async () => {
  const text = 'order_number,Email,total,Refunded\n11,a@x.de,5,No\n12,b@x.de,6,Yes\n';
  const notes = async (choices: SheetChoices = {}) => (await loaded(text, choices)).overview.notes([]).join();
  expect(await notes()).toMatch(
    /1 of the 2 orders read from the file was refunded .*: line 3 \(Refunded Yes\)\. .*`--where Refunded=No`/,
  );
  expect(await notes({ where: new Map([['Refunded', 'No']]) })).not.toContain('refunded (');
});

test('whole numbers are amounts too where the name of their column says so', async () => {
  const odoo = 'name,email,order_line/price_subtotal,amount_untaxed,amount_total\nS00021,a@x.de,140,140,168\n';
  expect((await loaded(odoo)).rows).toMatchObject([{ values: { order_id: 'S00021', amount: '168' } }]);
  await expect(loaded(odoo.replace('amount_total', 'x_total_brut'))).rejects.toThrow(
    'but the columns "order_line/price_subtotal", "amount_untaxed", "x_total_brut" have amounts.',
  );
  await expect(loaded('Order No,Email,Total items,Weight\n1,a@x.de,3,48\n')).resolves.toBeDefined();
});

test('an order whose number is 0 has none: otherwise all orders of a customer were one order', async () => {
  const { rows, overview } = await loaded(
    'Transaction ID,Email,Amount\n0,a@x.de,5.00\n0,a@x.de,6.00\n17,b@x.de,7.00\n',
  );
  expect(rows.map(({ values }) => values.order_id)).toEqual([undefined, undefined, '17']);
  expect(overview.notes([]).join()).toContain('2 of the 3 orders read from the file have no order_id');
});

test('dashes in place of an amount are no amount', async () => {
  const { rows } = await loaded('Order No,Email,Amount\n1,a@x.de,5.00\n,b@x.de,--\n');
  expect(verdicts(rows)).toEqual(['2 ok', '3 AMOUNT_EMPTY']);
});

test.each([
  ['Numer zamówienia;Klient;Email;Kwota PLN', 'Z-1;Jan Żak;jan@x.pl;1 234,50'],
  ['Numero ordine;Cliente;Email;Totale', 'Z-1;Jan Żak;jan@x.pl;1.234,50'],
  ['Bestelnummer;Klantnaam;E-mailadres;Totaalbedrag', 'Z-1;Jan Żak;jan@x.pl;1.234,50'],
  ['Número do pedido;Cliente;E-mail;Valor total', 'Z-1;Jan Żak;jan@x.pl;1.234,50'],
  ['Ordernr;Kundnamn;E-post;Totalt inkl. moms', 'Z-1;Jan Żak;jan@x.pl;1 234,50'],
  ['No.;Sell-to Customer Name;E-mail;Amount Including VAT', 'Z-1;Jan Żak;jan@x.pl;1,234.50'],
  ['Sales doc.;Sold-To Party Name;E-mail;Net value', 'Z-1;Jan Żak;jan@x.pl;1,234.50'],
  ['Sipariş No;Müşteri;E-posta;Toplam', 'Z-1;Jan Żak;jan@x.pl;1.234,50'],
])('reads the common columns of an export with %s', async (header, row) => {
  const { rows } = await loaded(`${header}\n${row}\n`);
  const values = { order_id: 'Z-1', customer_name: 'Jan Żak', customer_email: 'jan@x.pl', amount: '1234.5' };
  expect(rows).toMatchObject([{ status: 'valid', values }]);
});

test('the header of DATEV is found below the line that describes the file, whatever columns it has', async () => {
  const above =
    '"EXTF";700;21;"Buchungsstapel";12;20260801;;"RE";"";"";1234567;40001;20260101;4;20260701;20260731;1;"EUR"';
  const header =
    'Umsatz (ohne Soll/Haben-Kz);Soll/Haben-Kennzeichen;WKZ Umsatz;Konto;Belegdatum;Belegfeld 1;Buchungstext';
  const { sheet, rows } = await loaded(`${above}\n${header}\n1190,00;"S";"EUR";10001;1507;"RE-100";"Lee GmbH"\n`, {
    map: new Map([['customer_name', 'Buchungstext']] as const),
  });
  expect([sheet.headerLine, rows[0]?.values]).toMatchObject([2, { order_id: 'RE-100', amount: '1190' }]);
});

test('a note counts the values of a column that says whether money came in or went out', async () => {
  const { overview } = await loaded('订单号,客户,金额,收/支\n1,王,5,支出\n2,李,6,收入\n');
  expect(overview.notes([])).toEqual([expect.stringContaining('column "收/支": 1 × 支出, 1 × 收入')]);
});

test('a note counts the orders whose cell of the order number is empty', async () => {
  const { overview } = await loaded('Invoice No,Email,Total\nR-1,a@x.de,5\n,b@x.de,6\n,c@x.de,7\n');
  expect(overview.notes([])).toEqual([
    '2 of the 3 orders read from the file have no order_id, because "Invoice No" is empty or 0: such an order gets a label such as LS-1a2b3c4d-1, and another file with the same orders may create them again. If another column has their numbers, choose it for order_id (`--map order_id=Column`)',
  ]);
  const one = await loaded('Invoice No,Email,Total\nR-1,a@x.de,5\n,b@x.de,6\n');
  expect(one.overview.notes([])[0]).toContain('1 of the 2 orders read from the file has no order_id');
});

test('the price of one piece, or a rate, is neither the amount nor the example for it', async () => {
  const text = 'Order No,Customer,Quantity,Unit Price\n1,Ann Lee,2,15.50\n';
  await expect(loaded(text)).rejects.toThrow('"Unit Price" may be the price of one piece, because "Quantity" has');
  const both = 'Order No,Customer,Quantity,Unit Price,Rate,Line sum\n1,Ann Lee,1,15.50,15.50,18.45\n';
  await expect(loaded(both)).rejects.toThrow(
    /"Unit Price" may not be the whole amount of the order, because .*"Line sum"/,
  );
  await expect(loaded(both.replace('Unit Price', 'Piece'))).rejects.toThrow('as in --map "amount=Line sum"');
});

test('any currency behind the name of an amount is no part of the name', async () => {
  const fields = await fieldsOf('# de venta,Comprador,Total (ARS)', '2000001,Ann Lee,45000');
  expect(fields).toMatchObject({ order_id: '# de venta', customer_name: 'Comprador', amount: 'Total (ARS)' });
});

test.each(['#Order No', '#order_id', '# de venta'])('"%s" is the number of the order', async (name) => {
  const fields = await fieldsOf(`${name},Customer,Total,# Items`, 'A-7,Ann Lee,5,3');
  expect(fields).toMatchObject({ order_id: name, customer_name: 'Customer', amount: 'Total' });
  expect(fields).not.toHaveProperty('description');
});
