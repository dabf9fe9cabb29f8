/** Shapes of exports of shops, marketplaces and invoicing programs in several languages: which columns are read, and what is asked. */
import { expect, test } from 'vitest';
import { loaded, verdicts } from './files.ts';

/** The order_id, amount and customer of the first row. */
async function firstOf(...lines: readonly string[]) {
  const { rows } = await loaded(`${lines.join('\n')}\n`);
  const { order_id, amount, customer_email, customer_name } = rows[0]?.values ?? {};
  return [order_id, amount, customer_email ?? customer_name];
}

test.each([
  ['a discount', 'Pedido;Cliente;Subtotal de productos;Descuento;Envío;Total', 'P1;Ann;100,00;10,00;0;90,00', '90'],
  ['a discount', 'Bestellnr;Kunde;Zwischensumme;Rabatt;Gesamt', 'P1;Ann;100,00;10,00;90,00', '90'],
  ['a net amount', 'Rechnungsnr;Kunde;Nettobetrag;MwSt-Betrag;Bruttobetrag', 'P1;Ann;100,00;19,00;119,00', '119'],
  ['a net amount', 'N° commande;Client;Montant HT;TVA;Montant TTC', 'P1;Ann;100,00;20,00;120,00', '120'],
  ['a net amount', 'Auftragsnr;Kunde;Wert netto;Wert brutto', 'P1;Ann;100,00;119,00', '119'],
  ['a net amount', 'Pedido;Cliente;Total s/ IVA;IVA;Total c/ IVA', 'P1;Ann;100,00;23,00;123,00', '123'],
  ['a net amount', 'Auftragsnr;Kunde;Betrag netto;Betrag inkl. 19% MwSt.', 'P1;Ann;100,00;119,00', '119'],
  ['parts', 'Order No;Customer;Total Discount;Shipping;Total price with VAT', 'P1;Ann;1.50;4.00;66.50', '66.5'],
])('%s beside the amount of the order needs no question: %s', async (_, header, row, amount) => {
  expect(await firstOf(header, row)).toEqual(['P1', amount, 'Ann']);
});

test('an amount that may lack the taxes is not taken beside one that has them', async () => {
  const text = 'Nr.;Verk. an Name;Betrag;Betrag inkl. MwSt.\nVA-2026-1;Ann;100,00;119,00\nVA-2026-2;Bo;20,00;23,80\n';
  await expect(loaded(text)).rejects.toThrow('Name one, as in --map "amount=Betrag inkl. MwSt."');
});

test('the gross price of one piece does not go before a net amount', async () => {
  expect(await firstOf('Bestellnr;Kunde;Einzelpreis brutto;Gesamt netto', 'P1;Ann;11,90;100,00')).toEqual([
    'P1',
    '100',
    'Ann',
  ]);
});

test.each([
  ['Price (EUR)', 'Quantity Ordered'],
  ['Prix', 'Quantité demandée'],
  ['Preis in €', 'Bestellmenge'],
  ['Precio', 'Cantidad del producto'],
])('"%s" beside "%s" may be the price of one piece', async (price, quantity) => {
  const text = `Order No;Customer;${price};${quantity}\n1;Ann Lee;10,00;3\n`;
  await expect(loaded(text)).rejects.toThrow(
    `Line 1: "${price}" may be the price of one piece, because "${quantity}" has quantities.`,
  );
});

test.each([
  ['Price', 'Shipping', 'Sales Tax', '"Shipping", "Sales Tax" have'],
  ['Precio', 'Costo de envío', 'Nota', '"Costo de envío" has'],
])('a %s beside %s is not the whole amount', async (price, shipping, tax, columns) => {
  const text = (cost: string) => `Order No;Customer;${price};${shipping};${tax}\n1;Ann Lee;10,00;${cost};1,00\n`;
  await expect(loaded(text('4,00'))).rejects.toThrow(
    new RegExp(`"${price}" may not be the whole amount of the order, because the columns? ${columns} amounts too\\.`),
  );
});

