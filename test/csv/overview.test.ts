/** What a person should know about the orders of a file before they are sent. */
import { expect, test } from 'vitest';
import type { SheetChoices } from '../../src/csv/sheet.ts';
import { loaded } from './files.ts';

const lines = (amounts: readonly string[]) =>
  ['order_id,customer_email,amount', ...amounts.map((amount, n) => `A-${n},ann@example.com,${amount}`), ''].join('\n');

test('a note names the orders with a negative amount', async () => {
  const { overview } = await loaded(lines(['1200.00', '-20.00', '-1', '-2', '-3', '5']));
  expect(overview.notes([])).toEqual([
    'the amount is negative in 4 of the 6 orders read from the file, as in refunds, credit notes and payouts, and is loaded unchanged: line 3 (-20), line 4 (-1), line 5 (-2) and 1 more. If they are not orders, delete them from the file',
  ]);
});

test('there is no note if no amount is negative', async () => {
  expect((await loaded(lines(['0', '5.00']))).overview.notes([])).toEqual([]);
});

const notesOf = async (text: string | Uint8Array) => (await loaded(text)).overview.notes([]);

test('a note shows a text of a file whose encoding is a guess, and a text that was decoded wrongly before', async () => {
  const names = (name: string) => `order_id,customer_name,amount\nA-1,Ann,5\nA-2,${name},5\n`;
  expect(await notesOf(Buffer.from(names('M\xfcler'), 'latin1'))).toEqual([
    'the file is not UTF-8 and is read as windows-1252: line 3 (Müler). If that is wrong, choose its encoding (`--encoding`), or export it again as UTF-8',
  ]);
  expect(await notesOf(names('JÃ¶rg'))).toEqual([
    'texts were decoded wrongly before the file was written, and are loaded unchanged: line 3 (JÃ¶rg). If that is wrong, export it again as UTF-8',
  ]);
  expect(await notesOf(names('Jörg'))).toEqual([]);
});

test('notes count the kinds of orders, and say that orders were refunded', async () => {
  expect(await notesOf('Order ID,Email,Documento,Amount\n1,a@x.de,12345678-9,5\n2,b@x.de,98765432-1,5\n')).toEqual([]);
  const [kinds, ...more] = await notesOf('Order ID,Email,Type,Amount\n1,a@x.de,Sale,5\n2,a@x.de,Refund,5\n');
  expect(more).toEqual([]);
  expect(kinds).toMatch(/^the orders have different kinds \(column "Type": 1 × Sale, 1 × Refund\), and all are loaded/);
  for (const column of ['Refund Amount', 'Refund'])
    expect((await notesOf(`Order ID,Email,${column},Total\n1,a@x.de,5.00,5\n`)).join()).toMatch(
      new RegExp(`^the only order read from the file was refunded .*line 2 \\(${column} 5\\.00\\)`),
    );
});

test('notes say that the orders have no number and no amount, unless a person said so', async () => {
  const text = 'Vorgang Nummer,Email,Punkte\nX1,a@x.de,100\n';
  expect(await notesOf(text)).toEqual([
    'no column has the amounts of orders, and none has their numbers: the file may be a list of contacts, so the load writes nothing without approval',
    expect.stringMatching(
      /^no column fills order_id: each line is an order of its own.*LS-.*choose it for order_id \(`--map order_id=Column`\)$/,
    ),
    expect.stringMatching(/^no column fills amount: .*choose it for amount \(`--map amount=Column`\)$/),
  ]);
  const told = { order_id: '', amount: '' } as const;
  const { overview } = await loaded(text, { map: new Map(Object.entries(told)) as SheetChoices['map'] });
  expect(overview.notes([])).toEqual([]);
});

test('a note says that all orders name one customer: the column may have the address of the shop', async () => {
  const text = (emails: readonly string[]) =>
    `Order ID,Email,Total\n${emails.map((email, n) => `${n + 1},${email},5\n`).join('')}`;
  const shop = Array.from({ length: 10 }, () => 'shop@x.de');
  expect(await notesOf(text(shop))).toEqual([
    'all 10 orders read from the file name the same customer, shop@x.de. If they have other customers, choose the column that names them (`--map customer_email=Column`)',
  ]);
  expect(await notesOf(text([...shop, 'ann@x.de']))).toEqual([]);
  expect(await notesOf(text(shop.slice(1)))).toEqual([]);
});

test('notes do not say that the orders of a file of results have no number', async () => {
  const text = 'Email,Amount,lockstep_order_id\na@x.de,5,LS-1a2b3c4d-2\n';
  expect(await notesOf(text)).toEqual([]);
  expect((await notesOf(text.replace('lockstep_order_id', 'lockstep_id'))).join()).toMatch(/^no column fills order_id/);
});

test('notes do not count rows that are not loaded, such as the footer of a report', async () => {
  const text =
    'Order ID,Email,Status,Type,Amount\n1,a@x.de,Paid,Sale,5\n2,b@x.de,Paid,Sale,-5\nCopyright\n,,open,,-9\n';
  expect(await notesOf(text)).toEqual([
    expect.stringMatching(/^the amount is negative in 1 of the 2 orders read from the file/),
  ]);
});

test.each(['Amount Currency', 'Währg', 'WKZ Umsatz', 'Ccy', 'Currency (ISO)'])(
  'a note counts the currencies in a column called "%s"',
  async (name) => {
    const { overview } = await loaded(`Order No;Email;Total;${name}\n1;a@x.de;5.00;USD\n2;b@x.de;6.00;EUR\n`);
    expect(overview.notes([])).toEqual([
      expect.stringContaining(`different currencies (column "${name}": 1 × USD, 1 × EUR)`),
    ]);
  },
);

test('says that lines without an order and a customer may be items of the orders above, unless they are a total at the end', async () => {
  const below = async (rows: string) => {
    const { overview } = await loaded(`Order,Email,Item,Amount\n${rows}`);
    expect(overview.notes([])).toEqual(overview.doubt ? [expect.stringContaining(`${overview.doubt}, so`)] : []);
    return overview.doubt;
  };
  expect(await below('A,a@x.de,Chair,20\n,,Table,120\n,,Lamp,5\nB,a@x.de,Chair,20\n')).toBe(
    'lines 3, 4 have an amount, but name neither an order nor a customer: they may be items of the orders above them',
  );
  expect(await below('A,a@x.de,Chair,20\nB,a@x.de,Chair,20\n,,,40\n')).toBeUndefined();
  expect(await below('A,a@x.de,Chair,20\nB,,Chair,20\n,,Note,\nC,a@x.de,Chair,20\n')).toBeUndefined();
});
