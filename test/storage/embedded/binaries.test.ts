import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { findPackage, installBinaries } from '../../../src/storage/embedded/binaries.ts';
import { scratch } from './scratch.ts';

const newDir = scratch();
const us = {};

test('several processes at once make one complete copy and leave no partial files', async () => {
  const cache = await newDir();
  const from = await findPackage();
  const copies = await Promise.all(Array.from({ length: 4 }, () => installBinaries(from, us, [cache])));
  expect(new Set(copies).size).toBe(1);
  expect(fs.readdirSync(cache)).toEqual([from.name]);
  expect(execFileSync(path.join(copies[0] ?? '', 'bin/initdb'), ['--version'], { encoding: 'utf8' })).toContain(' 18');
});

test('replaces a truncated copy', async () => {
  const cache = await newDir();
  const from = await findPackage();
  fs.mkdirSync(path.join(cache, from.name, 'bin'), { recursive: true });
  fs.writeFileSync(path.join(cache, from.name, 'bin/postgres'), 'half a prog');
  const dir = await installBinaries(from, us, [cache]);
  expect(execFileSync(path.join(dir, 'bin/postgres'), ['--version'], { encoding: 'utf8' })).toContain(' 18');
  expect(fs.readdirSync(cache)).toEqual([from.name]);
});

test('skips a cache that cannot be made and uses the next one', async () => {
  const [blocked, cache] = [path.join(await newDir(), 'file'), await newDir()];
  fs.writeFileSync(blocked, '');
  const from = await findPackage();
  expect(await installBinaries(from, us, [path.join(blocked, 'cache'), cache])).toBe(path.join(cache, from.name));
});

test('gives the reasons when no directory allows a copy', async () => {
  const blocked = path.join(await newDir(), 'file');
  fs.writeFileSync(blocked, '');
  await expect(installBinaries(await findPackage(), us, [blocked])).rejects.toMatchObject({
    code: 'EMBEDDED_NO_BINARIES',
    message: expect.stringMatching('EEXIST'),
  });
});

if (process.geteuid?.() === 0) {
  test('does not trust a cache that belongs to another user', async () => {
    const [theirs, cache] = [await newDir({ uid: 65534 }), await newDir()];
    const from = await findPackage();
    expect(await installBinaries(from, us, [theirs, cache])).toBe(path.join(cache, from.name));
    expect(fs.readdirSync(theirs)).toEqual([]);
  });
}
