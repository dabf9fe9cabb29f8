/** A watched folder whose files of orders are loaded, against the embedded service. */
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { sentenceFor } from '../../src/base/reasons/reasons.ts';
import { pruneLedger } from '../../src/engine/ledger/retention/prune.ts';
import { type Run, startRun } from '../../src/engine/ledger/runs.ts';
import { ended } from '../support/harness/ended.ts';
import { openOrdersHarness } from '../support/harness/orders.ts';

const HEADER = 'order_id,customer_email,amount\n';
const TWO = `${HEADER}A-1,ann@example.com,10\nA-2,ann@example.com,20\n`;

let folder: string;
const harness = await openOrdersHarness({
  account: 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 300ms }',
});
beforeEach(async () => {
  await harness.reset();
  await harness.addCustomers([{ full_name: 'Ann Lee', email: 'ann@example.com' }]);
  folder = await mkdtemp(path.join(os.tmpdir(), 'lockstep-folder-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});
afterAll(() => harness.close());

/** A file that has not been written to for a while. */
async function drop(name: string, content: string | Buffer): Promise<void> {
  await writeFile(path.join(folder, name), content);
  const before = new Date(Date.now() - 120_000);
  await utimes(path.join(folder, name), before, before);
}

async function watch(
  how: {
    dryRun?: boolean;
    existing?: 'skip' | 'update';
    createCustomers?: boolean;
    presets?: string;
    encoding?: string;
    decimal?: '.' | ',';
    accounting?: boolean;
    map?: Record<string, string>;
  } = {},
): Promise<Run> {
  const { dryRun = false, ...given } = how;
  const options = { folder, existing: 'skip', createCustomers: false, ...given };
  const spec = { sync: 'files', type: 'orders', account: 'test', resource: 'sync:files', options, dryRun } as const;
  const begun = await startRun(harness.database.pool, { ...spec, lane: 'batch', phase: 'watch-orders' });
  const runner = await harness.workspace.work();
  await runner.attend(begun.run);
  return ended(harness.database, begun.run.id);
}

const filesIn = async (dir = '.') => (await readdir(path.join(folder, dir))).sort();

test('moves a file to done with its results and loads it once; ignores what a program keeps beside an open file', async () => {
  await drop('may.csv', TWO);
  await drop('~$may.csv', 'Ann');
  const run = await watch();
  expect(await harness.rows(run)).toMatchObject([{ label: 'may.csv', verdict: 'created', reason: 'LOADED' }]);
  await expect.poll(() => filesIn()).toEqual(['done', '~$may.csv']); // the run is over before its own folder is removed
  expect(await filesIn('done')).toEqual(['may.created.csv', 'may.csv', 'may.results.csv']);
  expect(await readFile(path.join(folder, 'done', 'may.created.csv'), 'utf8')).toMatch(/\n2,created,,,\d,A-1,A-1,/);
  expect((await harness.orders()).map((order) => order.order_id).sort()).toEqual(['A-1', 'A-2']);
});

test('the same file added again creates nothing, and both files are kept', async () => {
  await drop('may.csv', TWO);
  await watch();
  await drop('may.csv', TWO);
  const run = await watch();
  expect(await harness.rows(run)).toMatchObject([{ verdict: 'existing', reason: 'LOADED_BEFORE' }]);
  expect(await harness.orders()).toHaveLength(2);
  expect((await filesIn('done')).filter((name) => name.endsWith('may.csv'))).toHaveLength(2);
});

test('the same file creates nothing after its rows were deleted, and the run says that its results lack them', async () => {
  const { pool } = harness.database;
  await drop('may.csv', TWO);
  await watch();
  await pool.query(`update ledger.runs set ended_at = ended_at - interval '500 days'`);
  await pruneLedger(pool, { rowsMs: 1, runsMs: 1 });
  await drop('may.csv', TWO);
  const run = await watch();
  expect(await harness.rows(run)).toMatchObject([{ verdict: 'existing', reason: 'LOADED_BEFORE' }]);
  expect(run.notes.join()).toMatch(/^the results of load run-\S+ lack older rows \(2\), which were deleted$/);
  expect(await harness.orders()).toHaveLength(2);
});

test('the same file under other options is not loaded with them, and its row and a file beside it say so', async () => {
  await drop('may.csv', TWO);
  await watch();
  await drop('june.csv', TWO);
  const run = await watch({ existing: 'update', createCustomers: true });
  expect(await harness.rows(run)).toMatchObject([
    {
      label: 'june.csv',
      verdict: 'review',
      reason: 'LOADED_WITH_OTHER_OPTIONS',
      facts: { options: ['--existing=update', '--create-customers'] },
    },
  ]);
  expect(await readFile(path.join(folder, 'done', 'june.csv.problem.txt'), 'utf8')).toMatch(
    /^LOADED_WITH_OTHER_OPTIONS: .*the results are from that run.*--existing=update --create-customers --again`\.\n$/,
  );
  expect(await filesIn('done')).toContain('june.created.csv');
});

test('reports rows that could not be loaded, and writes them to files beside it', async () => {
  await drop('may.csv', `${TWO}A-3,unknown@example.com,30\nA-4,ann@example.com,thirty\n`);
  const run = await watch();
  expect(await harness.rows(run)).toMatchObject([
    { verdict: 'review', reason: 'ROWS_LEFT', facts: { left: 2, rows: 4 } },
  ]);
  expect(await filesIn('done')).toEqual([
    ...['may.created.csv', 'may.csv', 'may.invalid.csv', 'may.rejected.csv', 'may.results.csv'],
  ]);
});

test('leaves an order with another amount to a person, named in the verdict, also when the file comes again', async () => {
  await harness.call('orders.create', { order_id: 'A-1', client_id: 1, amount: 11 });
  const left = { verdict: 'review', reason: 'ROWS_LEFT', facts: { left: 1, rows: 2, reasons: ['DIFFERS 1'] } };
  for (const _time of [1, 2]) {
    await drop('may.csv', TWO);
    expect(await harness.rows(await watch())).toMatchObject([left]);
  }
  expect(await readFile(path.join(folder, 'done', 'may.review.csv'), 'utf8')).toMatch(
    /review,DIFFERS,.*amount 11 instead of 10/,
  );
  expect((await harness.orders()).map(({ amount }) => amount)).toEqual([11, 20]);
});

test('moves a file that is not a CSV to failed with its problem beside it, and continues with the other files', async () => {
  await drop('a.csv', Buffer.from('504b03041400', 'hex'));
  await drop('b.csv', TWO);
  const run = await watch();
  expect(await harness.rows(run)).toMatchObject([
    { label: 'a.csv', verdict: 'rejected', reason: 'CSV_BINARY' },
    { label: 'b.csv', verdict: 'created' },
  ]);
  expect(await filesIn('failed')).toEqual(['a.csv', 'a.csv.problem.txt']);
  expect(await readFile(path.join(folder, 'failed', 'a.csv.problem.txt'), 'utf8')).toContain('is a workbook');
});

test('settings say which column has the numbers of the orders, or that none has', async () => {
  const text = 'customer_email,Vorgang,amount\nann@example.com,INV-2026-01,10\nann@example.com,INV-2026-07,20\n';
  await drop('may.csv', text);
  expect(await harness.rows(await watch())).toMatchObject([{ reason: 'CSV_NO_ORDER_COLUMN' }]);
  await drop('told.csv', text);
  expect(await harness.rows(await watch({ map: { order_id: 'Vorgang' } }))).toMatchObject([{ verdict: 'created' }]);
  await drop('none.csv', text.replaceAll('INV', 'X'));
  expect(await harness.rows(await watch({ map: { order_id: '' } }))).toMatchObject([{ verdict: 'created' }]);
  const labels = (await harness.orders()).map(({ order_id }) => String(order_id)).sort();
  expect(labels).toEqual(['INV-2026-01', 'INV-2026-07', expect.stringMatching(/^LS-/), expect.stringMatching(/^LS-/)]);
});

test('leaves a file alone that is still being written, and the next run loads it', async () => {
  await writeFile(path.join(folder, 'half.csv'), `${HEADER}A-1,ann@exam`);
  await drop('whole.csv', TWO);
  const begun = watch();
  await expect.poll(() => filesIn()).toContain('done');
  await writeFile(path.join(folder, 'half.csv'), `${HEADER}A-1,ann@example.com,1\nA-2,ann@exa`);
  const run = await begun;
  expect(await harness.rows(run)).toMatchObject([{ label: 'whole.csv', verdict: 'created' }]);
  expect(run.notes).toEqual(['half.csv was still being written: the next run loads it']);
  await expect.poll(() => filesIn()).toEqual(['done', 'half.csv']);
  await drop('half.csv', `${HEADER}A-9,ann@example.com,9\n`);
  expect(await harness.rows(await watch())).toMatchObject([{ label: 'half.csv', verdict: 'created' }]);
});

test('a dry run reports what would be loaded and moves nothing', async () => {
  await drop('may.csv', TWO);
  const run = await watch({ dryRun: true });
  expect(await harness.rows(run)).toMatchObject([{ label: 'may.csv', verdict: 'created' }]);
  expect([await filesIn(), await harness.orders()]).toEqual([['may.csv'], []]);
});

test('a missing folder fails the run with its name and the remedy', async () => {
  await rm(folder, { recursive: true });
  expect(await watch()).toMatchObject({ status: 'failed', errorCode: 'FOLDER_UNREADABLE' });
  await mkdir(folder);
});

test('a folder that stays unreadable makes one failed run, which loads its files once it is there', async () => {
  const missing = path.join(folder, 'in');
  const own = await openOrdersHarness({ syncs: { files: `type: orders, options: { folder: ${missing} }` } });
  onTestFinished(() => own.close());
  await own.addCustomers([{ full_name: 'Ann Lee', email: 'ann@example.com' }]);
  const runner = await own.workspace.work();
  const look = async () => {
    const { run } = await own.workspace.startSync('files', { lane: 'batch', dryRun: false });
    await runner.attend(run);
    return ended(own.database, run.id);
  };
  const first = await look();
  expect(first).toMatchObject({ status: 'failed', errorCode: 'FOLDER_UNREADABLE' });
  const again = await look();
  expect(again).toMatchObject({ id: first.id, status: 'failed', notes: [`an attempt failed: ${first.error}`] });
  expect(again.createdAt.getTime()).toBeGreaterThan(first.createdAt.getTime());
  await mkdir(missing);
  await drop('in/may.csv', TWO);
  const loaded = await look();
  expect(loaded).toMatchObject({ id: first.id, status: 'done', notes: [`an attempt failed: ${first.error}`] });
  expect(await own.rows(loaded)).toMatchObject([{ label: 'may.csv', verdict: 'created', reason: 'LOADED' }]);
  expect((await look()).id).not.toBe(first.id);
});

test('amounts are read with the decimal sign and the minus of the settings', async () => {
  await drop('may.csv', 'order_id,amount,customer_email\nT-1,(1.234),ann@example.com\n');
  const [{ reason = '', facts = null } = {}] = await harness.rows(await watch());
  expect(sentenceFor(reason, facts)).toMatch(
    /\(AMOUNT_PARENTHESES 1\).* Correct those rows, and put their files into the folder\.$/,
  );
  await drop('corrected.csv', await readFile(path.join(folder, 'done', 'may.invalid.csv')));
  expect(await harness.rows(await watch({ decimal: ',', accounting: true }))).toMatchObject([{ reason: 'LOADED' }]);
  expect(await harness.orders()).toMatchObject([{ order_id: 'T-1', amount: -1234 }]);
});

test('files are read by presets in the encoding of the settings; a broken preset fails the run, and files are loaded once it is corrected', async () => {
  const presets = path.join(folder, 'presets');
  await mkdir(presets);
  const preset = `title: Till
header: [Bon, Kunde]
columns: { order_id: Bon, customer_email: Kunde, amount: Summe, description: Text }
combineLines: { amount: sum, description: join }
`;
  await writeFile(path.join(presets, 'till.yaml'), preset.replace('combineLines', 'combine'));
  const rows = 'T-1,ann@example.com,1.50,Bu\xb3ka\nT-1,ann@example.com,2.25,Bu\xb3ka\n'; // Bułka in windows-1250
  await drop('may.csv', Buffer.from(`Mai\nBon,Kunde,Summe,Text\n${rows}`, 'latin1'));
  const encoding = 'windows-1250';
  expect(await watch({ presets, encoding })).toMatchObject({ status: 'failed', errorCode: 'PRESET_INVALID' });
  expect(await filesIn()).not.toContain('failed');
  await writeFile(path.join(presets, 'till.yaml'), preset);
  const run = await watch({ presets, encoding });
  expect(await harness.rows(run)).toMatchObject([{ verdict: 'created', reason: 'LOADED' }]);
  expect(await harness.orders()).toMatchObject([{ order_id: 'T-1', amount: 3.75, description: 'Bułka' }]);
});
