/**
 * Removes one protection at a time from a copy of the repository, and runs the test that has to notice it (mutants.ts).
 *   npm run mutants [-- PART_OF_A_FILE_NAME]
 * Ends with 1 if a test noticed nothing, and with 2 if a protection was not found in the source any more, or if a test fails
 * with every protection in place.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { MUTANTS, type Mutant } from './mutants.ts';

type Result = 'noticed' | 'NOT NOTICED' | 'NOT FOUND';

const root = path.join(import.meta.dirname, '../..');
const [, , wanted = ''] = process.argv;
const chosen = MUTANTS.filter(({ file }) => file.includes(wanted));
if (chosen.length === 0) {
  const files = [...new Set(MUTANTS.map(({ file }) => file))].join(', ');
  process.stderr.write(`No protection is in a file with "${wanted}" in its name. The files are: ${files}\n`);
  process.exit(2);
}
const copy = await mkdtemp(path.join(os.tmpdir(), 'lockstep-mutants-'));
try {
  await copyRepository();
  const unchanged = run([...new Set(chosen.map(({ test }) => test))]);
  if (!unchanged.isGreen) process.stdout.write(`${unchanged.output}\nA test fails with every protection in place.\n`);
  process.exitCode = unchanged.isGreen ? await tryAll() : 2;
} finally {
  await rm(copy, { recursive: true, force: true });
}

async function tryAll(): Promise<number> {
  const results: Result[] = [];
  for (const mutant of chosen) {
    const result = await tryOut(mutant);
    results.push(result);
    process.stdout.write(`${result.padEnd(12)} without ${mutant.removes} (${mutant.file}): ${mutant.test}\n`);
  }
  const count = results.filter((result) => result === 'noticed').length;
  process.stdout.write(`${count} of ${results.length} noticed\n`);
  return results.includes('NOT FOUND') ? 2 : Number(count < results.length);
}

async function copyRepository(): Promise<void> {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  for (const file of files) await cp(path.join(root, file), path.join(copy, file));
  await symlink(path.join(root, 'node_modules'), path.join(copy, 'node_modules'), 'dir');
}

async function tryOut({ file, from, to, test }: Mutant): Promise<Result> {
  const source = path.join(copy, file);
  const text = await readFile(source, 'utf8');
  if (text.split(from).length !== 2) return 'NOT FOUND';
  await writeFile(
    source,
    text.replace(from, () => to),
  );
  const { isGreen } = run([test]);
  await writeFile(source, text);
  return isGreen ? 'NOT NOTICED' : 'noticed';
}

function run(tests: readonly string[]): { readonly isGreen: boolean; readonly output: string } {
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  const { status, stdout } = spawnSync(process.execPath, [vitest, 'run', '--bail=1', ...tests], { cwd: copy });
  return { isGreen: status === 0, output: stdout.toString() };
}
