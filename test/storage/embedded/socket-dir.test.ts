import fs from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { preparePaths } from '../../../src/storage/embedded/paths.ts';
import { makeSocketDir } from '../../../src/storage/embedded/socket-dir.ts';
import { scratch } from './scratch.ts';

const newDir = scratch();
const made: string[] = [];
afterEach(() => {
  for (const dir of made.splice(0)) fs.rmSync(dir, { recursive: true, force: true });
});

test.each([
  ['open to others', (dir: string) => fs.chmodSync(dir, 0o777)],
  ['a link', (dir: string) => replaceBy(dir, () => fs.symlinkSync('/tmp', dir))],
  ['a file', (dir: string) => replaceBy(dir, () => fs.writeFileSync(dir, ''))],
])('does not use a socket directory that another user prepared: %s', async (_, spoil) => {
  const paths = await preparePaths(await newDir(), '18');
  const usual = await makeSocketDir(paths);
  made.push(usual);
  expect(await makeSocketDir(paths)).toBe(usual);
  spoil(usual);
  const other = await makeSocketDir(paths);
  made.push(other);
  expect(other).not.toBe(usual);
  expect(fs.lstatSync(other)).toMatchObject({ mode: 0o40700, uid: fs.statSync(paths.dir).uid });
});

function replaceBy(dir: string, make: () => void): void {
  fs.rmdirSync(dir);
  make();
}