test.each([
  ['product_id,name,model,quantity', '40,Lamp,P1,2'],
  ['sku,name,qty_ordered', 'P1,Lamp,2'],
])('a name in items of orders is no customer: %s', async (header, row) => {
  const text = `order_id,${header},total,email\n101,${row},180.00,a@x.de\n102,${row},90.00,b@x.de\n`;
  expect((await loaded(text)).rows[0]?.values).toMatchObject({ description: 'Lamp', customer_email: 'a@x.de' });
  await expect(loaded(text.replaceAll(/,[^,\n]*\n/g, '\n'))).rejects.toMatchObject({ code: 'CSV_NO_CUSTOMER_COLUMN' });
});

test('a name beside an e-mail is the customer, whatever was ordered', async () => {
  expect(await firstOf('Order No,Name,Mobile,SKU,Qty,Total', '1,Ann,0301234,P1,2,5')).toEqual(['1', '5', 'Ann']);
});

test('what a marketplace pays out is not the amount of the order', async () => {
  const header = '# de venta;Ingresos por productos (ARS);Cargo por venta (ARS);Total (ARS);Comprador';
  await expect(loaded(`${header}\n20001;1000.00;-150.00;850.00;Ana\n`)).rejects.toThrow(
    'Line 1: "Total (ARS)" may be what is left after "Cargo por venta (ARS)", because "Ingresos por productos (ARS)" has larger amounts. ' +
      'If it is the amount of the order, add --map "amount=Total (ARS)"; otherwise name the column that has it, with --map amount=Column.',
  );
  expect(await firstOf(header, '20001;1000.00;0.00;1000.00;Ana')).toEqual(['20001', '1000', 'Ana']);
  // Pesos of Chile have no decimals.
  const whole = `${header.replaceAll('ARS', 'CLP')}\n20001;25990;-3379;22611;Ana\n`;
  await expect(loaded(whole)).rejects.toThrow('"Total (CLP)" may be what is left after "Cargo por venta (CLP)"');
});

test('an amount in the currency of the shop does not go before one in that of the customer', async () => {
  const text = 'Order No,Customer,Amount (Foreign Currency),Amount,Currency\n1,Ann,"1,000.00","1,105.20",EUR\n';
  await expect(loaded(text)).rejects.toMatchObject({ code: 'CSV_COLUMNS_AMBIGUOUS' });
});

test('an example in a question is no part, tax, price or measure', async () => {
  const example = async (columns: string, cells: string) => {
    const error = await loaded(`Order No;Customer;${columns}\n1;Ann;${cells}\n`).catch((one: Error) => one);
    return /Name the amount of the order, as in --map "?([^";]*)"?;/.exec(`${error}`)?.[1];
  };
  expect(await example('weight;Imponibile;IVA;Importo fattura lordo', '0,5;100,00;22,00;122,00')).toBe(
    'amount=Importo fattura lordo',
  );
  expect(await example('Birim Fiyatı;İndirim Tutarı;Faturalanacak Tutar', '10,00;1,00;19,00')).toBe(
    'amount=Faturalanacak Tutar',
  );
  expect(await example('imp_neto;imp_iva;imp_total;importe1;importe2', '100,00;21,00;121,00;60,00;61,00')).toBe(
    'amount=imp_total',
  );
  expect(await example('item-price;item-tax;shipping-price', '9,90;1,00;2,50')).toBe('amount=Column');
});

