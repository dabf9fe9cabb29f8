/** Hostile files on the command line: a clear error and exit code, and the good rows are loaded. */
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { command } from '../cli/command.ts';
import { csvOf } from '../support/harness/orders.ts';
import { openCommandHarness } from './commands.ts';

const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 200ms }';
const ACCOUNT = ['--account', 'test'];

const harness = await openCommandHarness({ account: QUICK });
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

const PLAIN = 'order_id,client_id,amount';

const refused: readonly (readonly [string, string | Uint8Array, code: string, says: RegExp])[] = [
  ['an empty file', '', 'CSV_EMPTY', /is empty/],
  ['blank lines only', '\n\r\n  \n', 'CSV_EMPTY', /./],
  ['a header only', `${PLAIN}\n`, 'CSV_NO_ROWS', /./],
  ['no header', 'A-1,1,12.50\nA-2,2,13.50\n', 'CSV_NO_CUSTOMER_COLUMN', /--map customer_email=2/],
  ['a header that names no customer', 'order_id,amount\nA,1\n', 'CSV_NO_CUSTOMER_COLUMN', /"order_id", "amount"/],
  ['two columns of one name', 'order_id,client_id,order_id\nA,1,B\n', 'CSV_DUPLICATE_HEADER', /columns 1 and 3/],
  [
    'two columns that may be the same field',
    'client_id,total,betrag\n1,2,3\n',
    'CSV_COLUMNS_AMBIGUOUS',
    /--map amount=/,
  ],
  ['a workbook', Buffer.from('504b030414000600', 'hex'), 'CSV_BINARY', /a workbook/],
  ['noise', Buffer.from(Array.from({ length: 4_096 }, (_, i) => (i * 7) % 31)), 'CSV_BINARY', /is binary data/],
  ['a broken gzip', gzipSync(`${PLAIN}\nA,1,1\n`).subarray(0, 30), 'CSV_GZIP_BROKEN', /Compress it again/],
  ['1,000,000 columns', `${'a,'.repeat(1_000_000)}client_id\n1\n`, 'CSV_HEADER_INVALID', /./],
  ['one endless line', 'x'.repeat(3 * 1024 * 1024), 'CSV_HEADER_INVALID', /./],
];

describe('a file that is refused as a whole', () => {
  test.each(refused)('%s: ends with 2, shows the remedy, and starts no run', async (_what, content, code, says) => {
    const file = await harness.file('bad.csv', content);
    const finished = await harness.here('orders', 'load', file, ...ACCOUNT);
    expect([finished.code, finished.json.error.code]).toEqual([2, code]);
    expect(finished.stderr).toMatch(says);
    expect((await harness.database.pool.query('select 1 from ledger.runs')).rowCount).toBe(0);
    expect(harness.writesSeen()).toBe(0);
  });

  test('a directory, and a file that is not there', async () => {
    await mkdir(path.join(harness.dataDir, 'folder'), { recursive: true });
    const [folder, nothing] = [
      await harness.here('orders', 'load', 'folder', ...ACCOUNT),
      await harness.here('orders', 'load', 'none.csv', ...ACCOUNT),
    ];
    expect([folder.code, folder.json.error.code]).toEqual([2, 'CSV_IS_DIRECTORY']);
    expect([nothing.code, nothing.json.error.code]).toEqual([2, 'CSV_NOT_FOUND']);
  });

  test('a column that --map names and the file has not', async () => {
    const file = await harness.file('map.csv', csvOf(PLAIN, ['A,1,1']));
    const { code, json } = await harness.here('orders', 'load', file, ...ACCOUNT, '--map', 'amount=Betrag');
    expect([code, json.error.code]).toEqual([2, 'CSV_UNKNOWN_COLUMN']);
  });
});

/** A bad row, with the verdict and code of its result. */
const bad: readonly (readonly [row: string, verdict: string, code: string])[] = [
  ['B-1,1', 'invalid', 'RAGGED'],
  ['B-2,1,5,x,y', 'invalid', 'RAGGED'],
  ['B-3,1,\0', 'invalid', 'NUL_BYTE'],
  ['B-4,1,"x "y" z"', 'invalid', 'BAD_QUOTES'],
  ['B-5,1,1e309', 'invalid', 'AMOUNT_EXPONENT'],
  ['B-6,1,-0', 'invalid', 'AMOUNT_NEGATIVE_ZERO'],
  ['B-7,1,NaN', 'invalid', 'AMOUNT_NOT_A_NUMBER'],
  ['B-8,1,2026-01-05', 'invalid', 'AMOUNT_IS_DATE'],
  ['B-9,0,5', 'invalid', 'CLIENT_ID_INVALID'],
  ['B-10,9999999999999999,5', 'rejected', 'CUSTOMER_UNKNOWN'],
  ['B-14,7.0,5', 'invalid', 'CLIENT_ID_INVALID'],
  ['B-15,a9e906ee-8245-4043-a30d-f525614d7933,5', 'rejected', 'CUSTOMER_UNKNOWN'],
  ['B-11,,5', 'invalid', 'NO_CUSTOMER'],
  ['B-12,77,5', 'rejected', 'CUSTOMER_UNKNOWN'],
  [`B-13,1,${'9'.repeat(300_000)}`, 'invalid', 'ROW_TOO_LONG'],
];

