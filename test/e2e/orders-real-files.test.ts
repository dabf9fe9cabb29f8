/** `orders load` with the exports that people have: presets, titles, orders of several lines, parts of a file, and results. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { command } from '../cli/command.ts';
import { csvOf, ordersCsv } from '../support/harness/orders.ts';
import { anError } from '../support/matchers.ts';
import { openCommandHarness } from './commands.ts';

const QUICK = 'budget: { requests: 1000, per: 1s, burst: 500, timeout: 2s, settle: 200ms, concurrency: 8 }';
const SAMPLES = path.join(import.meta.dirname, '../csv/samples');

const harness = await openCommandHarness({ account: QUICK });
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

const load = (file: string, ...more: readonly string[]) => harness.here('orders', 'load', file, ...more);
/** What people read, without JSON. */
const said = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await command([...args, '--config', 'lockstep.yaml'], harness.around);
  return { code, text: stdout + stderr };
};
const ordersBy = async () => new Map((await harness.orders()).map((order) => [order.order_id, order]));

test('loads a Shopify export: an order for each, whatever number of lines it has, with its customer', async () => {
  const file = await harness.file('shopify.csv', await readFile(path.join(SAMPLES, 'shopify-orders.csv')));
  const { code, json } = await load(file, '--create-customers', '--results', 'shopify');
  expect([code, json.counts]).toMatchObject([0, { in: 3, created: 3 }]);
  expect((await ordersBy()).get('#1001')).toMatchObject({
    amount: 53,
    status: 'paid',
    description: 'Fern Print; Tote Bag, canvas; Gift Wrap',
  });
  const lines = (await readFile(json.results.results, 'utf8')).split('\n');
  expect(lines.slice(1, 5).map((line) => line.replace(/,lockstep.*|,\d+,#.*/, ''))).toEqual([
    ...['2,created,,', '3,created,,', '4,created,,', '5,created,,'],
  ]);
  const { json: story } = await harness.here('runs', 'show', json.run, '--row', '2-4');
  expect(story).toMatchObject({ n: 2, sourceId: '2-4' });
  expect(story.input.cells).toContainEqual({ column: 'line 4, Lineitem name', cell: 'Gift Wrap' });
  expect((await said('runs', 'show', json.run, '--row', '2')).text).toContain(': lines 2-4, #1001');
});

test('the results are the file as it was, with columns before it, and loading them creates nothing', async () => {
  const text =
    'Liste der Bestellungen;;\0\r\nKundennummer;Betrag;Notiz\r\n1;12,50;Größe\r\n2;oops;x\r\n3;7,25;"a;b"\r\n';
  const file = await harness.file('liste.csv', Buffer.from(text, 'latin1'));
  const { code, json } = await load(file, '--results', 'liste');
  expect([code, json.counts]).toMatchObject([1, { in: 3, created: 2, invalid: 1 }]);
  expect((await readdir(path.join(harness.dataDir, 'liste'))).sort()).toEqual([
    ...['liste.created.csv', 'liste.invalid.csv', 'liste.results.csv'],
  ]);
  const results = (await readFile(json.results.results, 'latin1')).split('\r\n');
  expect(results[0]).toBe('Liste der Bestellungen;;');
  expect(results[1]).toMatch(/^lockstep_line;.*;lockstep_order_id;Kundennummer;Betrag;Notiz$/);
  expect(results.slice(2, 5)).toEqual([
    expect.stringMatching(/^3;created;;;\d+;LS-[0-9a-f]{8}-3;1;12,50;Größe$/),
    expect.stringMatching(/^4;invalid;AMOUNT_NOT_A_NUMBER;"?Line 4, column 2 \(Betrag\).*;;LS-[0-9a-f]{8}-4;2;oops;x$/),
    expect.stringMatching(/^5;created;;;\d+;LS-[0-9a-f]{8}-5;3;7,25;"a;b"$/),
  ]);
  const corrected = await readFile(json.results.results, 'latin1');
  await harness.file('again.csv', Buffer.from(corrected.replace(';2;oops;', ';2;3,00;'), 'latin1'));
  const again = await load('again.csv');
  expect([again.code, again.json.counts]).toMatchObject([0, { in: 3, existing: 2, created: 1 }]);
});

test.each([
  ['with an order_id', ordersCsv(5)],
  ['without one', csvOf('client_id,description,amount', ['1,a,1', '2,b,2', '3,c,3', '1,d,4', '2,e,5'])],
])('--limit loads the first orders, and the whole file later the others, %s', async (_, text) => {
  const file = await harness.file('part.csv', text);
  const part = await load(file, '--limit', '2', '--results', 'part');
  expect([part.code, part.json.counts]).toMatchObject([0, { in: 2, created: 2 }]);
  const same = await load(file, '--limit', '2');
  expect([same.json.run, same.json.counts]).toMatchObject([part.json.run, { in: 2, created: 2 }]);
  const whole = await load(file);
  expect([whole.code, whole.json.counts]).toMatchObject([0, { in: 5, existing: 2, created: 3 }]);
  expect((await harness.orders()).length).toBe(5);
});

const LINES = csvOf('order_id,client_id,amount', ['A,1,1.50', 'A,1,2.25', 'B,2,1', 'A,1,9']);

test('lines of one order are refused with the option that combines them, and combined with it', async () => {
  await harness.file('lines.csv', LINES);
  const refused = await said('orders', 'load', 'lines.csv', '--account', 'test', '--dry-run');
  expect(refused.text).toMatch(
    /3 × ORDER_ID_REPEATED\n {6}order A: Line 2: [\s\S]*add their amounts \(`--combine-lines sum`\) if each line/,
  );
  const apart = await said('orders', 'load', 'lines.csv', '--account', 'test', '--dry-run', '--combine-lines', 'sum');
  expect(apart.text).toMatch(
    /ORDER_ID_REPEATED[\s\S]*Lines 2-3: Line 5 [\s\S]*nly neighbouring lines[\s\S]*sort the file/,
  );
  expect(apart.text).toContain('Checked 4 lines and combined them into 3 rows');
  await harness.file('lines.csv', LINES.replace('A,1,9\n', ''));
  const { code, json } = await load('lines.csv', '--combine-lines', 'sum');
  expect([code, json.counts]).toMatchObject([0, { in: 2, created: 2 }]);
  expect((await ordersBy()).get('A')).toMatchObject({ amount: 3.75 });
});

test('--map field= is remembered for the header, as other columns are', async () => {
  const header = 'Order No.,client_id,Total,Notes';
  await harness.file('first.csv', csvOf(header, ['A,1,5,private']));
  await load('first.csv', '--map', 'description=');
  await harness.file('second.csv', csvOf(header, ['B,2,6,private too']));
  const { text } = await said('orders', 'load', 'second.csv', '--account', 'test', '--yes');
  expect(text).toContain('no column, as chosen: description');
  expect((await ordersBy()).get('B')).not.toMatchObject({ description: expect.any(String) });
  await harness.file('third.csv', csvOf(header, ['C,3,7,public']));
  await load('third.csv', '--map', 'description=Notes');
  expect((await ordersBy()).get('C')).toMatchObject({ description: 'public' });
});

test('what a dry run is told about columns is forgotten, unless its plan is applied', async () => {
  const remembered = async () =>
    (await harness.database.pool.query(`select value from ledger.learnt where name like 'columns:%'`)).rows;
  await harness.file('told.csv', csvOf('Order No.,client_id,Total,Notes', ['A,1,5,private']));
  await load('told.csv', '--map', 'amount=Total', '--plan', 'plan.ndjson');
  expect(await remembered()).toEqual([]);
  expect((await harness.here('apply', 'plan.ndjson')).code).toBe(0);
  expect(await remembered()).toEqual([{ value: { amount: 'Total' } }]);
});

test('says which statuses and currencies a file has, and --where loads only some of its orders', async () => {
  const file = await harness.file(
    'payments.csv',
    csvOf('Order,client_id,Amount,Status,Currency', [...['A,1,5,Paid,eur', 'B,2,6,Failed,usd', 'C,3,7,Paid,eur']]),
  );
  const planned = await said('orders', 'load', file, '--account', 'test', '--dry-run');
  expect(planned.text).toMatch(
    /Note: the orders have different statuses \(column "Status": 2 × Paid, 1 × Failed\), and all/,
  );
  expect(
    planned.text.match(
      /To load only the orders with one of these values, choose it when you load the file \(`--where Currency=eur`\), or delete the others from the file\./g,
    ),
  ).toHaveLength(1);
  const { code, json } = await load(file, '--where', 'Status=paid');
  expect([code, json.counts, json.leftOut]).toMatchObject([0, { in: 2, created: 2 }, { orders: 1 }]);
  expect((await said('runs', 'show', json.run)).text).toContain(
    'Note: the filter (where) leaves out 1 of 3 orders (column "Status": 1 × Failed).',
  );
  const rest = await load(file, '--where', 'Status!=Paid', '--where', 'Status!=');
  expect(rest.json.counts).toMatchObject({ in: 1, created: 1 });
});

test('uses presets of the directory that the settings name', async () => {
  await mkdir(path.join(harness.dataDir, 'own'), { recursive: true });
  const preset = 'title: Till\nheader: [Bon, Kunde]\ncolumns: { order_id: Bon, client_id: Kunde, amount: Summe }\n';
  await writeFile(path.join(harness.dataDir, 'own/till.yaml'), preset);
  await harness.file('till.csv', 'Bon,Kunde,Summe\nT-1,1,5\n');
  const settings = await readFile(path.join(harness.dataDir, 'lockstep.yaml'), 'utf8');
  await harness.file('presets.yaml', `${settings}\npresets: own\n`);
  const args = ['orders', 'load', 'till.csv', '--account', 'test', '--dry-run', '--config', 'presets.yaml'];
  const { code, stdout } = await command(args, harness.around);
  expect([code, stdout]).toEqual([0, expect.stringContaining('preset till (Till)')]);
  await writeFile(path.join(harness.dataDir, 'own/till.yaml'), `${preset}headers: []\n`);
  const broken = await command([...args, '--json'], harness.around);
  expect([broken.code, broken.json.error]).toMatchObject([
    2,
    anError('PRESET_INVALID', 'headers: unknown key (did you mean header?)'),
  ]);
});

test.each([
  [['--results', 'a-file'], 'RESULTS_NOT_A_DIRECTORY', /--results a-file: this is a file/],
  [['--results', 'out.csv'], 'RESULTS_NOT_A_DIRECTORY', /--results out\.csv: this is the name of a file/],
  [['--results', 'a-file/below'], 'RESULTS_NOT_A_DIRECTORY', /a directory is needed/],
  [['--header-row', '2', '--no-header'], 'USAGE', /leave one out/],
  [['--header-row', '0'], 'USAGE', /whole number above 0/],
  [['--limit', 'ten'], 'USAGE', /whole number above 0/],
  [['--combine-lines', 'add'], 'USAGE', /Allowed choices are sum, first, none/],
  [['--where', 'Paid'], 'USAGE', /Expected COLUMN=VALUE/],
  [['--where', 'Id=A', '--where', 'Id!=B'], 'USAGE', /"Id" has both = and !=/],
  [['--preset', 'shopify'], 'CSV_PRESET_UNKNOWN', /There is .*shopify-orders|Did you mean/],
  [['--map', 'order_id=Idd'], 'CSV_UNKNOWN_COLUMN', /Did you mean "Id"\?/],
])('%j is a clear error, and no run begins', async (more, code, says) => {
  await harness.file('a-file', 'as it was');
  await harness.file('bad.csv', csvOf('Id,client_id', ['A,1']));
  const refused = await load('bad.csv', ...more);
  expect([refused.code, refused.json.error]).toMatchObject([2, { code, message: expect.stringMatching(says) }]);
  const { rowCount } = await harness.database.pool.query('select from ledger.runs');
  expect([rowCount, await readFile(path.join(harness.dataDir, 'a-file'), 'utf8')]).toEqual([0, 'as it was']);
});

test('--results at a file is refused before the file of orders is looked for', async () => {
  await harness.file('a-file', '');
  expect((await load('missing.csv', '--results', 'a-file')).json.error.code).toBe('RESULTS_NOT_A_DIRECTORY');
});

test('writes a template that can be loaded once it has rows, and replaces no file', async () => {
  const first = await said('orders', 'template', 'new.csv');
  expect([first.code, first.text]).toEqual([0, expect.stringContaining('Wrote new.csv')]);
  const file = path.join(harness.dataDir, 'new.csv');
  const header = await readFile(file, 'utf8');
  expect(header).toBe(
    'order_id,description,amount,status,client_id,customer_email,customer_phone,customer_name,organization,gender,picture_url\n',
  );
  const again = await harness.here('orders', 'load', 'new.csv', '--template');
  expect([again.code, again.json.error]).toMatchObject([2, anError('FILE_EXISTS', 'exists already')]);
  expect((await load('new.csv')).json.error.code).toBe('CSV_NO_ROWS');
  await writeFile(file, `${header}T-1,Desk,5,new,1,,,,,,\n`);
  expect((await load('new.csv')).json.counts).toMatchObject({ in: 1, created: 1 });
  expect((await said('orders', 'template', '-')).text).toBe(header);
  const { stdout, json } = await harness.here('orders', 'template', '-');
  expect([stdout.split('\n')[0], json.file]).toEqual([header.trimEnd(), null]);
});

test('orders load without a file says what is missing', async () => {
  const { code, json } = await harness.here('orders', 'load');
  expect([code, json.error]).toMatchObject([
    2,
    { code: 'USAGE', message: expect.stringContaining('needs the name of a file') },
  ]);
});
