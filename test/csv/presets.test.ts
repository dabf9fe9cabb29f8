/** Presets: recognised by the header, checked when they are read, and replaced by the user's own. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type Preset, presetFor, readPresets } from '../../src/csv/presets.ts';
import type { SheetChoices } from '../../src/csv/sheet.ts';
import { whereWords } from '../../src/operator/sheet-words.ts';
import { anError } from '../support/matchers.ts';
import { freshDir, loaded } from './files.ts';

const SAMPLES = path.join(import.meta.dirname, 'samples');
const presets = await readPresets();
const sample = async (name: string, choices: SheetChoices = {}) =>
  loaded(await readFile(path.join(SAMPLES, name)), { presets, ...choices });

/** The values of a sample's first two orders. */
const EXPECTED: Readonly<Record<string, readonly object[]>> = {
  'shopify-orders.csv': [
    {
      ...{ order_id: '#1001', amount: '53', status: 'paid', customer_email: 'ann@example.com' },
      ...{ description: 'Fern Print; Tote Bag, canvas; Gift Wrap', customer_name: 'Ann Lee' },
    },
    { order_id: '#1002', amount: '25', customer_phone: '+49 40 0000002' },
  ],
  'stripe-payments.csv': [
    {
      ...{ order_id: 'ch_EXAMPLE0000000000000001', amount: '129', status: 'Paid', description: 'Pro plan' },
      ...{ customer_email: 'ann@example.com', customer_name: 'Ann Lee' },
    },
    { amount: '49', customer_email: 'ben@example.com' },
  ],
  'woocommerce-orders.csv': [
    { order_id: '5011', amount: '56.9', description: 'Oak Shelf; Brackets', customer_name: 'Ann Lee' },
    { order_id: '5012', amount: '24', customer_email: 'ben@example.com', customer_name: 'Ben Ode' },
  ],
  'woocommerce-order-export.csv': [
    { order_id: '6001', amount: '61.5', description: 'Oak Shelf; Desk Lamp', customer_name: 'Ann Lee' },
    { order_id: '6002', amount: '12', status: 'Processing' },
  ],
  'woocommerce-analytics.csv': [
    { order_id: '7001', amount: '52', customer_name: 'Ann Lee', description: '1× Oak Shelf, 2× Brackets' },
    { order_id: '7002', amount: '24' },
  ],
  'salesforce-opportunities.csv': [
    { order_id: '006000000000001AAA', amount: '12500', status: 'Closed Won', customer_name: 'Lee Interiors' },
    { amount: '3400.5' },
  ],
  'salesforce-orders.csv': [{ order_id: '00000100', amount: '1250', customer_email: 'ann@example.com' }, {}],
  'hubspot-deals.csv': [
    { order_id: '9100000001', amount: '12500', customer_email: 'ann@example.com', customer_name: 'Ann Lee' },
    { customer_name: 'Ben Ode', amount: '3400.5' },
  ],
  'etsy-orders.csv': [
    { order_id: '9001', amount: '76', status: 'Completed', customer_name: 'Jane Doe' },
    { order_id: '9002', amount: '30.3', customer_name: 'Bob Smith' },
  ],
  'etsy-order-items.csv': [
    {
      ...{ order_id: '9001', amount: '72', customer_name: 'Jane Doe' },
      ...{ description: 'Handmade Ceramic Mug - Speckled, Stoneware; Tea Spoon' },
    },
    { order_id: '9002', amount: '27' },
  ],
  'magento-orders.csv': [
    { order_id: '000000001', amount: '53', status: 'complete', customer_email: 'ann@example.com' },
    { order_id: '000000002', amount: '25', customer_name: 'Ben Ode' },
  ],
  'paypal-activity.csv': [
    { order_id: '2Y150470VV8990001', amount: '47.25', description: 'Mug', customer_email: 'ann@example.com' },
    { amount: '20', customer_name: 'Ben Ode' },
    { amount: '-20', customer_email: 'ben@example.com', customer_name: 'Ben Ode' },
  ],
  'paypal-aktivitaeten.csv': [
    { order_id: 'TX123', amount: '1212.5', description: 'Lampe', customer_email: 'ann@example.com' },
    { order_id: 'TX124', amount: '-5', status: 'Abgeschlossen', customer_email: 'ben@example.com' },
  ],
  'pipedrive-deals.csv': [
    {
      ...{ order_id: '11', amount: '12500', description: 'Website relaunch', status: 'won' },
      ...{ customer_email: 'ann@example.com', customer_phone: '+49 40 123456', organization: 'Lee Interiors' },
    },
    { amount: '3400.5', customer_name: 'Ben Ode' },
  ],
  'xero-invoices.csv': [
    { order_id: 'INV-001', amount: '170', description: 'Desk; Lamp', customer_email: 'ann@example.com' },
    { order_id: 'INV-002', amount: '60', status: 'Awaiting Payment', customer_name: 'Ben Ode' },
  ],
  'squarespace-orders.csv': [
    {
      order_id: '00017',
      amount: '148.75',
      description: 'Lamp; Desk',
      customer_email: 'ann@example.com',
      status: 'PAID',
    },
    { order_id: '00018', amount: '23.8', customer_name: 'Ben Ode' },
  ],
  'wix-orders.csv': [
    { order_id: '10001', amount: '148.75', description: 'Lamp; Desk', status: 'Paid', organization: 'Lee GmbH' },
    { order_id: '10002', amount: '23.8', customer_email: 'ben@example.com', customer_name: 'Ben Ode' },
  ],
  'gumroad-sales.csv': [
    { order_id: 'g1x', amount: '12', description: 'Planner', customer_email: 'ann@example.com' },
    { order_id: 'g2x', amount: '28.56', customer_name: 'Ben Ode' },
  ],
  'zoho-invoices.csv': [
    {
      order_id: 'INV-0001',
      amount: '842',
      description: 'Lamp; Hinge',
      status: 'Sent',
      customer_email: 'ann@example.com',
    },
    { order_id: 'INV-0002', amount: '1440', customer_name: 'Ben Ode' },
  ],
  'square-transactions.csv': [
    { order_id: 'PA1', amount: '31.16', description: 'Mug x 1, Print x 1', customer_name: 'Ann Lee' },
    { order_id: 'PB2', amount: '1339.2', status: 'Complete' },
  ],
  'google-sheets.tsv': [{ order_id: 'S-1', amount: '1250', description: 'Desk, oak' }, { order_id: 'S-2' }],
};

