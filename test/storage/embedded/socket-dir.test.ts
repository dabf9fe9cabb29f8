import fs from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { preparePlace } from '../../../src/storage/embedded/place.ts';
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
  const place = await preparePlace(await newDir(), '18');
  const usual = await makeSocketDir(place);
  made.push(usual);
  expect(await makeSocketDir(place)).toBe(usual);
  spoil(usual);
  const other = await makeSocketDir(place);
  made.push(other);
  expect(other).not.toBe(usual);
  expect(fs.lstatSync(other)).toMatchObject({ mode: 0o40700, uid: fs.statSync(place.dir).uid });
});

function replaceBy(dir: string, make: () => void): void {
  fs.rmdirSync(dir);
  make();
}
