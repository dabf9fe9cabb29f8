/** Amounts that a file has, and that are not what the order costs. */
import { expect, test } from 'vitest';
import { sentenceFor } from '../../src/base/reasons/reasons.ts';
import { loaded, verdicts } from './files.ts';

const map = new Map([['amount', 'Amount']] as const);

test('an amount may be a quantity if another column has prices', async () => {
  const text = 'Order No,Customer,Amount,Unit Price\n1,Ann Lee,2,10.00\n2,Ben Fox,3,5.50\n';
  await expect(loaded(text)).rejects.toMatchObject({
    code: 'CSV_NO_AMOUNT_COLUMN',
    message:
      'Line 1: "Amount" may be a quantity, because it has whole numbers only, and "Unit Price" has amounts. ' +
      'If it is the amount of the order, add --map amount=Amount; otherwise name the column that has it, with --map amount=Column.',
  });
  expect((await loaded(text, { map })).rows).toMatchObject([{ values: { amount: '2' } }, {}]);
  for (const other of [
    text.replace('2,10', '20.50,10'),
    text.replace('Customer', 'Qty').replace('Order No', 'Customer'),
  ])
    await expect(loaded(other)).resolves.toBeDefined();
});

test.each([
  ['1200円', '￥500'],
  ['1200元', '500元'],
  ['5000 ₽', '700 руб.'],
  ['12 345 Ft', '990 Ft'],
  ['99.000đ', '1.250.000đ'],
])('whole numbers with a currency, such as %s, are amounts that no order is loaded without', async (first, second) => {
  const text = `Order No,Customer,Sum of it\n1,Ann Lee,${first}\n2,Ben Fox,${second}\n`;
  await expect(loaded(text)).rejects.toMatchObject({ code: 'CSV_NO_AMOUNT_COLUMN' });
});

test.each([
  '총 금액 합',
  '注文合計金額',
  'Общая сумма',
  'Végösszeg',
  'Сума разом',
  'Contract value',
  '単価',
  '결제액',
  '实付款',
])('whole numbers in a column called "%s" are amounts that no order is loaded without', async (name) => {
  const text = `Order No,Customer,${name}\n1,Ann Lee,15000\n2,Ben Fox,60000\n`;
  await expect(loaded(text)).rejects.toMatchObject({ code: 'CSV_NO_AMOUNT_COLUMN' });
});

test('an amount may lack its decimals if each row has two digits after it, as without quotes', async () => {
  const text = 'Order No,Customer,Amount,Item,Status\n1,Ann Lee,12,50,paid\n2,Ben Fox,1.007,05,open\n';
  await expect(loaded(text)).rejects.toMatchObject({
    code: 'CSV_NO_AMOUNT_COLUMN',
    message:
      'Line 1: "Amount" may lack decimals: in each row, the next cell has two digits, as if an amount such as 12,50 had no quotes. ' +
      'If it is the amount of the order, add --map amount=Amount; otherwise put quotes around the amounts, or export the file with another delimiter.',
  });
  expect((await loaded(text, { map })).rows).toMatchObject([{ values: { amount: '12' } }, {}]);
  for (const other of [text.replaceAll(',', ';'), text.replace('05', '5'), text.replace('12,50', '12.00,50')])
    await expect(loaded(other)).resolves.toBeDefined();
});

test('amounts of less than a cent are compared exactly', async () => {
  const text = 'Order No,Customer,Amount,VAT,Gross\n1,Ann Lee,0.0011,0.0012,0.0041\n2,Ben Fox,0.0021,0.0012,0.0051\n';
  await expect(loaded(text)).resolves.toBeDefined();
});

test('an amount that adds up to another one with the taxes may not be the whole amount', async () => {
  const text = 'Order No,Customer,Amount,VAT,Gross\n1,Ann Lee,100.00,19.00,119.00\n2,Ben Fox,10.10,,10.10\n';
  await expect(loaded(text)).rejects.toMatchObject({
    code: 'CSV_NO_AMOUNT_COLUMN',
    message:
      'Line 1: "Amount" may not be the whole amount of the order, because it and "VAT" add up to "Gross". ' +
      'If it is the amount of the order, add --map amount=Amount; otherwise add --map amount=Gross.',
  });
  expect((await loaded(text, { map })).rows).toMatchObject([{ values: { amount: '100' } }, {}]);
  const tips =
    'Order No,Customer,Amount,Tip,Tax,Paid\n1,Ann Lee,10.00,2.00,0.80,12.80\n2,Ben Fox,20.00,0.00,1.60,21.60\n';
  await expect(loaded(tips)).rejects.toThrow('because it and "Tip", "Tax" add up to "Paid". If');
});

