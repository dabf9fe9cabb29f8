/** What is accepted and refused before any row is read. */
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
])('fingerprints a %s file as stored, and reads it unpacked', async (_, content) => {
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

test('keeps stdin without a name so that it can be read more than once, and a killed process leaves nothing behind', async () => {
  const spoolDir = await freshDir();
  const names: string[] = [];
  const stdin = (async function* () {
    yield Buffer.from(CSV.slice(0, 5));
    names.push(...(await fs.readdir(spoolDir)));
    yield Buffer.from(CSV.slice(5));
  })();
  const file = await receive('-', { spoolDir, stdin });
  expect(file).toMatchObject({ name: 'stdin', sha256: sha256(CSV) });
  for (let i = 0; i < 2; i += 1) expect(Buffer.concat(await collected(file.read())).toString()).toBe(CSV);
  expect([...names, ...(await fs.readdir(spoolDir))]).toEqual([]);
  await file.close();
});

test('reads a named pipe like stdin', async () => {
  const dir = await freshDir();
  const pipe = path.join(dir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [file] = await Promise.all([receive(pipe, { spoolDir: dir }), fs.writeFile(pipe, CSV)]);
  expect(file).toMatchObject({ name: pipe, sha256: sha256(CSV) });
  await file.close();
});

test('reads a pipe that its caller has opened through its handle, and closes it', async () => {
  const dir = await freshDir();
  const pipe = path.join(dir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [handle] = await Promise.all([fs.open(pipe, 'r'), fs.writeFile(pipe, CSV)]);
  const file = await receive(async () => ({ name: 'orders.csv', handle }), { spoolDir: dir });
  expect([file.sha256, handle.fd]).toEqual([sha256(CSV), -1]);
  await file.close();
});

const LITTLE_ENDIAN = Buffer.from(
  Array.from(`\ufeff${CSV}`, (one) => [one.charCodeAt(0) & 0xff, one.charCodeAt(0) >> 8, 0, 0]).flat(),
);
const BIG_ENDIAN = Buffer.from(LITTLE_ENDIAN).swap32();

const REFUSED: readonly (readonly [what: string, content: string | Buffer, code: string, says: RegExp])[] = [
  ['an empty file', '', 'CSV_EMPTY', /is empty/],
  ['gzip of nothing', gzipSync(''), 'CSV_EMPTY', /is empty/],
  ['a workbook', Buffer.from('504b030414000600', 'hex'), 'CSV_BINARY', /workbook.*save/i],
  ['a PDF', '%PDF-1.7 …', 'CSV_BINARY', /a PDF/],
  [
    'bytes that are not text',
    Buffer.from(Array.from({ length: 999 }, (_, i) => (i * 7) % 256)),
    'CSV_BINARY',
    /is binary data, not a CSV/,
  ],
  ...[LITTLE_ENDIAN, BIG_ENDIAN, LITTLE_ENDIAN.subarray(4), BIG_ENDIAN.subarray(4)].map(
    (bytes) => ['a text in UTF-32', bytes, 'CSV_BINARY', /text in UTF-32, not a CSV. Save it as UTF-8\./] as const,
  ),
  ['gzip inside gzip', gzipSync(gzipSync(CSV)), 'CSV_BINARY', /gzip inside gzip.*Unpack it once/],
  ['a gzip that is cut off', gzipSync(CSV.repeat(999)).subarray(0, 60), 'CSV_GZIP_BROKEN', /broken/],
];

test.each(REFUSED)('refuses %s by name, with a remedy', async (_, content, code, says) => {
  await expect(received(content)).rejects.toMatchObject({ code, exitCode: 2, message: expect.stringMatching(says) });
});

test('refuses a directory, a missing file and an impossible name', async () => {
  const spoolDir = await freshDir();
  await expect(receive(spoolDir, { spoolDir })).rejects.toMatchObject({ code: 'CSV_IS_DIRECTORY' });
  await expect(receive(`${spoolDir}/none.csv`, { spoolDir })).rejects.toMatchObject({ code: 'CSV_NOT_FOUND' });
  await expect(receive(`${await fileOf(CSV)}/x`, { spoolDir })).rejects.toMatchObject({ code: 'CSV_UNREADABLE' });
});

test('refuses a file beyond the cap, and an archive that unpacks beyond it', async () => {
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

test('does not read a file again that changed since it was received', async () => {
  const source = await fileOf(CSV);
  const file = await receive(source, { spoolDir: path.dirname(source) });
  await fs.writeFile(source, CSV.replace('7', '8'));
  await expect(collected(file.read())).rejects.toMatchObject({ code: 'CSV_CHANGED' });
  await file.close();
});

test('reads a file that is replaced under its name as it was received', async () => {
  const source = await fileOf(CSV);
  const file = await receive(source, { spoolDir: path.dirname(source) });
  await fs.writeFile(`${source}.new`, CSV.replace('7', '8'));
  await fs.rename(`${source}.new`, source);
  expect(Buffer.concat(await collected(file.read())).toString()).toBe(CSV);
  await file.close();
});

test('notices a file that changes during the second read, even with its old length and time', async () => {
  const source = await fileOf('x'.repeat(300_000));
  const { atime, mtime } = await fs.stat(source);
  await fs.utimes(source, atime, mtime); // to the resolution of utimes
  const file = await receive(source, { spoolDir: path.dirname(source) });
  const reading = file.read();
  await reading.next();
  await fs.writeFile(source, `${'x'.repeat(299_999)}y`);
  await fs.utimes(source, atime, mtime);
  await expect(collected(reading)).rejects.toMatchObject({ code: 'CSV_CHANGED' });
  await file.close();
});

test('refuses a file that takes too long to read', async () => {
  const bomb = gzipSync(Buffer.alloc(9_000_000, '\n'));
  await expect(received(bomb, { limits: { maxReadMs: 0 } })).rejects.toMatchObject({ code: 'CSV_TOO_SLOW' });
});

test('a file that its caller opens is closed, if it cannot be received', async () => {
  const handle = await fs.open(await fileOf(''), 'r');
  const receiving = receive(async () => ({ name: 'orders.csv', handle }), { spoolDir: '/nonexistent' });
  await expect(receiving).rejects.toMatchObject({ code: 'CSV_EMPTY' });
  expect(handle.fd).toBe(-1);
});
