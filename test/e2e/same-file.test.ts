/** One file of orders in different packings is one load, and its output overwrites nothing of another file. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { openCommandHarness } from './commands.ts';

const ACCOUNT = ['--account', 'test'];
/** 30 rows without an order_id: loaded again, each would be another order. */
const ROWS = Array.from({ length: 30 }, (_, n) => `${(n % 3) + 1},${n}.5,Grüße ${n}`);
const TEXT = `client_id,amount,description\n${ROWS.join('\n')}\n`;
const CRLF = TEXT.replaceAll('\n', '\r\n');

const harness = await openCommandHarness({
  account: 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 200ms }',
});
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

const load = (file: string, ...more: readonly string[]) => harness.here('orders', 'load', file, ...ACCOUNT, ...more);

test('recognises a file by its content: packed, packed again, with other line ends or another encoding, it is loaded once', async () => {
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
    const { code, json } = await load(await harness.file(name, content));
    expect([name, code, json.counts.created]).toEqual([name, 0, 30]);
    runs.add(json.run);
  }
  expect([runs.size, (await harness.orders()).length]).toEqual([1, 30]);
});

test('a file whose rows differ is another load; --again looks at each row without creating it twice', async () => {
  await load(await harness.file('one.csv', TEXT));
  const other = await load(await harness.file('two.csv', TEXT.replaceAll('Grüße', 'Hallo')));
  expect(other.json.counts).toMatchObject({ created: 30 });
  const again = await load(await harness.file('one.csv.gz', gzipSync(CRLF)), '--again');
  expect([again.json.counts.existing, (await harness.orders()).length]).toEqual([30, 60]);
});

test('a file with the same rows in another form waits for a person, also with --yes; only its own plan is approved', async () => {
  await load(await harness.file('one.csv', TEXT));
  const { code, json } = await load(await harness.file('saved.csv', TEXT.replaceAll(',', ';')), '--yes');
  expect([code, json.state, json.counts.in]).toEqual([3, 'awaiting-approval', 30]);
  const stale = await harness.here('runs', 'resume', json.run, '--plan', '00000000');
  expect([stale.code, stale.json.error.code]).toEqual([3, 'PLAN_REPLACED']);
  expect(await harness.orders()).toHaveLength(30);
  const approved = await harness.here('runs', 'resume', json.run, '--plan', json.plan);
  expect([approved.code, approved.json.counts.created]).toEqual([0, 30]);
});

test('a file that was saved again with another row says how many rows were loaded before, and waits for a person', async () => {
  const first = await load(await harness.file('one.csv', TEXT));
  const { code, json, stderr } = await load(await harness.file('one.csv', `${TEXT}1,99.5,neu\n`), '--yes');
  expect([code, json.state]).toEqual([3, 'awaiting-approval']);
  expect(stderr).toContain(
    `30 of 31 rows without an order_id have the same content as rows that run ${first.json.run} loaded`,
  );
  expect(await harness.orders()).toHaveLength(30);
});

test('a few rows that say the same as rows of another file are noted, and most rows of it ask a person', async () => {
  await load(await harness.file('one.csv', TEXT));
  const others = Array.from({ length: 70 }, (_, n) => `2,${n}.25,later ${n}\n`).join('');
  const few = await load(await harness.file('few.csv', `${TEXT.split('\n').slice(0, 6).join('\n')}\n${others}`));
  expect([few.code, few.json.counts.created]).toEqual([0, 75]);
  const noted = await harness.database.pool.query('select notes from ledger.runs where id = $1', [few.json.run]);
  expect(noted.rows[0].notes.join()).toContain('5 of 75 rows without an order_id have the same');
  const grown = await load(await harness.file('grown.csv', `${TEXT}${others.replaceAll('later', 'new')}`), '--yes');
  expect([grown.json.state, grown.json.counts.in]).toEqual(['awaiting-approval', 100]);
});

test('finds a load that is known by the bytes of its file, as in earlier versions', async () => {
  const file = await harness.file('old.csv', CRLF);
  const first = await load(file);
  const sha256 = createHash('sha256').update(CRLF).digest('hex');
  const columns = [
    ['description', 2],
    ['amount', 1],
    ['client_id', 0],
  ];
  const identity = ['test', harness.front.url, sha256, columns, { decimal: '.', accounting: false }, ''];
  const id = createHash('sha256').update(JSON.stringify(identity)).digest('hex');
  await harness.database.pool.query('update ledger.loads set sha256 = $1, load_id = $2', [sha256, id]);
  const { json } = await load(file);
  expect([json.run, (await harness.orders()).length]).toEqual([first.json.run, 30]);
});

test('writes results of x.csv and x.csv.gz side by side, for their owner only, and follows no link', async () => {
  const out = path.join(harness.dataDir, 'out');
  await mkdir(out);
  const victim = await harness.file('victim', 'as it was');
  await symlink(victim, path.join(out, 'x.created.csv'));
  await load(await harness.file('x.csv', TEXT), '--results', 'out');
  const packed = await load(
    await harness.file('x.csv.gz', gzipSync(TEXT.replaceAll('Grüße', 'Hallo'))),
    '--results',
    'out',
  );
  expect((await readdir(out)).sort()).toEqual([
    ...['x.created.csv', 'x.csv.gz.created.csv', 'x.csv.gz.results.csv', 'x.results.csv'],
  ]);
  expect(await readFile(path.join(out, 'x.created.csv'), 'utf8')).toContain('Grüße');
  expect(await readFile(packed.json.results.created, 'utf8')).toContain('Hallo');
  expect(await readFile(victim, 'utf8')).toBe('as it was');
  await load('x.csv', '--results', 'made/here');
  const modes = ['made', 'made/here', 'made/here/x.created.csv', 'out/x.created.csv'].map(
    async (name) => (await stat(path.join(harness.dataDir, name))).mode & 0o777,
  );
  expect(await Promise.all(modes)).toEqual([0o700, 0o700, 0o600, 0o600]);
});