test.each([
  ['SalesOrderNo', 'Payer Name', 'Payer Email', 'Total Charged'],
  ['Número do pedido', 'Nome do contato', 'E-mail do cliente', 'Valor total do pedido'],
  ['Numéro de commande', 'Nom de l’acheteur', 'E-mail (facturation)', 'Montant total de la commande'],
  ['Bestellnummer', 'Name des Kunden', 'E-Mail (Rechnung)', 'Gesamtsumme der Bestellung'],
  ['numero_fattura', 'Nome del cliente', 'customers_email_address', 'Totale documento'],
  ['Sipariş ID', 'Müşteri', 'E-posta', 'Toplam Tutar'],
  ['Fakturanr', 'Kundnamn', 'E-post', 'Totalt'],
  ['Buchungsnummer', 'Name des Käufers', 'E-Mail des Käufers', 'Gesamtpreis'],
  ['Beleg-Nr.', 'Debitor', 'E-Mail', 'Total CHF'],
  ['Booking Ref', 'Client Name', 'Client Email', 'Cart Total'],
])('%s, %s, %s and %s are found', async (...names) => {
  const { sheet } = await loaded(`${names.join(';')}\nP7;Ann Lee;ann@example.com;5,00\n`);
  const columns = (['order_id', 'customer_name', 'customer_email', 'amount'] as const).map(
    (field) => sheet.mapping.columns.find((column) => column.field === field)?.name,
  );
  expect(columns).toEqual(names);
});

test('the number of an order goes before that of its invoice, and that before the customer’s own number', async () => {
  expect(await firstOf('PO Number,Invoice No,Customer,Total', '7,R-1,Ann,5')).toEqual(['R-1', '5', 'Ann']);
  expect(await firstOf('Invoice No,Invoice ref,Order code,Customer,Total', 'R-1,x1,A-1,Ann,5')).toEqual([
    'A-1',
    '5',
    'Ann',
  ]);
});

test('a number of an order that counts the lines of the file is none', async () => {
  const orders = async (...cells: readonly string[]) => {
    const lines = cells.map((cell) => `${cell};Ann;5,00`).join('\n');
    return (await loaded(`Número de orden;Cliente;Total\n${lines}\n`)).rows.map(({ values }) => values.order_id);
  };
  expect(await orders('5018', '5016')).toEqual(['5018', '5016']);
  expect(await orders('1', '2')).toEqual([undefined, undefined]);
  const french = await loaded("N° d'ordre;Client;Total\n1;Ann;5,00\n2;Ben;6,00\n");
  expect(french.rows[0]?.values.order_id).toBeUndefined();
});

test.each(['Calle *;Numero *', 'Straße;Nr.', 'Street;No.'])(
  'the second column of %s has no numbers of orders',
  async (columns) => {
    const { rows } = await loaded(`Email;${columns};Total\na@x.de;Main;1887;5,00\nb@x.de;High;5992;6,00\n`);
    expect(rows.map(({ values }) => values.order_id)).toEqual([undefined, undefined]);
  },
);

test.each([
  'Nombre *;Apellido *',
  'Nome;Cognome',
  'Nome do comprador;Sobrenome do comprador',
  'Prénom du client;Nom du client',
  'Voornaam;Achternaam',
  'Imię;Nazwisko',
])('a first name alone is not the customer: %s', async (names) => {
  expect(await firstOf(`Order No;${names};Total`, 'P1;Ann;Lee;5,00')).toEqual(['P1', '5', 'Ann Lee']);
});

test('a note does not compete with the product for the description', async () => {
  const { rows } = await loaded('Order No,Customer,Notes,Product,Total\n1,Ann,call first,Lamp,5\n');
  expect(rows[0]?.values.description).toBe('Lamp');
});

const ITEMS =
  'code;email;totalPriceWithVat;itemName\n2601;a@x.cz;1210,00;Lamp\n2601;a@x.cz;1210,00;Post\n2602;b@x.cz;605,00;Desk\n';

