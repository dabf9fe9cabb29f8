import { mkdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
// @ts-expect-error: plain JavaScript, like everything the installed command starts with
import { isBuilt } from '../../src/cli/bin/is-built.mjs';
import { scratchFolders } from './command.ts';

const folder = scratchFolders();
const BUILT_AT = 2_000;
const SOURCE = 'src/cli/main.ts';

test('a folder without a build is not built', async () => {
  const root = await folder();
  await writeFileAt(path.join(root, SOURCE), BUILT_AT);
  expect(isBuilt(root)).toBe(false);
});

test('a package without sources is built', async () => {
  const root = await folder();
  await writeFileAt(path.join(root, 'dist/main.js'), BUILT_AT);
  expect(isBuilt(root)).toBe(true);
});

test.each([
  ['an older source', 1_000, 1_000, true],
  ['a newer source', 3_000, 1_000, false],
  ['a folder from which a source was removed since', 1_000, 3_000, false],
])('with %s it says whether the build matches the sources', async (_, sourceAt, folderAt, expected) => {
  const root = await folder();
  await writeFileAt(path.join(root, 'dist/main.js'), BUILT_AT);
  await writeFileAt(path.join(root, SOURCE), sourceAt);
  await utimes(path.join(root, 'src/cli'), folderAt, folderAt);
  await utimes(path.join(root, 'src'), 1_000, 1_000);
  expect(isBuilt(root)).toBe(expected);
});

async function writeFileAt(file: string, at: number): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, '');
  await utimes(file, at, at);
}
