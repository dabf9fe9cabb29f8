/** Hostile files in a watched folder: none stops the others, none is followed, none overwrites anything. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, link, lstat, mkdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eachOnce, ordersCsv } from '../support/harness/orders.ts';
import { age, type FileRow, openFolderHarness, WATCH } from './folder.ts';

const MIB = 1024 * 1024;
const SECRET = 'client_id,order_id\nSECRET-WORD,1\n';
const HEADER = 'order_id,client_id,description\n';
const isRoot = process.getuid?.() === 0;

const harness = await openFolderHarness('budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 200ms }');
afterAll(() => harness.close());

/** A valid file with order `n`. */
let orders = 0;
const good = () => ordersCsv(1, { from: ++orders });

interface Poison {
  /** Its name in the folder. */
  readonly name: string | Buffer;
  /** Its name in the run's rows, where it differs. */
  readonly shown?: string;
  /** Its content, or how it is made. */
  readonly put: string | Uint8Array | ((file: string) => unknown);
  readonly verdict: string;
  readonly reason: string;
}

const refused = (name: string, put: Poison['put'], reason: string): Poison => ({
  name,
  put,
  verdict: 'rejected',
  reason,
});
const odd = (name: string, put: (file: string) => unknown) => refused(name, put, 'NOT_A_PLAIN_FILE');
const loaded = (name: string | Buffer, shown?: string, put: Poison['put'] = good()): Poison => ({
  name,
  put,
  verdict: 'created',
  reason: 'LOADED',
  ...(shown !== undefined && { shown }),
});
const outside = (name: string) => path.join(harness.dataDir, name);

const poison: readonly Poison[] = [
  odd('link.csv', (file) => symlink(outside('secret'), file)),
  odd('dangling.csv', (file) => symlink(outside('none'), file)),
  odd('link-to-folder.csv', (file) => symlink('/etc', file)),
  odd('hard-link.csv', (file) => link(outside('secret'), file)),
  odd('folder.csv', (file) => mkdir(file)),
  odd('pipe.csv', (file) => execFileSync('mkfifo', [file])),
  odd('socket.csv', (file) => leaveSocket(file)),
  refused('empty.csv', '', 'CSV_EMPTY'),
  refused('blank.csv', '\n\r\n \n', 'CSV_EMPTY'),
  refused('header.csv', HEADER, 'CSV_NO_ROWS'),
  refused('nul.csv', Buffer.alloc(9_999), 'CSV_BINARY'),
  refused('noise.csv', Buffer.from(Array.from({ length: 4_096 }, (_, i) => (i * 7) % 31)), 'CSV_BINARY'),
  refused('workbook.csv', Buffer.from('504b030414000600', 'hex'), 'CSV_BINARY'),
  refused('workbook.xlsx', Buffer.from('504b030414000600', 'hex'), 'CSV_BINARY'),
  refused('workbook.xls', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'CSV_BINARY'),
  refused('page.csv', '<!doctype html><p>Sign in</p>', 'CSV_HEADER_INVALID'),
  refused('json.csv', '[{"client_id": 1}]', 'CSV_HEADER_INVALID'),
  refused('twice.csv.gz', gzipSync(gzipSync(HEADER)), 'CSV_BINARY'),
  refused('cut.csv.gz', gzipSync(HEADER.repeat(999)).subarray(0, 40), 'CSV_GZIP_BROKEN'),
  refused('tail.csv.gz', Buffer.concat([gzipSync(`${HEADER}A,1,a\n`), Buffer.from('garbage')]), 'CSV_GZIP_BROKEN'),
  refused(
    'lines.csv.gz',
    gzipSync(Buffer.concat([Buffer.from(`${HEADER}A,1,a\n`), Buffer.alloc(300 * MIB, '\n')])),
    'CSV_TOO_MANY_LINES',
  ),
  refused('sparse.csv', (file) => writeFile(file, HEADER).then(() => truncate(file, 3 * 1024 * MIB)), 'CSV_TOO_LARGE'),
  refused('columns.csv', `${'a,'.repeat(1_000_000)}client_id\n1\n`, 'CSV_HEADER_INVALID'),
  refused('line.csv', 'x'.repeat(3 * MIB), 'CSV_HEADER_INVALID'),
  refused('quote.csv', `a\n"1\n${'1\n'.repeat(140_000)}`, 'CSV_NO_CUSTOMER_COLUMN'),
  refused('escapes.csv', `a\x1b]0;owned\x07,b\x1b[2J\n${'1,2\n'.repeat(20)}`, 'CSV_NO_CUSTOMER_COLUMN'),
  refused(`${'n'.repeat(246)}.csv`, 'a,b\n1,2\n', 'CSV_NO_CUSTOMER_COLUMN'),
  refused('unreadable.csv', (file) => writeFile(file, good()).then(() => chmod(file, 0)), 'CSV_UNREADABLE'),
  refused('planted.csv', 'a,b\n1,2\n', 'CSV_NO_CUSTOMER_COLUMN'),
  loaded(`${'o'.repeat(246)}.csv`),
  loaded(`${'ü'.repeat(123)}.csv.gz`, undefined, gzipSync(good())),
  loaded('tab\tescape\x1b[31m\nbreak.csv', 'tab%09escape%1B[31m%0Abreak.csv'),
  loaded('\u202evsc.exe.csv', '%E2%80%AEvsc.exe.csv'),
  loaded(Buffer.from('für.csv', 'latin1'), 'f\ufffdr.csv'),
  loaded('-rf $(reboot) `x`;"\'%2e%2e.csv'),
  loaded('linked-results.csv'),
  loaded('__proto__.csv'),
  loaded('good.csv'),
];