test('lines that may be items of one order are not loaded as orders with its whole amount', async () => {
  await expect(loaded(ITEMS)).rejects.toMatchObject({
    code: 'CSV_NO_ORDER_COLUMN',
    message:
      'Line 1: no column has a name that means the order_id, and lines with the same "code" (2601) also have the same customer and amount: ' +
      'they may be items of one order. If they are items, add --map order_id=code --combine-lines first; if each line is an order, add --map order_id=.',
  });
  const items = await loaded(ITEMS, { map: new Map([['order_id', 'code']]), combineLines: 'first' });
  expect(items.rows.map(({ values }) => [values.order_id, values.amount])).toEqual([
    ['2601', '1210'],
    ['2602', '605'],
  ]);
  expect(verdicts((await loaded(ITEMS, { map: new Map([['order_id', '']]) })).rows)).toHaveLength(3);
});

test.each([
  ['the lines differ in their amounts', ITEMS.replace('1210,00;Post', '99,00;Post')],
  ['the lines differ in their customers', ITEMS.replace('a@x.cz;1210,00;Post', 'c@x.cz;1210,00;Post')],
  ['the value comes again further down', `${ITEMS}2601;a@x.cz;7,00;Chair\n`],
  ['the lines are equal', ITEMS.replace('Post', 'Lamp')],
  ['the lines have different dates', ITEMS.replace('Lamp', '2026-01-05').replace('Post', '2026-02-05')],
  ['the column has dates', ITEMS.replaceAll('2601', '2026-01-05').replaceAll('2602', '2026-01-06')],
])('lines are orders of their own if %s', async (_, text) => {
  expect((await loaded(text)).rows.every(({ status }) => status === 'valid')).toBe(true);
});

const numbered = (column: string, numbers: readonly (string | number)[], emails = 'abcdefgh') =>
  `Email,${column},Total\n${numbers.map((number, n) => `${emails[n]}@x.de,${number},${n + 5}.50\n`).join('')}`;

test.each([
  ['rise from line to line', numbered('Beleg', [2601, 2604, 2605, 2609, 2611])],
  ['fall from line to line', numbered('Folio', ['R/99', 'R/98', 'R/95', 'R/91', 'R/90'])],
  ['are long', numbered('Vorgang', ['INV-2026-041', 'INV-2026-007'])],
  ['differ between the lines of a customer', numbered('Vorgang', [26041, 26007, 26019], 'aba')],
])(
  'a file is refused whose orders may have their numbers in a column with an unknown name: they %s',
  async (_, text) => {
    const [, name, first] = /,(\w+),Total\n[^,]*,([^,]*)/.exec(text) ?? [];
    await expect(loaded(text)).rejects.toMatchObject({
      code: 'CSV_NO_ORDER_COLUMN',
      message:
        `Line 1: no column has a name that means the order_id, but "${name}" is different in each line, as in ${first}, so it may have the numbers of the orders. ` +
        'Without them, another file with the same orders would create them again. ' +
        `If it has them, add --map order_id=${name}; if not, add --map order_id=.`,
    });
    const told = await loaded(text, { map: new Map([['order_id', name ?? '']]) });
    expect(told.rows[0]?.values.order_id).toBe(first);
    expect((await loaded(text, { map: new Map([['order_id', '']]) })).rows[0]?.values.order_id).toBeUndefined();
  },
);

test.each([
  ['counts the lines', numbered('Line', [1, 2, 3, 4, 5])],
  ['rises in a few lines', numbered('Points', [12, 15, 20, 31])],
  [
    'neither rises nor differs between the lines of a customer',
    numbered('Postcode', [10115, 80331, 20095, 50667, 4109]),
  ],
  ['has the days', numbered('Day', [20260102, 20260103, 20260105, 20260107, 20260109])],
  ['has amounts', numbered('Preis vorher', [12, 15, 20, 31, 44])],
  ['has products', numbered('SKU', ['LAMP-0001-X', 'DESK-0002-Y'])],
  ['is empty in a line', numbered('Beleg', [2601, 2604, 2605, '', 2611])],
  ['has small numbers', numbered('Points', [12, 4, 7], 'aba')],
])('a column has no numbers of orders if it %s', async (_, text) => {
  expect((await loaded(text)).rows.filter(({ values }) => values.order_id !== undefined)).toEqual([]);
});
