import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { rememberRuns } from '../../src/cli/recent-runs.ts';
import { command, scratchFolders } from './command.ts';

const SETTINGS = `
accounts: { acme: {}, branch: {} }
syncs: { nightly: { type: contacts, account: acme } }
targets: { our-table: { type: postgres, url: { env: TABLE_URL } } }
`;

const folder = scratchFolders();

async function words(given: readonly string[], folderOf?: string): Promise<readonly string[]> {
  const cwd = folderOf ?? (await folder());
  await writeFile(path.join(cwd, 's.yaml'), SETTINGS);
  const { code, stdout } = await command(['completion', 'words', '--config', 's.yaml', '--', ...given], { cwd });
  expect(code).toBe(0);
  return stdout.split('\n').filter((word) => word !== '');
}

test('completes commands, subcommands and options', async () => {
  expect(await words([''])).toEqual(expect.arrayContaining(['run', 'runs', 'doctor', 'completion']));
  expect(await words(['runs', ''])).toEqual(expect.arrayContaining(['show', 'cancel', 'export']));
  expect(await words(['runs', '--'])).toEqual(expect.arrayContaining(['--status', '--since', '--config', '--help']));
  expect(await words(['runs', '--status', ''])).toContain('interrupted');
});

test('completes names of the settings where one is expected', async () => {
  expect(await words(['run', ''])).toContain('nightly');
  expect(await words(['doctor', '--account', ''])).toEqual(['acme', 'branch']);
  expect(await words(['orders', 'load', 'file.csv', '--account', 'b'])).toEqual(['acme', 'branch']);
});

test.each([
  [['syncs', 'pause', ''], 'nightly'],
  [['accounts', 'resume', 'a'], 'acme'],
  [['targets', 'check', ''], 'our-table'],
  [['deliveries', '--verdict', 'dead', 'enable', ''], 'our-table'],
  [['call', ''], 'contacts.create'],
  [['--data', 'elsewhere', 'runs', 'show', ''], 'run-1'],
  [['runs', 'export', 'run-1', '--data', 'elsewhere', '--out', ''], undefined],
])('completes %j with %s', async (given, name) => {
  const cwd = await folder();
  await mkdir(path.join(cwd, 'elsewhere'));
  await rememberRuns(path.join(cwd, 'elsewhere'), ['run-1']);
  expect((await words(given, cwd))[0]).toBe(name);
});

test('completes names of the settings that the line names', async () => {
  const cwd = await folder();
  await writeFile(path.join(cwd, 'other.yaml'), 'accounts: { other: {} }');
  expect(await words(['--config', 'other.yaml', 'doctor', '--account', ''], cwd)).toEqual(['other']);
});

test('completes the newest runs first', async () => {
  const cwd = await folder();
  await rememberRuns(cwd, ['run-2', 'run-1']);
  await rememberRuns(cwd, ['run-3', 'run-1']);
  expect(await words(['--data', cwd, 'runs', 'cancel', ''], cwd)).toEqual(['run-3', 'run-1', 'run-2']);
});

test.each(['bash', 'zsh', 'fish'])('prints a script for %s', async (shell) => {
  const { code, stdout } = await command(['completion', shell], { cwd: await folder() });
  expect([code, stdout]).toEqual([0, expect.stringContaining('lockstep completion words -- ')]);
  if (shell === 'bash') execFileSync('bash', ['-n', '-c', stdout]);
});
