/** What is taken in and what is refused, before anybody looks at a row. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { receive } from '../../src/csv/receive.ts';
import { collected, fileOf, freshDir, received } from './files.ts';

const CSV = 'order_id,client_id\nA-1,7\n';
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

test.each([
  ['plain', Buffer.from(CSV)],
  ['gzip', gzipSync(CSV)],
  ['gzip in two members', Buffer.concat([gzipSync(CSV.slice(0, 9)), gzipSync(CSV.slice(9))])],
])('a %s file is fingerprinted as it lies there, and read unpacked', async (_, content) => {
  const file = await received(content);
  expect(file).toMatchObject({
    sizeBytes: content.length,
    unpackedBytes: CSV.length,
    sha256: sha256(content),
    isUtf8: true,
  });
  expect(Buffer.concat(await collected(file.read())).toString()).toBe(CSV);
  expect(file.sample.toString()).toBe(CSV);
});

test('stdin is kept privately to be read more than once, and removed at the end', async () => {
  const spoolDir = await freshDir();
  const stdin = (async function* () {
    yield Buffer.from(CSV.slice(0, 5));
    yield Buffer.from(CSV.slice(5));
  })();
  const file = await receive('-', { spoolDir, stdin });
  expect(file).toMatchObject({ name: 'stdin', sha256: sha256(CSV) });
  for (let i = 0; i < 2; i += 1) expect(Buffer.concat(await collected(file.read())).toString()).toBe(CSV);
  const [kept = ''] = await fs.readdir(spoolDir);
  expect((await fs.stat(path.join(spoolDir, kept))).mode & 0o077).toBe(0);
  await file.close();
  expect(await fs.readdir(spoolDir)).toEqual([]);
});

test('a named pipe is read like stdin', async () => {
  const dir = await freshDir();
  const pipe = path.join(dir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [file] = await Promise.all([receive(pipe, { spoolDir: dir }), fs.writeFile(pipe, CSV)]);
  expect(file).toMatchObject({ name: pipe, sha256: sha256(CSV) });
  await file.close();
});

const REFUSED: readonly (readonly [what: string, content: string | Buffer, code: string, says: RegExp])[] = [
  ['an empty file', '', 'CSV_EMPTY', /is empty/],
  ['gzip of nothing', gzipSync(''), 'CSV_EMPTY', /is empty/],
  ['a workbook', Buffer.from('504b030414000600', 'hex'), 'CSV_BINARY', /workbook.*save/i],
  ['a PDF', '%PDF-1.7 …', 'CSV_BINARY', /a PDF/],
  [
    'bytes that are no text',
    Buffer.from(Array.from({ length: 999 }, (_, i) => (i * 7) % 256)),
    'CSV_BINARY',
    /no text/,
  ],
  ['gzip inside gzip', gzipSync(gzipSync(CSV)), 'CSV_BINARY', /gzip inside gzip.*Unpack it once/],
  ['a gzip that is cut off', gzipSync(CSV.repeat(999)).subarray(0, 60), 'CSV_GZIP_BROKEN', /broken/],
];

test.each(REFUSED)('%s is refused by name, with a remedy', async (_, content, code, says) => {
  await expect(received(content)).rejects.toMatchObject({ code, exitCode: 2, message: expect.stringMatching(says) });
});

test('a directory, a file that is missing and a name that cannot be are refused', async () => {
  const spoolDir = await freshDir();
  await expect(receive(spoolDir, { spoolDir })).rejects.toMatchObject({ code: 'CSV_IS_DIRECTORY' });
  await expect(receive(`${spoolDir}/none.csv`, { spoolDir })).rejects.toMatchObject({ code: 'CSV_NOT_FOUND' });
  await expect(receive(`${await fileOf(CSV)}/x`, { spoolDir })).rejects.toMatchObject({ code: 'CSV_UNREADABLE' });
});

test('a file beyond the cap is refused, and so is an archive that unpacks beyond it', async () => {
  await expect(received(CSV, { limits: { maxBytes: 9 } })).rejects.toMatchObject({ code: 'CSV_TOO_LARGE' });
  const bomb = gzipSync(Buffer.alloc(9_000_000, 'a'));
  expect(bomb.length).toBeLessThan(20_000);
  await expect(received(bomb, { limits: { maxUnpackedBytes: 1_000_000 } })).rejects.toMatchObject({
    code: 'CSV_TOO_LARGE',
  });
});

test('stdin without end stops at the cap and leaves nothing behind', async () => {
  const spoolDir = await freshDir();
  const endless = (async function* () {
    for (;;) yield Buffer.alloc(10_000, 'a');
  })();
  const receiving = receive('-', { spoolDir, stdin: endless, limits: { maxBytes: 100_000 } });
  await expect(receiving).rejects.toMatchObject({ code: 'CSV_TOO_LARGE' });
  expect(await fs.readdir(spoolDir)).toEqual([]);
});

test('a file that was changed since it was received is not read again', async () => {
  const source = await fileOf(CSV);
  const file = await receive(source, { spoolDir: path.dirname(source) });
  await fs.writeFile(source, CSV.replace('7', '8'));
  await expect(collected(file.read())).rejects.toMatchObject({ code: 'CSV_CHANGED' });
  await file.close();
});

test('a file that is replaced under its name is read as it was received', async () => {
  const source = await fileOf(CSV);
  const file = await receive(source, { spoolDir: path.dirname(source) });
  await fs.writeFile(`${source}.new`, CSV.replace('7', '8'));
  await fs.rename(`${source}.new`, source);
  expect(Buffer.concat(await collected(file.read())).toString()).toBe(CSV);
  await file.close();
});

test('a file that changes while it is read again is noticed, even with its length and time as before', async () => {
  const source = await fileOf('x'.repeat(300_000));
  const { atime, mtime } = await fs.stat(source);
  await fs.utimes(source, atime, mtime); // to the resolution that utimes has
  const file = await receive(source, { spoolDir: path.dirname(source) });
  const reading = file.read();
  await reading.next();
  await fs.writeFile(source, `${'x'.repeat(299_999)}y`);
  await fs.utimes(source, atime, mtime);
  await expect(collected(reading)).rejects.toMatchObject({ code: 'CSV_CHANGED' });
  await file.close();
});

test('a file that takes too long to read is refused', async () => {
  const bomb = gzipSync(Buffer.alloc(9_000_000, '\n'));
  await expect(received(bomb, { limits: { maxReadMs: 0 } })).rejects.toMatchObject({ code: 'CSV_TOO_SLOW' });
});
