import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultSettingsFile, initSettings, loadSettings } from '../../src/settings/load.ts';
import { anError } from '../support/matchers.ts';

const MINIMAL = 'accounts: { demo: {} }\n';
let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'lockstep-settings-'));
});

afterEach(() => rm(cwd, { recursive: true, force: true }));

const failure = (code: string, ...parts: string[]) =>
  expect.objectContaining(anError(code, new RegExp(parts.join('[^]*')), 2));

async function write(path: string, content: string | Uint8Array): Promise<string> {
  await mkdir(join(cwd, path, '..'), { recursive: true });
  await writeFile(join(cwd, path), content);
  return path;
}

test('the named file is read, relative to the working directory', async () => {
  const configFile = await write('my/own.yaml', MINIMAL);
  const settings = await loadSettings({ configFile, env: {}, cwd });
  expect(settings.file).toBe(join(cwd, 'my/own.yaml'));
});

test('without a name ./config/lockstep.yaml is read; without that, the file that comes with Lockstep if allowed', async () => {
  const expected = failure('SETTINGS_MISSING', 'no settings file config/lockstep.yaml in', '--init', 'lockstep demo');
  await expect(loadSettings({ env: {}, cwd })).rejects.toEqual(expected);
  expect((await loadSettings({ orDefault: true, env: {}, cwd })).file).toBe(defaultSettingsFile());
  await write('config/lockstep.yaml', MINIMAL);
  expect((await loadSettings({ env: {}, cwd })).file).toBe(join(cwd, 'config/lockstep.yaml'));
});

test('a broken ./config/lockstep.yaml is an error, not passed over', async () => {
  await write('config/lockstep.yaml', 'accounts: 3\n');
  await expect(loadSettings({ env: {}, cwd })).rejects.toEqual(failure('SETTINGS_INVALID', 'accounts: expected a map'));
});

test('creates the settings file and its schema where they are missing, and keeps a file that is there', async () => {
  const file = join(cwd, 'config/lockstep.yaml');
  expect(await initSettings({ cwd })).toBe(file);
  expect((await loadSettings({ env: {}, cwd })).file).toBe(file);
  expect(await readdir(join(cwd, 'config'))).toEqual(['lockstep.schema.json', 'lockstep.yaml']);
  await write('config/lockstep.yaml', MINIMAL);
  expect(await initSettings({ cwd })).toBe(undefined);
  expect(await readFile(file, 'utf8')).toBe(MINIMAL);
});

test('a named file that is missing is an error with the remedy', async () => {
  const expected = failure('SETTINGS_MISSING', 'No settings file at .*nope.yaml', '--config');
  await expect(loadSettings({ configFile: 'nope.yaml', env: {}, cwd })).rejects.toEqual(expected);
  await expect(loadSettings({ configFile: 'nope/x.yaml', env: {}, cwd })).rejects.toEqual(failure('SETTINGS_MISSING'));
});

test('a directory as settings file is an error with the remedy', async () => {
  await mkdir(join(cwd, 'config/lockstep.yaml'), { recursive: true });
  const expected = failure('SETTINGS_MISSING', 'is a directory: name the settings file in it');
  await expect(loadSettings({ env: {}, cwd })).rejects.toEqual(expected);
  await expect(loadSettings({ configFile: 'config', env: {}, cwd })).rejects.toEqual(expected);
});

test('an invalid file is one readable message with every problem on its own line', async () => {
  const configFile = await write('bad.yaml', 'accounts:\n  demo:\n    prefx: auto\n    budget: 5\n');
  await expect(loadSettings({ configFile, env: {}, cwd })).rejects.toMatchObject({
    code: 'SETTINGS_INVALID',
    exitCode: 2,
    message: `The settings have 2 problems:
  bad.yaml:3:5 accounts.demo.prefx: unknown key; did you mean "prefix"?
  bad.yaml:4:13 accounts.demo.budget: expected a map such as { requests: 20, per: 1s }, got the number 5`,
  });
});

test.each([
  ['no UTF-8', new Uint8Array([0x61, 0xff, 0xfe]), 'is not UTF-8 text'],
  ['a megabyte and more', 'a'.repeat(1024 * 1024 + 1), 'is longer than 1 MiB'],
])('a file of %s is refused', async (_, content, message) => {
  const configFile = await write('odd.yaml', content);
  await expect(loadSettings({ configFile, env: {}, cwd })).rejects.toEqual(failure('SETTINGS_INVALID', message));
});

test('DATABASE_URL and REDIS_URL override the file, and empty ones count as unset', async () => {
  const configFile = await write(
    'a.yaml',
    `${MINIMAL}database: { url: postgres://file/d }\nredis: { url: redis://file }\n`,
  );
  const urlsWith = async (env: Record<string, string>) => {
    const { database, redis } = await loadSettings({ configFile, env, cwd });
    return [database.url?.reveal(), redis.url?.reveal()];
  };
  expect(await urlsWith({})).toEqual(['postgres://file/d', 'redis://file']);
  expect(await urlsWith({ DATABASE_URL: '', REDIS_URL: ' ' })).toEqual(['postgres://file/d', 'redis://file']);
  expect(await urlsWith({ DATABASE_URL: 'postgres://env/d', REDIS_URL: 'rediss://env' })).toEqual([
    'postgres://env/d',
    'rediss://env',
  ]);
  expect(await urlsWith({ DATABASE_URL: 'embedded', REDIS_URL: 'none' })).toEqual([undefined, undefined]);
});
