/** `orders load` as people use it: stopped and restarted, from two terminals, on a full disk, on a file being written. */
import { execFileSync } from 'node:child_process';
import { constants, createReadStream } from 'node:fs';
import fs, { appendFile, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { command } from '../cli/command.ts';
import { csvOf, eachOnce, ordersCsv } from '../support/harness/orders.ts';
import { PATIENT } from '../support/patient.ts';
import { openCommandHarness } from './commands.ts';

/** Slow enough to be stopped halfway. */
const SLOW = 'budget: { requests: 150, per: 1s, burst: 5, timeout: 2s, settle: 200ms, concurrency: 4 }';
const { O_NONBLOCK, O_WRONLY } = constants;
const ACCOUNT = ['--account', 'test'];
const COUNT = 150;

const harness = await openCommandHarness({ account: SLOW });
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

const someAreMade = (least = 10) =>
  expect.poll(() => harness.service.traffic.total('orders.create'), { interval: 5 }).toBeGreaterThan(least);

test('Ctrl-C leaves the load unfinished with its results so far, and the same command resumes it', async () => {
  await harness.file('orders.csv', ordersCsv(COUNT));
  const load = ['orders', 'load', 'orders.csv', ...ACCOUNT, '--results', 'out'];
  const stopped = harness.start(...load);
  await someAreMade();
  stopped.signal('SIGINT');
  const { code, json } = await stopped.ended;
  expect([code, json.status, json.error.code]).toEqual([3, 'running', 'INTERRUPTED']);
  expect(await rowsIn(json.results)).toBe(COUNT);
  expect(json.results.unprocessed).toMatch(/orders\.unprocessed\.csv$/);
  expect(json.results.review).toBeUndefined(); // what was sent and is not confirmed is in `unknown`
  const again = await harness.here(...load);
  expect([again.code, again.json.run, again.json.counts]).toMatchObject([0, json.run, { in: COUNT, created: COUNT }]);
  expect(Object.keys(again.json.results)).toEqual(['results', 'created']);
  expect((await readdir(path.join(harness.dataDir, 'out'))).sort()).toEqual([
    ...['orders.created.csv', 'orders.results.csv'],
  ]);
  expect(await harness.orderCommits()).toEqual(eachOnce(COUNT));
});

test('a second Ctrl-C ends a load that waits for the rest of a pipe', async () => {
  const pipe = path.join(harness.dataDir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const load = harness.start('orders', 'load', 'pipe', ...ACCOUNT);
  const writer = await vi.waitUntil(() => fs.open(pipe, O_WRONLY | O_NONBLOCK).catch(() => undefined), PATIENT);
  load.signal('SIGINT');
  await load.logs('Press Ctrl-C again');
  load.signal('SIGINT');
  expect(await load.ended).toMatchObject({ code: null, stderr: expect.stringContaining('Stopped at once.') });
  await writer.close();
});

test('writes one file of results for each verdict', async () => {
  const load = ['orders', 'load', await harness.file('two.csv', ordersCsv(2)), ...ACCOUNT];
  await harness.here(...load);
  await harness.file('two.csv', ordersCsv(2).replace('2.25', '7.25'));
  const { json } = await harness.here(...load, '--existing', 'update', '--results', 'updated');
  expect(json.counts).toMatchObject({ updated: 1, existing: 1 });
  expect(Object.keys(json.results)).toEqual(['results', 'updated', 'existing']);
});

test('counts the calls that created its customers', async () => {
  await harness.file('new.csv', csvOf('order_id,customer_email', ['N-1,new@example.com']));
  const { json } = await harness.here('orders', 'load', 'new.csv', ...ACCOUNT, '--create-customers');
  const made = await harness.database.pool.query('select calls from ledger.runs where calls > 0');
  expect(made.rows.length).toBe(2);
  expect(json.calls).toBe(made.rows.reduce((sum, { calls }) => sum + calls, 0));
});

test('a second terminal joins the load, and both end with it', async () => {
  await harness.file('orders.csv', ordersCsv(COUNT));
  const first = harness.start('orders', 'load', 'orders.csv', ...ACCOUNT);
  await someAreMade();
  const second = await harness.here('orders', 'load', 'orders.csv', ...ACCOUNT);
  const ends = [(await first.ended).json, second.json];
  expect(ends.map(({ status, counts }) => [status, counts.created])).toEqual([
    ['done', COUNT],
    ['done', COUNT],
  ]);
  expect(ends[1].run).toBe(ends[0].run);
  expect(await harness.orderCommits()).toEqual(eachOnce(COUNT));
});

test('cancelled from a second terminal it ends with 3, and unsent rows are unprocessed', async () => {
  await harness.file('orders.csv', ordersCsv(500));
  const load = harness.start('orders', 'load', 'orders.csv', ...ACCOUNT, '--results', 'cancelled');
  await someAreMade();
  const { json: runs } = await harness.here('runs');
  expect((await harness.here('runs', 'cancel', runs.runs[0].run)).code).toBe(0);
  const { code, json } = await load.ended;
  expect([code, json.status]).toEqual([3, 'cancelled']);
  expect(Object.keys(json.results)).toContain('unprocessed');
  expect([await rowsIn(json.results), json.counts.in]).toEqual([500, 500]);
  const again = await harness.here('orders', 'load', 'orders.csv', ...ACCOUNT, '--dry-run');
  expect(again.json.counts.created).toBe(500 - (await harness.orderCommits()).size);
});

test('loading the same file again after the end creates nothing and ends with the same result', async () => {
  const file = await harness.file('orders.csv', csvOf('order_id,client_id', ['A,1', 'B,77']));
  const first = await harness.here('orders', 'load', file, ...ACCOUNT);
  const second = await harness.here('orders', 'load', file, ...ACCOUNT, '--results', 'once');
  expect([first.code, second.code, second.json.run]).toEqual([1, 1, first.json.run]);
  expect([first.json.loadedBefore, second.json.loadedBefore]).toEqual([undefined, true]);
  expect(await rowsIn(second.json.results)).toBe(2);
  const again = await harness.here('orders', 'load', file, ...ACCOUNT, '--again');
  expect(again.json.counts).toMatchObject({ in: 2, existing: 1, rejected: 1 });
});

test.each([
  [['--existing', 'update'], /It was loaded without --existing update: add --again for that\./],
  [['--create-customers'], /It was loaded without --create-customers: add --again for that\./],
  [['--existing', 'fail', '--create-customers'], /without --existing fail and --create-customers: add --again/],
  [[], /--again checks every row again\.\n/],
])('loaded again with %j it says what was asked for and is not done', async (more, says) => {
  const file = await harness.file('orders.csv', csvOf('order_id,client_id', ['A,1']));
  const first = await harness.here('orders', 'load', file, ...ACCOUNT);
  const settings = ['--config', 'lockstep.yaml'];
  const { code, stdout } = await command(['orders', 'load', file, ...ACCOUNT, ...more, ...settings], harness.around);
  expect([code, stdout]).toEqual([0, expect.stringMatching(says)]);
  expect(stdout).toContain(`was loaded before, as run ${first.json.run}`);
  expect(stdout).toContain('\nIts rows: 1 created.\n');
  expect(await harness.orderCommits()).toEqual(new Map([['A', 1]]));
});

test('a load from stdin is called stdin everywhere, and is the same load as a file', async () => {
  const file = await harness.file('orders.csv', csvOf('order_id,client_id', ['A,1']));
  const load = () => {
    const bytes = createReadStream(file) as unknown as typeof process.stdin; // safe: it is only read
    const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(bytes);
    onTestFinished(() => stdin.mockRestore());
    return command(['orders', 'load', '-', ...ACCOUNT, '--config', 'lockstep.yaml'], harness.around);
  };
  expect((await load()).stdout).toMatch(/^stdin: [\s\S]* of stdin is done/);
  expect((await load()).stdout).toContain('\nstdin was loaded before, as run ');
  expect((await harness.here('runs')).json.runs).toMatchObject([{ title: 'stdin' }]);
  expect((await harness.here('orders', 'load', file, ...ACCOUNT)).json.loadedBefore).toBe(true);
});

test('a retry takes only what failed', async () => {
  const file = await harness.file(
    'orders.csv',
    csvOf('order_id,customer_email', ['A,customer1@example.com', 'B,late@example.com']),
  );
  const first = await harness.here('orders', 'load', file, ...ACCOUNT);
  await harness.addCustomers([{ full_name: 'Late', email: 'late@example.com' }]);
  const { code, json } = await harness.here('runs', 'retry', first.json.run);
  expect([code, json.counts]).toMatchObject([0, { in: 2, created: 2 }]);
  const nothing = await harness.here('runs', 'retry', first.json.run);
  expect([nothing.code, nothing.json.error.code]).toEqual([2, 'NOTHING_FAILED']);
});

test('a retry reports its own duration, not the time since the first start', async () => {
  const file = await harness.file('orders.csv', csvOf('order_id,customer_email', ['A,late@example.com']));
  const { json } = await harness.here('orders', 'load', file, ...ACCOUNT);
  await harness.addCustomers([{ full_name: 'Late', email: 'late@example.com' }]);
  await harness.database.pool.query(`update ledger.runs set created_at = created_at - interval '1 h'`);
  const { code, stdout } = await command(['runs', 'retry', json.run, '--config', 'lockstep.yaml'], harness.around);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/ is done after \d+\.\d s\./)]);
});