const shownOf = ({ name, shown }: Poison) => shown ?? String(name);

describe('a folder full of them', () => {
  let rows: ReadonlyMap<string, FileRow>;
  let said = '';

  beforeAll(async () => {
    await harness.reset();
    await harness.addNumberedCustomers(3);
    await harness.file('secret', SECRET);
    await chmod(outside('secret'), 0o600);
    await harness.file('victim', 'as it was');
    for (const { name, put } of poison) {
      // Safe: only names that are text are made by a function.
      if (typeof put === 'function') await put(harness.at(name) as string);
      else await writeFile(harness.at(name), put);
      const stat = await lstat(harness.at(name));
      if (stat.isFile() && stat.nlink === 1) await age(harness.at(name));
    }
    // Links at the paths that would be written.
    await mkdir(path.join(harness.folder, 'failed'));
    await mkdir(path.join(harness.folder, 'done'));
    await symlink(outside('victim'), path.join(harness.folder, 'failed', 'planted.csv.problem.txt'));
    await symlink(outside('victim'), path.join(harness.folder, 'done', 'linked-results.created.csv'));
    const { code, json, stdout, stderr } = await harness.here(...WATCH);
    expect([code, json.status]).toEqual([1, 'done']);
    rows = await harness.verdicts(json.run);
    const report = await harness.here('runs', 'show', json.run);
    said = stdout + stderr + report.stdout + JSON.stringify([...rows]);
  });

  test.each(poison.map((one) => [shownOf(one).slice(0, 40), one] as const))('%s', (_name, one) => {
    const isOpenToRoot = one.reason === 'CSV_UNREADABLE' && isRoot;
    const expected = isOpenToRoot
      ? { verdict: 'created', reason: 'LOADED' }
      : { verdict: one.verdict, reason: one.reason };
    expect(rows.get(shownOf(one))).toMatchObject(expected);
  });

  test('loads every good file once, and each file has one row', async () => {
    expect(await harness.orderCommits()).toEqual(eachOnce(isRoot ? orders : orders - 1));
    expect(rows.size).toBe(poison.length);
  });

  test('reads and changes nothing outside the folder, and follows no link', async () => {
    expect(await readFile(outside('victim'), 'utf8')).toBe('as it was');
    expect(await readFile(outside('secret'), 'utf8')).toBe(SECRET);
    const problems = (await harness.names('failed')).filter((name) => name.endsWith('.problem.txt'));
    const texts = await Promise.all(
      problems
        .filter((name) => name !== 'planted.csv.problem.txt')
        .map((name) => readFile(path.join(harness.folder, 'failed', name), 'utf8')),
    );
    expect(said + texts.join('')).not.toContain('SECRET-WORD');
    expect(problems.length).toBeGreaterThan(15);
  });

  test('no name, message or problem contains a control character', async () => {
    const names = [...(await harness.names('done')), ...(await harness.names('failed'))];
    const told = [...rows].flatMap(([name, { detail }]) => [name, detail]);
    expect([...names, ...told].filter((text) => /\p{Cc}|\u202e/u.test(text))).toEqual([]);
    const problem = await readFile(path.join(harness.folder, 'failed', 'escapes.csv.problem.txt'), 'utf8');
    expect(problem).toMatch(
      /^CSV_NO_CUSTOMER_COLUMN: .*a\\u001b\]0;owned\\u0007.* for a watched folder, with `map`.*\n$/,
    );
  });

  test('leaves only what is not a plain file, and writes files for their owner only', async () => {
    const left = poison.filter(({ reason }) => reason === 'NOT_A_PLAIN_FILE').map(shownOf);
    expect(await harness.names()).toEqual(['done', 'failed', ...left].sort());
    for (const dir of ['done', 'failed']) {
      for (const name of await harness.names(dir)) {
        const file = path.join(harness.folder, dir, name);
        const isWritten = /\.(created\.csv|problem\.txt)$/.test(name) && (await lstat(file)).isFile();
        if (isWritten) expect([name, (await stat(file)).mode & 0o777]).toEqual([name, 0o600]);
      }
    }
  });
});

describe('a folder with links at the paths of its subfolders', () => {
  test.each(['done', 'failed', '.lockstep-files'])('%s: the run fails before it touches anything', async (name) => {
    await harness.reset();
    await mkdir(outside(`elsewhere-${name}`));
    await symlink(outside(`elsewhere-${name}`), harness.at(name));
    await harness.drop('may.csv', good());
    const { code, json } = await harness.here(...WATCH);
    expect([code, json.error?.code ?? json.errorCode, harness.writesSeen()]).toEqual([3, 'FOLDER_UNSAFE', 0]);
    expect(await harness.names()).toEqual([name, 'may.csv'].sort());
  });

  test('refuses a working folder that others can write to, and a folder that is a link itself', async () => {
    await harness.reset();
    await mkdir(harness.at('.lockstep-files'));
    await chmod(harness.at('.lockstep-files'), 0o777);
    const open = await harness.here(...WATCH);
    expect([open.code, open.stderr]).toEqual([3, expect.stringContaining('others may write')]);
    await harness.reset();
    execFileSync('sh', [
      '-c',
      `mv "${harness.folder}" "${harness.folder}-real" && ln -s inbox-real "${harness.folder}"`,
    ]);
    const linked = await harness.here(...WATCH);
    expect([linked.code, linked.stderr]).toEqual([3, expect.stringContaining('is a symbolic link')]);
  });
});

/** Leaves a socket behind, as a killed server does. */
function leaveSocket(file: string): void {
  const program = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', program, file]);
}
