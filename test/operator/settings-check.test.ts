/** The check of the settings that a process uses, and of their file as it is now. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
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

test('parses the file again only after its text has changed', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'lockstep-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'own.yaml');
  const text = 'accounts: { demo: {} }\nsyncs: { nightly: { type: contacts, account: demo } }\n';
  await writeFile(file, text);
  const settings = await loadSettings({ configFile: file, env: {}, cwd: dir });
  const asked: (string | symbol)[] = [];
  const get = (_: object, name: string | symbol) => {
    asked.push(name);
  };
  const env = new Proxy<Record<string, string>>({}, { get });
  const parses = () => asked.filter((name) => name === 'DATABASE_URL').length; // each parse looks it up once
  const problem = async () => (await checkSettings(settings, env)).problem;
  expect([await problem(), await problem(), parses()]).toEqual([undefined, undefined, 1]);
  await writeFile(file, text.replace('nightly:', 'nightly 7:'));
  expect([await problem(), await problem(), parses()]).toEqual([
    expect.stringContaining('nightly 7'),
    expect.stringContaining('nightly 7'),
    2,
  ]);
  await writeFile(file, text);
  expect(await problem()).toBeUndefined();
});

/** Settings with a sync that watches the folder. */
async function watching() {
  const dir = await mkdtemp(path.join(tmpdir(), 'lockstep-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'own.yaml');
  await writeFile(
    file,
    'accounts: { demo: {} }\nsyncs: { files: { type: orders, account: demo, options: { folder: in } } }\n',
  );
  const settings = await loadSettings({ configFile: file, env: {}, cwd: dir });
  const warnings = async () => (await checkSettings(settings, {})).warnings;
  return { folder: path.join(dir, 'in'), warnings };
}

test('names a folder of order files that is missing or is no folder', async () => {
  const { folder, warnings } = await watching();
  const missing = `The folder ${folder} of syncs.files.options.folder does not exist: create it, or correct the option`;
  expect(await warnings()).toEqual([missing]);
  await writeFile(folder, '');
  expect(await warnings()).toEqual([
    `The folder ${folder} of syncs.files.options.folder is not a folder: name another one`,
  ]);
  await rm(folder);
  await mkdir(folder);
  expect(await warnings()).toEqual([]);
});

test.skipIf(process.getuid?.() === 0)('names a folder of order files in which no file can be moved', async () => {
  const { folder, warnings } = await watching();
  await mkdir(folder, { mode: 0o555 });
  expect(await warnings()).toEqual([
    `The folder ${folder} of syncs.files.options.folder cannot be read and written by this user: give the user of the worker that right`,
  ]);
});
