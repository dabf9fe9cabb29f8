/** One file of orders in other wrappings is one load; and what is written about it overwrites nothing of another file. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type CommandBed, openCommandBed } from './orders-bed.ts';

const ACCOUNT = ['--account', 'test'];
/** 30 rows without an order_id: loaded again, each would be another order. */
const ROWS = Array.from({ length: 30 }, (_, n) => `${(n % 3) + 1},${n}.5,Grüße ${n}`);
const TEXT = `client_id,amount,description\n${ROWS.join('\n')}\n`;
const CRLF = TEXT.replaceAll('\n', '\r\n');

let bed: CommandBed;
beforeAll(async () => {
  bed = await openCommandBed({
    account: 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 200ms }',
  });
});
beforeEach(async () => {
  await bed.reset();
  await bed.addNumberedCustomers(3);
});
afterAll(() => bed.close());

const load = (file: string, ...more: readonly string[]) => bed.here('orders', 'load', file, ...ACCOUNT, ...more);

test('a file is known by what it says: packed, packed again, with other line ends or another encoding, it is loaded once', async () => {
  const forms: readonly (readonly [string, string | Uint8Array])[] = [
    ['plain.csv', TEXT],
    ['packed.csv.gz', gzipSync(TEXT)],
    ['again.csv.gz', gzipSync(TEXT, { level: 1, strategy: constants.Z_HUFFMAN_ONLY })],
    ['crlf.csv', CRLF],
    ['cr.csv', TEXT.replaceAll('\n', '\r')],
    ['marked.csv', `\ufeff${TEXT}`],
    ['utf16.csv', Buffer.from(`\ufeff${CRLF}`, 'utf16le')],
    ['utf16be.csv.gz', gzipSync(Buffer.from(`\ufeff${TEXT}`, 'utf16le').swap16())],
    ['windows.csv', Buffer.from(CRLF, 'latin1')],
  ];
  const runs = new Set<string>();
  for (const [name, content] of forms) {
    const { code, json } = await load(await bed.file(name, content));
    expect([name, code, json.counts.created]).toEqual([name, 0, 30]);
    runs.add(json.run);
  }
  expect([runs.size, (await bed.orders()).length]).toEqual([1, 30]);
});

test('another file is another load, by one letter; and --again looks at each row without creating it twice', async () => {
  await load(await bed.file('one.csv', TEXT));
  const other = await load(await bed.file('two.csv', TEXT.replace('Grüße 7', 'Grüße 8')));
  expect(other.json.counts).toMatchObject({ created: 30 });
  const again = await load(await bed.file('one.csv.gz', gzipSync(CRLF)), '--again');
  expect([again.json.counts.existing, (await bed.orders()).length]).toEqual([30, 60]);
});

test('a load that is known by the bytes of its file, as loads used to be, is found by them', async () => {
  const file = await bed.file('old.csv', CRLF);
  const first = await load(file);
  const sha256 = createHash('sha256').update(CRLF).digest('hex');
  const columns = [
    ['description', 2],
    ['amount', 1],
    ['client_id', 0],
  ];
  const identity = ['test', bed.front.url, sha256, columns, { decimal: '.', accounting: false }, ''];
  const id = createHash('sha256').update(JSON.stringify(identity)).digest('hex');
  await bed.database.pool.query('update ledger.loads set sha256 = $1, load_id = $2', [sha256, id]);
  const { json } = await load(file);
  expect([json.run, (await bed.orders()).length]).toEqual([first.json.run, 30]);
});

test('results of x.csv and x.csv.gz lie side by side, for their owner only, and follow no link', async () => {
  const out = path.join(bed.dataDir, 'out');
  await mkdir(out);
  const victim = await bed.file('victim', 'as it was');
  await symlink(victim, path.join(out, 'x.created.csv'));
  await load(await bed.file('x.csv', TEXT), '--results', 'out');
  const packed = await load(
    await bed.file('x.csv.gz', gzipSync(TEXT.replaceAll('Grüße', 'Hallo'))),
    '--results',
    'out',
  );
  expect((await readdir(out)).sort()).toEqual(['x.created.csv', 'x.csv.gz.created.csv']);
  expect(await readFile(path.join(out, 'x.created.csv'), 'utf8')).toContain('Grüße');
  expect(await readFile(packed.json.results.created, 'utf8')).toContain('Hallo');
  expect(await readFile(victim, 'utf8')).toBe('as it was');
  await load('x.csv', '--results', 'made/here');
  const modes = ['made', 'made/here', 'made/here/x.created.csv', 'out/x.created.csv'].map(
    async (name) => (await stat(path.join(bed.dataDir, name))).mode & 0o777,
  );
  expect(await Promise.all(modes)).toEqual([0o700, 0o700, 0o600, 0o600]);
});
