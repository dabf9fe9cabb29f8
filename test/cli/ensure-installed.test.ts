import { mkdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
// @ts-expect-error: plain JavaScript, because it runs before anything is installed
import { nodeProblem, whyInstall } from '../../.ci/ensure-installed.mjs';
import { scratchFolders } from './command.ts';

const folder = scratchFolders();

test.each([
  ['18.20.1', false],
  ['20.18.3', false],
  ['20.19.0', true],
  ['22.1.0', true],
  ['24.0.0', true],
])('Node %s is supported: %s', (version, isGood) => {
  expect(nodeProblem(version) === undefined).toBe(isGood);
});

test.each([
  ['nothing is installed', undefined, /nothing is installed/],
  ['the lockfile is newer', 1_000, /newer/],
  ['what is installed is as new', 3_000, undefined],
])('with %s it says whether to install', async (_, installedAt, why) => {
  const dir = await folder();
  await writeFileAt(path.join(dir, 'package-lock.json'), 2_000);
  if (installedAt) await writeFileAt(path.join(dir, 'node_modules/.package-lock.json'), installedAt);
  expect(whyInstall(dir)).toEqual(why === undefined ? undefined : expect.stringMatching(why));
});

async function writeFileAt(file: string, at: number): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, '{}');
  await utimes(file, at, at);
}