test('columns are compared by the larger reading of 1,234, and nothing is said of sums that are none', async () => {
  const whole = 'Order No,Customer,Total,Shipping,Tax\n1,Ann Lee,"1,234",5.00,2.00\n2,Ben Fox,"2,468",5.00,2.50\n';
  expect(verdicts((await loaded(whole)).rows)).toEqual(['2 AMOUNT_AMBIGUOUS', '3 AMOUNT_AMBIGUOUS']);
  const free = whole.replaceAll(/"\d,\d+"/g, '0.00');
  expect(verdicts((await loaded(free)).rows)).toEqual(['2 ok', '3 ok']);
  const net = 'Order No,Customer,Amount,Tax Amount,Price to pay\n1,Ann Lee,"1,000",190.00,"1,190"\n';
  await expect(loaded(net)).rejects.toThrow('because it and "Tax Amount" add up to "Price to pay"');
  const cents = 'Order No,Customer,value,value_formatted\n1,Ann Lee,120000,"$1,200"\n2,Ben Fox,50050,$500.50 monthly\n';
  await expect(loaded(cents)).rejects.toThrow('"value" may have the amounts in cents');
});

test('whole numbers beside ids of an API may be cents, and an id of a customer is no name', async () => {
  const text = 'id,email,amount\nch_3QaB12eZ,ann@x.de,11900\nch_3QaB13eZ,ben@x.de,500\n';
  await expect(loaded(text)).rejects.toMatchObject({
    code: 'CSV_NO_AMOUNT_COLUMN',
    message: expect.stringContaining('such as ch_3QaB12eZ. If it is the amount of the order, add --map amount=amount;'),
  });
  expect((await loaded(text.replace('500', '5.00'))).rows[1]?.values.amount).toBe('5');
  for (const code of ['cus_Q1', 'C02514', 'CUST-0001'])
    await expect(loaded(`Order No,Customer,Total\n1,${code},5.00\n`)).rejects.toThrow(
      'the column "Customer" looks like client_id, but 0 of 1 cell fits',
    );
});

test.each([
  ['Receita por produtos,Tarifa de venda,Envios,Total', '100.00,-16.50,-3.00,80.50', 'Tarifa de venda'],
  ['Turnover,Kept by the platform,Total', '100.00,-16.50,83.50', 'Kept by the platform'],
])('of %s, the total is what is left', async (names, cells, taken) => {
  const text = `Order No,Customer,${names}\n1,Ann Lee,${cells}\n`;
  await expect(loaded(text)).rejects.toThrow(`"Total" may be what is left after "${taken}"`);
  await expect(loaded(text.replace(taken, 'Discount'))).resolves.toBeDefined();
});

test.each([
  ['what is left after fees', 'Amount,Fee,Left\n1,Ann Lee,10.00,-0.50,9.50\n'],
  ['nothing but zeros', 'Amount,Tip,Paid\n1,Ann Lee,10.00,0.00,10.00\n'],
  ['a sum that differs in one row', 'Amount,VAT,Gross\n1,Ann Lee,10.00,1.00,11.00\n2,Ann Lee,10.00,1.00,12.00\n'],
])('an amount is the whole amount beside %s', async (_, text) => {
  expect((await loaded(`Order No,Customer,${text}`)).rows[0]).toMatchObject({ values: { amount: '10' } });
});

test.each([
  ...['amount_cents', 'Total (cents)', 'Betrag in T€', 'Amount kEUR', "Amount ('000)", 'price_minor', 'Total (000s)'],
  ...['Betrag (T€)', 'Total (k$)', 'Amount (M€)', 'Amount (¢)', 'Total [USD, k]', 'Сумма (тыс. руб.)', '金額（千円）'],
])('amounts that are called %s are in another unit, and are not suggested', async (name) => {
  const text = `Order No;Customer;${name}\n1;Ann Lee;1190\n`;
  await expect(loaded(text)).rejects.toThrow(
    /has amounts\. Its name says that these are in another unit, such as cents or thousands: write them in whole units first\. To load/,
  );
  const map = new Map([['amount', name]] as const);
  expect((await loaded(text, { map })).rows).toMatchObject([{ values: { amount: '1190' } }]);
});