test('each preset has a sample and is in docs/csv.md, and each sample is tested', async () => {
  const names = presets.map(({ name }) => name);
  const samples = (await readdir(SAMPLES)).sort();
  expect(samples).toEqual([...names.map((name) => `${name}.csv`), 'google-sheets.tsv'].sort());
  expect(Object.keys(EXPECTED).sort()).toEqual(samples);
  const page = await readFile(path.join(import.meta.dirname, '../../docs/csv.md'), 'utf8');
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test.each(Object.entries(EXPECTED))('reads %s without any option', async (name, values) => {
  const { sheet, rows } = await sample(name);
  expect(sheet.preset?.name).toBe(name.endsWith('.tsv') ? undefined : name.replace('.csv', ''));
  expect(rows.map(({ status }) => status)).not.toContain('invalid');
  expect(rows.slice(0, values.length)).toMatchObject(values.map((one) => ({ values: one })));
});

test('no preset takes the customer ids of another program for those of the service', async () => {
  for (const name of Object.keys(EXPECTED))
    for (const { values } of (await sample(name)).rows) expect(values.client_id).toBeUndefined();
});

test('--preset none reads a file without one, and --map and --combine-lines win over it', async () => {
  const none = await sample('shopify-orders.csv', { preset: 'none', map: new Map([['order_id', 'Id']] as const) });
  expect([none.sheet.preset, none.sheet.combine, none.rows.length]).toEqual([undefined, undefined, 5]);
  const map = new Map([
    ['amount', 'Subtotal'],
    ['status', ''],
  ] as const);
  const { sheet, rows } = await sample('shopify-orders.csv', { map, combineLines: 'sum' });
  expect(sheet).toMatchObject({ preset: { name: 'shopify-orders' }, combine: { amount: 'sum', description: 'join' } });
  expect(rows.map(({ values }) => [values.amount, values.status])).toContainEqual(['25', undefined]);
});

test('the columns of a template that are marked as needed are those of the export', async () => {
  const { sheet, rows } = await loaded(
    '*ContactName,EmailAddress,*InvoiceNumber,Reference,*InvoiceDate,Total,*Description\nAnn,a@x.de,INV-1,PO-7,1/11/26,5,Desk\n',
    { presets },
  );
  expect([sheet.preset?.name, rows[0]?.values.order_id]).toEqual(['xero-invoices', 'INV-1']);
});

test('of several columns that a preset names, the first one with cells is used', async () => {
  const header = 'Name,Email,Financial Status,Total,Lineitem name,Billing Name,Billing Phone,Phone';
  const phones = async (cells: string) => {
    const text = `${header}\n#1,a@x.de,paid,5,Mug,Ann,${cells}\n`;
    return (await loaded(text, { presets })).rows[0]?.values.customer_phone;
  };
  expect(await phones('+44 20 1,')).toBe('+44 20 1');
  expect(await phones('+44 20 1,+44 20 2')).toBe('+44 20 2');
});

test('of several presets that fit, the one that names most columns is used', () => {
  const one: Preset = { name: 'one', title: 'One', header: ['a'], columns: {} };
  const two: Preset = { name: 'two', title: 'Two', header: ['b', 'A '], columns: {} };
  expect(presetFor(['A', 'B', 'c'], [one, { ...two, header: ['b', 'a'] }])?.name).toBe('two');
  expect(presetFor(['B'], [one, two])).toBeUndefined();
});

test.each([
  ['shopify-order', 'CSV_PRESET_UNKNOWN', 'Did you mean shopify-orders?'],
  ['x', 'CSV_PRESET_UNKNOWN', 'Choose '],
  ['hubspot-deals', 'CSV_PRESET_UNFIT', 'the file has none of its columns'],
])('--preset %s is refused with %s', async (preset, code, says) => {
  const refused = loaded('order_id,client_id\nA,7\n', { presets, preset });
  await expect(refused).rejects.toMatchObject(anError(code, says, 2));
});

const OWN = 'title: Ours\nheader: [No., Mail]\ncolumns: { order_id: No., customer_email: Mail }\n';

async function dirWith(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await freshDir();
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(dir, name), text);
  return dir;
}

test('presets of the user are added, and replace those of the same name', async () => {
  const dir = await dirWith({ 'ours.yaml': OWN, 'shopify-orders.yml': OWN, 'notes.txt': 'no preset' });
  const presets = await readPresets(dir);
  expect(presets.filter(({ title }) => title === 'Ours').map(({ name }) => name)).toEqual(['shopify-orders', 'ours']);
  const { sheet, rows } = await loaded('No.,Mail\nA,ann@x.de\n', {
    presets: presets.filter(({ name }) => name === 'ours'),
  });
  expect([sheet.preset?.name, rows[0]?.values]).toMatchObject(['ours', { order_id: 'A', customer_email: 'ann@x.de' }]);
});

test.each([
  [
    'an unknown key',
    `${OWN}combineLine: sum\n`,
    /ours\.yaml is not valid: combineLine: unknown key \(did you mean combineLines\?\)\. /,
  ],
  ['an unknown field', OWN.replace('order_id', 'orderid'), /columns\.orderid: unknown key \(did you mean order_id\?\)/],
  [
    'an unknown way to combine',
    `${OWN}combineLines: { amount: add, description: join }\n`,
    /combineLines\.amount: .*sum/,
  ],
  ['no header', 'title: Ours\ncolumns: {}\n', /header: /],
  [
    'a wrong rule',
    OWN.replace('No.,', '7,').replace('order_id: No.', 'order_id: 7'),
    /columns\.order_id: expected a column/,
  ],
  ['broken YAML', 'title: [\n', /ours\.yaml is not valid: Flow sequence/],
])('a preset with %s is refused with its path', async (_, text, says) => {
  await expect(readPresets(await dirWith({ 'ours.yaml': text }))).rejects.toMatchObject({
    code: 'PRESET_INVALID',
    exitCode: 2,
    message: expect.stringMatching(says),
  });
});

test('a preset cannot be called none, and a missing directory is an error', async () => {
  await expect(readPresets(await dirWith({ 'none.yaml': OWN }))).rejects.toThrow(/none is not allowed as a name/);
  const missing = path.join(await freshDir(), 'missing');
  await expect(readPresets(missing)).rejects.toMatchObject(anError('PRESETS_UNREADABLE', 'presets in the settings', 2));
});

test('a refund of PayPal is of its receiver, and a withdrawal names no customer', async () => {
  const paypal = 'Transaction ID,Name,Gross,From Email Address,To Email Address';
  const text = `${paypal}\nT1,Ben Ode,(5.00),shop@example.com,ben@example.com\nT2,,-9.00,shop@example.com,\n`;
  const { sheet, rows } = await loaded(text, { presets, accounting: true });
  expect(rows).toMatchObject([
    { values: { amount: '-5', customer_email: 'ben@example.com' } },
    { status: 'invalid', problems: [{ code: 'NO_CUSTOMER' }] },
  ]);
  expect(sheet.mapping.unmapped).toEqual([]);
});

test('a payment of Stripe names its customer in the metadata if it has no customer', async () => {
  const text = 'id,Amount,Currency,Customer Email,customer_email (metadata)\nch_1,5.00,eur,,ann@x.de\n';
  const { rows } = await loaded(text, { presets });
  expect(rows[0]?.values.customer_email).toBe('ann@x.de');
});

test('a chosen preset needs a header', async () => {
  const choices = { presets, preset: 'shopify-orders', hasHeader: false };
  await expect(loaded('A,7\n', choices)).rejects.toMatchObject({ code: 'CSV_PRESET_UNFIT' });
});

test.each([
  ['Ann Lee (ann@x.de)', 'ann@x.de', 'Ann Lee'],
  ['Ann Lee (Sales) <ann@x.de>', 'ann@x.de', 'Ann Lee (Sales)'],
  ['ann@x.de', 'ann@x.de', undefined],
  ['Ann Lee', undefined, 'Ann Lee'],
])('of the contact %j it takes the e-mail and the name', async (contact, email, name) => {
  const text = `Record ID,Deal Name,Deal Stage,Amount,Associated Contact\n1,x,won,5,${contact}\n`;
  const { rows } = await loaded(text, { presets });
  expect([rows[0]?.values.customer_email, rows[0]?.values.customer_name]).toEqual([email, name]);
});

test('a contact with two addresses is refused, because which one is meant is not clear', async () => {
  const text = 'Record ID,Deal Name,Deal Stage,Amount,Associated Contact\n1,x,won,5,Ann (a@x.de); Ben (b@x.de)\n';
  const { rows } = await loaded(text, { presets });
  expect(rows).toMatchObject([{ status: 'invalid', problems: [{ code: 'EMAIL_INVALID' }] }]);
});

const PAYMENTS = [
  'No.,Mail,Sum,State,Money',
  ...['A,ann@x.de,5,Paid,EUR', 'B,ben@x.de,6,failed,EUR', 'C,cleo@x.de,7,paid,USD', 'D,dora@x.de,8,Refunded,EUR'],
  'E,ann@x.de',
].join('\n');
const OWN_WITH_STATUS = OWN.replace(' }', ', amount: Sum, status: State }');

/** The orders of PAYMENTS that are loaded, and the notes about them. */
async function told(preset: string, choices: SheetChoices = {}) {
  const presets = await readPresets(await dirWith({ 'ours.yaml': preset }));
  const { sheet, rows, overview } = await loaded(PAYMENTS, { presets, ...choices });
  const orders = rows.map(({ values, status }) => values.order_id ?? status);
  return { orders, notes: overview.notes([]), words: whereWords(sheet.where), leftOut: overview.leftOut };
}

test('a note counts the statuses and the currencies of the orders, with the option that loads only one kind', async () => {
  const { orders, notes } = await told(`${OWN_WITH_STATUS}currency: Money\n`);
  expect(orders).toEqual(['A', 'B', 'C', 'D', 'invalid']);
  expect(notes).toEqual([
    'the orders have different statuses (column "State": 2 × Paid, 1 × failed, 1 × Refunded), and all are loaded. To load only the orders with one of these values, choose it when you load the file (`--where State=Paid`), or delete the others from the file',
    'the orders have different currencies (column "Money": 3 × EUR, 1 × USD), and an order has no currency: all amounts are sent as plain numbers. To load only the orders with one of these values, choose it when you load the file (`--where Money=EUR`), or delete the others from the file',
  ]);
});

const REFUNDS: readonly (readonly [file: string, rows: string, note: string])[] = [
  [
    'stripe-payments.csv',
    'ch_F,,,,10.00,0.00,eur,,,,,,,Failed,,,,eve@example.com,,,,,,,,,,\nch_P,,,,10.00,2.50,eur,,,,,,,Paid,,,,eve@example.com,,,,,,,,,,\n',
    "line 4 (Amount Refunded 1290.00, Status Refunded), line 5 (Status Failed), line 6 (Amount Refunded 2.50). To leave them out, delete them from the file, or filter them when you load it (`--where 'Amount Refunded=0.00' --where 'Status!=Failed'`)",
  ],
  [
    'shopify-orders.csv',
    `#1004,dora@example.com,paid${','.repeat(9)}9.00${','.repeat(35)}2026-09-14 08:00:00 +0200${','.repeat(3)}0.00${','.repeat(29)}\n`,
    "line 7 (Refunded Amount 20.90, Cancelled at 2026-09-13 08:00:00 +0200, Financial Status refunded), line 8 (Cancelled at 2026-09-14 08:00:00 +0200). To leave them out, delete them from the file, or filter them when you load it (`--where 'Refunded Amount=0.00' --where 'Cancelled at='`)",
  ],
];

test.each(REFUNDS)(
  'a note names the orders of %s that were refunded or cancelled or whose payment failed, and how to leave them out',
  async (name, rows, note) => {
    const text = await readFile(path.join(SAMPLES, name), 'utf8');
    const { rows: all, overview } = await loaded(`${text.trimEnd()}\n${rows}`, { presets });
    const [found = ''] = overview.notes([]).filter((one) => one.includes('or their payment failed or expired'));
    expect(found).toMatch(new RegExp(`^\\d of the ${all.length} orders read from the file`));
    expect(found).toContain(`loaded with their whole amount: ${note}`);
    const where = new Map(
      [...note.matchAll(/--where '([^'=!]+)(!?)=([^']*)'/g)].map(([, column = '', not, value = '']) => [
        column,
        not ? { not: value } : value,
      ]),
    );
    const kept = await loaded(`${text.trimEnd()}\n${rows}`, { presets, where });
    expect(kept.overview.notes([]).join()).not.toContain('whole amount');
    expect(kept.rows.length).toBe(all.length - Number(found[0]));
  },
);

test('where of a preset leaves orders out, and its note says which; rows that cannot be read stay', async () => {
  const { orders, notes, words, leftOut } = await told(
    `${OWN_WITH_STATUS}where: { state: { not: [FAILED, refunded] } }\n`,
  );
  expect([orders, words, leftOut]).toEqual([
    ['A', 'C', 'invalid'],
    'only orders where "State" is not FAILED or refunded',
    2,
  ]);
  expect(notes[0]).toBe('the filter (where) leaves out 2 of 5 orders (column "State": 1 × failed, 1 × Refunded)');
});

test('--where replaces the filter of a preset, and a column that the file does not have is refused', async () => {
  const preset = `${OWN_WITH_STATUS}where: { State: Nothing }\n`;
  const where = new Map([
    ['State', ['PAID']],
    ['5', ['usd']],
  ]);
  expect((await told(preset, { where })).orders).toEqual(['C', 'invalid']);
  await expect(told(preset, { where: new Map([['Sate', ['x']]]) })).rejects.toMatchObject({
    ...anError('CSV_UNKNOWN_COLUMN', /^--where Sate: .*Did you mean "State"\?/),
  });
  await expect(told(`${OWN}where: { Stadt: x }\n`)).rejects.toThrow(
    /^where in the preset ours: Stadt: the file has no/,
  );
  await expect(told(`${OWN}where: { State: 5 }\n`)).rejects.toThrow(/where\.State: expected .*a number in quotes/);
});

test('an order of several lines has the status and the currency of its first line that has one', async () => {
  const { overview, rows } = await sample('shopify-orders.csv', { where: new Map([['Financial Status', ['paid']]]) });
  expect(rows.length + overview.leftOut).toBe(3);
  expect(rows[0]?.lines).toHaveLength(3);
});
