import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeDirectory } from '../../src/base/make-directory.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-directory-'));
});
afterEach(() => rm(dir, { recursive: true }));

test('creates a directory and its parents; again and from several callers at once', async () => {
  const deep = path.join(dir, 'a', 'b', 'c');
  await Promise.all([makeDirectory(deep), makeDirectory(deep), makeDirectory(deep)]);
  await makeDirectory(deep);
  expect((await stat(deep)).isDirectory()).toBe(true);
});

test('fails without waiting where no directory can be created', async () => {
  await expect(makeDirectory('/proc/no-such-directory/below')).rejects.toThrow(/ENOENT|EROFS|EACCES/);
});

test('fails where a file has the path', async () => {
  await writeFile(path.join(dir, 'file'), '');
  await expect(makeDirectory(path.join(dir, 'file'))).rejects.toThrow('EEXIST');
  await expect(makeDirectory(path.join(dir, 'file', 'below'))).rejects.toThrow('ENOTDIR');
});