test.each([
  ['Amount Paid', 'Amount Due'],
  ['Total Paid', 'Balance'],
])('what was paid (%s) is not the whole amount if something is due (%s)', async (paid, due) => {
  const text = (left: string) => `Order No,Customer,${paid},${due}\n1,Ann Lee,80.00,${left}\n2,Ben Fox,50.00,0.00\n`;
  const map = new Map([['amount', paid]] as const);
  for (const choices of [{}, { map }]) expect((await loaded(text('0.00'), choices)).rows).toHaveLength(2);
  await expect(loaded(text('20.00'))).rejects.toThrow(`"${paid}" may not be the whole amount of the order`);
  expect((await loaded(text('20.00'), { map })).rows).toMatchObject([{ values: { amount: '80' } }, {}]);
});

test.each(['Amount$', 'Total€', 'Total (CHF)'])('amounts that are called %s are in whole units', async (name) => {
  const { rows } = await loaded(`Order No;Customer;${name}\n1;Ann Lee;1190.50\n`);
  expect(rows).toMatchObject([{ values: { amount: '1190.5' } }]);
});

test('an amount in which the file ends may be cut off if only this one has no decimals', async () => {
  const text = 'Order No;Customer;Total\r\n1;Ann Lee;1.250,00 €\r\n2;Ben Fox;12,00\r\n3;Ann Lee;12';
  expect(verdicts((await loaded(text)).rows)).toEqual(['2 ok', '3 ok', '4 AMOUNT_CUT_OFF']);
  expect(verdicts((await loaded(`${text},0`)).rows).at(-1)).toBe('4 AMOUNT_CUT_OFF');
  for (const whole of [`${text},00`, `${text}\r\n`, text.replace('12,00', '12'), text.replaceAll(/(?=\r|$)/g, ';x')])
    expect(verdicts((await loaded(whole)).rows)).toEqual(['2 ok', '3 ok', '4 ok']);
});

test('a file that ends in a value of an order, without a line end, may be cut off there, and a note says so', async () => {
  const notes = async (text: string) => (await loaded(text)).overview.notes([]);
  const text = 'order_id,amount,client_id\nA-1,5.00,7\nA-2,6.00,30';
  expect(await notes(text.slice(0, -1))).toEqual([
    'the file ends without a line end, in line 3 (client_id: 3). If it was cut off there, correct that order, and load the whole file',
  ]);
  const amountLast = 'order_id,client_id,amount\nA-1,7,5.00\nA-2,30,6.00';
  for (const whole of [`${text}\n`, amountLast, text.replaceAll(/$/gm, ',x')]) expect(await notes(whole)).toEqual([]);
  const { rows } = await loaded(text.slice(0, -3));
  expect(rows.at(-1)).toMatchObject({ problems: [{ code: 'RAGGED', facts: { isEnd: true } }] });
  expect(sentenceFor('RAGGED', { line: 3, cells: 2, header: 3, isEnd: true })).toContain(
    'The header has 3 cells, and the row has 2. The file ends in this row, so it may be cut off. Export or copy the whole file again, and load it. Add or',
  );
});

test('a column called "Reference" is used for the order number only if it tells orders apart', async () => {
  const rows = async (...references: string[]) =>
    (await loaded(`Reference,Customer,Total\n${references.map((one) => `${one},Ann Lee,5\n`).join('')}`)).rows;
  expect(await rows('card', 'cash', 'card')).toMatchObject(Array(3).fill({ values: { amount: '5' } }));
  expect((await rows('card', 'cash', 'card')).map(({ values }) => values.order_id)).toEqual(Array(3).fill(undefined));
  expect(await rows('XKBK', 'XKBL')).toMatchObject([{ values: { order_id: 'XKBK' } }, {}]);
  expect(await rows('PO-7', 'PO-7')).toMatchObject([{ values: { order_id: 'PO-7' } }, {}]);
});