describe('good rows beside bad ones', () => {
  test('are loaded, and each bad row is returned with its line and code', async () => {
    const rows = bad.flatMap(([row], n) => [row, `G-${n},${(n % 3) + 1},${n}.5`]);
    const file = await harness.file('mixed.csv', csvOf(PLAIN, rows));
    const { code, json } = await harness.here('orders', 'load', file, ...ACCOUNT, '--results', 'mixed');
    expect([code, json.status]).toEqual([1, 'done']);
    expect(await harness.orderCommits()).toEqual(new Map(bad.map((_, n) => [`G-${n}`, 1])));
    const back = [...(await lines(json.results.invalid)), ...(await lines(json.results.rejected))];
    const expected = bad.map(([, verdict, reason], n) => `${2 * n + 2},${verdict},${reason}`);
    expect(back.map((line) => line.split(',', 3).join()).sort()).toEqual(expected.sort());
    await expectSums(json);
  });

  test('have formulas, leading zeros and odd names as plain text, which the results guard', async () => {
    const names = ['=1+1', '+49', '-5', '@cmd', '00012', '__proto__', 'constructor', "'quoted"];
    const file = await harness.file(
      'odd.csv',
      csvOf(
        '__proto__,order_id,client_id,constructor',
        names.map((name) => `x,${name},1,y`),
      ),
    );
    const { code, json } = await harness.here('orders', 'load', file, ...ACCOUNT, '--results', 'odd');
    expect([code, json.counts]).toMatchObject([0, { in: 8, created: 8 }]);
    expect([...(await harness.orderCommits()).keys()].sort()).toEqual([...names].sort());
    const cells = (await lines(json.results.created)).flatMap((line) => line.split(','));
    expect(cells.filter((cell) => /^"?[=+@-](?!\d+$)/.test(cell))).toEqual([]);
  });

  test('come before a quote that is never closed', async () => {
    const file = await harness.file('open.csv', `${PLAIN}\nA,1,1\nB,2,2\nC,3,"3\nD,1,4\n`);
    const { code, json } = await harness.here('orders', 'load', file, ...ACCOUNT);
    expect(code).toBe(1);
    expect([...(await harness.orderCommits()).keys()]).toEqual(expect.arrayContaining(['A', 'B']));
    await expectSums(json);
  });

  test('are loaded beside a line of 64 MiB, packed', async () => {
    const long = Buffer.concat([
      Buffer.from(`${PLAIN}\nA,1,1\nB,2,`),
      Buffer.alloc(64 * 1024 * 1024, '1'),
      Buffer.from('\nC,3,3\n'),
    ]);
    const file = await harness.file('long.csv.gz', gzipSync(long, { level: 1 }));
    const { code, json } = await harness.here('orders', 'load', file, ...ACCOUNT);
    expect([code, json.counts]).toMatchObject([1, { in: 3, created: 2, invalid: 1 }]);
  });
});

test('whole amounts of yen are loaded with the decimal sign that the message says', async () => {
  const file = await harness.file('yen.csv', csvOf(PLAIN, ['A,1,"￥123,450"', 'B,1,"￥5,000"', 'C,1,￥800']));
  const unclear = await command(['orders', 'load', file, ...ACCOUNT, '--config', 'lockstep.yaml'], harness.around);
  expect([unclear.code, unclear.stdout]).toEqual([1, expect.stringContaining('2 × AMOUNT_AMBIGUOUS')]);
  const way = /`(--decimal \S+)` gives 123450\)/.exec(unclear.stdout.replaceAll(/\s+/g, ' '))?.[1] ?? '';
  const { code } = await harness.here('orders', 'load', file, ...ACCOUNT, ...way.split(' '));
  const amounts = (await harness.orders()).map(({ amount }) => Number(amount)).sort((a, b) => a - b);
  expect([code, amounts]).toEqual([0, [800, 5_000, 123_450]]);
});

test('can be corrected in the results and loaded again until no row is returned', async () => {
  const file = await harness.file(
    'round.csv',
    csvOf('Bestell-Nr;Kunden-Nr;Betrag', ['A;1;1,50', 'B;2;abc', 'C;99;2,75']),
  );
  const first = await harness.here('orders', 'load', file, ...ACCOUNT, '--results', 'round');
  expect([first.code, first.json.counts]).toMatchObject([1, { in: 3, created: 1, invalid: 1, rejected: 1 }]);
  const { invalid, rejected } = first.json.results;
  await harness.file('round/fixed-1.csv', (await readFile(invalid, 'utf8')).replace(';abc', ';4,25'));
  await harness.file('round/fixed-2.csv', (await readFile(rejected, 'utf8')).replace(';99;', ';3;'));
  for (const name of ['round/fixed-1.csv', 'round/fixed-2.csv']) {
    expect((await harness.here('status')).stdout).toContain(first.json.run);
    const again = await harness.here('orders', 'load', name, ...ACCOUNT, '--results', 'round');
    expect([again.code, again.json.counts]).toMatchObject([0, { in: 1, created: 1 }]);
  }
  expect((await harness.here('status')).stdout).not.toContain(first.json.run);
  const amounts = (await harness.orders()).map(
    ({ order_id, client_id, amount }) => `${order_id} ${client_id} ${amount}`,
  );
  expect(amounts.sort()).toEqual(['A 1 1.5', 'B 2 4.25', 'C 3 2.75']);
  await rm(path.join(harness.dataDir, 'round'), { recursive: true });
});

async function lines(file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return [];
  return (await readFile(file, 'utf8')).trimEnd().split('\n').slice(1);
}

/** `in` is the sum of the verdicts, and the results have as many rows where there are any, all in one file and by verdict. */
async function expectSums({
  counts,
  results,
}: {
  counts: Record<string, number>;
  results: Record<string, string>;
}): Promise<void> {
  const { in: all = 0, ...verdicts } = counts;
  expect(Object.values(verdicts).reduce((sum, n) => sum + n, 0)).toBe(all);
  const { results: whole, ...byVerdict } = results;
  const rows = (await Promise.all(Object.values(byVerdict).map(lines))).flat();
  if (rows.length > 0) expect([rows.length, (await lines(whole)).length]).toEqual([all, all]);
}
