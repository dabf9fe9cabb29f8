import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { codeOf } from '../../src/base/errors.ts';
import { requireDataDirectory } from '../../src/cli/data-directory.ts';

const root = mkdtempSync(path.join(os.tmpdir(), 'lockstep-test-'));
afterAll(() => rmSync(root, { recursive: true }));

const DIRECTORIES: readonly (readonly [what: string, names: readonly string[], code: string | undefined])[] = [
  ['an empty directory', [], undefined],
  ['a new file system', ['lost+found/'], undefined],
  ['a data directory', ['postgres/', 'notes.txt'], undefined],
  ['one in which only the demo ran', ['demo-abc/'], undefined],
  ['a directory of something else', ['notes.txt', 'photos/'], 'DATA_FOREIGN'],
];

test.each(DIRECTORIES)('%s', (what, names, code) => {
  const dir = path.join(root, what);
  mkdirSync(dir);
  for (const name of names)
    if (name.endsWith('/')) mkdirSync(path.join(dir, name));
    else writeFileSync(path.join(dir, name), '');
  for (const mayBeNew of [true, false]) expect(refused(dir, mayBeNew)).toBe(code);
});

test('a data directory whose Postgres was moved away, or was never there, gets an empty one only if that is wanted', () => {
  const dir = path.join(root, 'moved');
  for (const name of ['keys', 'postgres.old']) mkdirSync(path.join(dir, name), { recursive: true });
  expect([refused(dir, true), refused(dir, false)]).toEqual([undefined, 'DATA_WITHOUT_POSTGRES']);
});

test('a directory that does not exist is made only by the commands of the service', () => {
  const dir = path.join(root, 'none');
  expect([refused(dir, true), refused(dir, false)]).toEqual([undefined, 'DATA_MISSING']);
});

function refused(dir: string, mayBeNew: boolean): string | undefined {
  try {
    requireDataDirectory(dir, { mayBeNew });
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}