test('a dry run plans and writes nothing', async () => {
  const file = await harness.file('orders.csv', ordersCsv(5));
  const { code, json } = await harness.here('orders', 'load', file, ...ACCOUNT, '--dry-run');
  expect([code, json.dryRun, json.counts, harness.writesSeen()]).toMatchObject([0, true, { in: 5, created: 5 }, 0]);
  for (const verb of ['resume', 'retry']) {
    const again = await harness.here('runs', verb, json.run);
    expect([again.code, again.json.error.message]).toEqual([
      2,
      expect.stringContaining(': lockstep orders load FILE '),
    ]);
  }
});

test('reports a full disk, leaves no partial results, and the same command writes them later', async () => {
  const file = await harness.file('orders.csv', ordersCsv(5));
  const open = fs.open.bind(fs);
  const full = vi.spyOn(fs, 'open').mockImplementation(async (target, ...how) => {
    if (!String(target).includes('/.lockstep-')) return open(target, ...how);
    await (await open(target, ...how)).close();
    return open('/dev/full', 'w'); // writing to it fails as on a full disk
  });
  onTestFinished(() => full.mockRestore());
  const failed = await harness.here('orders', 'load', file, ...ACCOUNT, '--results', 'full');
  expect([failed.code, failed.json.error.code]).toEqual([3, 'DISK_FULL']);
  expect(await readdir(path.join(harness.dataDir, 'full'))).toEqual([]);
  full.mockRestore();
  const { code, json } = await harness.here('orders', 'load', file, ...ACCOUNT, '--results', 'full');
  expect([code, json.counts, await rowsIn(json.results)]).toMatchObject([0, { in: 5, created: 5 }, 5]);
  expect(await harness.orderCommits()).toEqual(eachOnce(5));
});

