/** The check of the settings that a process uses, and of their file as it is now. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { checkSettings } from '../../src/operator/settings-check.ts';
import { loadSettings } from '../../src/settings/load.ts';

test('names unreadable secrets, and problems of the file since it was read', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'lockstep-'));
  const file = path.join(dir, 'own.yaml');
  await writeFile(file, 'accounts: { acme: { url: "https://sales.example", apiKey: { env: KEY } } }\n');
  const settings = await loadSettings({ configFile: file, env: {}, cwd: dir });
  const before = await checkSettings(settings, {});
  expect(before).toEqual({ problem: undefined, warnings: [expect.stringContaining('KEY')] });
  expect((await checkSettings(settings, { KEY: 'k' })).warnings).toEqual([]);
  await writeFile(file, 'accounts: { acme: { nonsense: 1 } }\n');
  expect((await checkSettings(settings, {})).problem).toContain('nonsense');
  await rm(dir, { recursive: true });
  expect((await checkSettings(settings, {})).problem).toContain('own.yaml');
});
