import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeDirectory } from '../src/make-directory.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-directory-'));
});
afterEach(() => rm(dir, { recursive: true }));

test('a directory is made with those above it, and again, and by several at once', async () => {
  const deep = path.join(dir, 'a', 'b', 'c');
  await Promise.all([makeDirectory(deep), makeDirectory(deep), makeDirectory(deep)]);
  await makeDirectory(deep);
  expect((await stat(deep)).isDirectory()).toBe(true);
});

test('a place that takes no directories is an error, not a wait', async () => {
  await expect(makeDirectory('/proc/no-such-directory/below')).rejects.toThrow(/ENOENT|EROFS|EACCES/);
});

test('a file in the way is an error', async () => {
  await writeFile(path.join(dir, 'file'), '');
  await expect(makeDirectory(path.join(dir, 'file'))).rejects.toThrow('EEXIST');
  await expect(makeDirectory(path.join(dir, 'file', 'below'))).rejects.toThrow('ENOTDIR');
});
