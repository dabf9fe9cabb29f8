import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { command, scratchFolders } from './command.ts';

const SETTINGS = `
accounts: { acme: {}, branch: {} }
syncs: { nightly: { type: contacts, account: acme } }
`;

const folder = scratchFolders();

async function words(...given: readonly string[]): Promise<readonly string[]> {
  const cwd = await folder();
  await writeFile(path.join(cwd, 's.yaml'), SETTINGS);
  const { code, stdout } = await command(['completion', 'words', '--config', 's.yaml', '--', ...given], { cwd });
  expect(code).toBe(0);
  return stdout.split('\n').filter((word) => word !== '');
}

test('completes commands, subcommands and options', async () => {
  expect(await words('')).toEqual(expect.arrayContaining(['run', 'runs', 'doctor', 'completion']));
  expect(await words('runs', '')).toEqual(expect.arrayContaining(['show', 'cancel', 'export']));
  expect(await words('runs', '--')).toEqual(expect.arrayContaining(['--status', '--since', '--config', '--help']));
  expect(await words('runs', '--status', '')).toContain('interrupted');
});

test('completes names of the settings where one is expected', async () => {
  expect(await words('run', '')).toContain('nightly');
  expect(await words('doctor', '--account', '')).toEqual(['acme', 'branch']);
  expect(await words('orders', 'load', 'file.csv', '--account', 'b')).toEqual(['acme', 'branch']);
});

test.each(['bash', 'zsh', 'fish'])('prints a script for %s', async (shell) => {
  const { code, stdout } = await command(['completion', shell], { cwd: await folder() });
  expect([code, stdout]).toEqual([0, expect.stringContaining('lockstep completion words -- ')]);
  if (shell === 'bash') execFileSync('bash', ['-n', '-c', stdout]);
});
