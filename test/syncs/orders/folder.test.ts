/** Opening files that other processes may replace at any moment. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { makeRealFolder, openFolder, openRealFolder } from '../../../src/base/open-folder.ts';
import { openSeen, see } from '../../../src/syncs/orders/folder.ts';
import { TakenFiles } from '../../../src/syncs/orders/taken-files.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-swap-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
});

const swaps: readonly (readonly [string, (file: string) => unknown, code: string])[] = [
  ['a link', (file) => symlink('/etc/passwd', file), 'CSV_UNREADABLE'],
  ['a pipe that has no writer', (file) => execFileSync('mkfifo', [file]), 'CSV_CHANGED'],
  ['another file', (file) => writeFile(file, 'b'), 'CSV_CHANGED'],
  ['nothing', () => {}, 'CSV_UNREADABLE'],
];

test.each(swaps)('does not open a file that became %s since it was seen', async (_what, put, code) => {
  const file = path.join(dir, 'x.csv');
  await writeFile(file, 'a');
  const seen = await see(file, 'x.csv');
  await rename(file, `${file}.before`); // its inode stays in use
  await put(file);
  await expect(openSeen(file, seen ?? { name: '', version: '' })).rejects.toMatchObject({ code });
});

test('writes to a folder at its new path when it is replaced by a link while open', async () => {
  const [real, elsewhere] = [path.join(dir, 'real'), path.join(dir, 'elsewhere')];
  for (const made of [real, elsewhere]) await mkdir(made);
  const folder = await openRealFolder(real);
  const inner = await makeRealFolder('inner', folder);
  await rename(real, `${real}-moved`);
  await symlink(elsewhere, real);
  const write = async () => writeFile(inner.at('x'), '');
  const written = await write().then(
    () => 'written',
    () => 'refused',
  );
  await Promise.all([inner.close(), folder.close()]);
  expect(await readdir(elsewhere)).toEqual([]);
  expect([written, await readdir(`${real}-moved/inner`)]).toEqual(
    process.platform === 'linux' ? ['written', ['x']] : ['refused', []],
  );
});

test('an error about a folder names the folder, not the handle through which it is open', async () => {
  const gone = path.join(dir, 'gone');
  await mkdir(gone);
  const folder = await openFolder(gone);
  await rm(gone, { recursive: true });
  const taken = new TakenFiles(folder, 'run-1').take('file-1', { entry: 'x.csv', name: 'x.csv' });
  await expect(taken).rejects.toMatchObject({
    code: 'FOLDER_UNWRITABLE',
    message: `Files cannot be moved within ${gone}: ENOENT: no such file or directory. Give the worker's user the right to write there.`,
  });
  await folder.close();
});