test('reports a file that changes while it is read, and loads it whole once it no longer changes', async () => {
  const file = await harness.file('orders.csv', ordersCsv(5));
  const { pool } = harness.database;
  // Its load has begun, and its rows are not read yet.
  await pool.query(`create function public.stand_still() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(4712); return new; end $$;
    create trigger stand_still before insert on ledger.loads for each row execute function public.stand_still()`);
  const holder = await pool.connect();
  await holder.query('select pg_advisory_lock(4712)');
  const changed = harness.here('orders', 'load', file, ...ACCOUNT);
  const waits = async () => (await pool.query(`select 1 from pg_locks where objid = 4712 and not granted`)).rowCount;
  await expect.poll(waits, { interval: 5 }).toBe(1);
  await appendFile(file, 'O-6,1,late,6.25,new\n');
  holder.release(true);
  const { code, json } = await changed;
  expect([code, json.error.code, harness.writesSeen()]).toEqual([3, 'CSV_CHANGED', 0]);
  await pool.query('drop trigger stand_still on ledger.loads');
  const whole = await harness.here('orders', 'load', file, ...ACCOUNT);
  expect([whole.code, whole.json.counts]).toMatchObject([0, { in: 6, created: 6 }]);
});

async function rowsIn(results: Record<string, string>): Promise<number> {
  const { results: whole, ...byVerdict } = results;
  const counts = await Promise.all(Object.values(byVerdict).map(linesIn));
  const sum = counts.reduce((all, count) => all + count, 0);
  expect(await linesIn(whole ?? '')).toBe(sum);
  return sum;
}

/** Without the header. */
async function linesIn(file: string): Promise<number> {
  return (await readFile(file, 'utf8')).trimEnd().split('\n').length - 1;
}
