import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { isPassword } from '../../src/console/access/passwords.ts';
import { command, scratchFolders } from './command.ts';

const folder = scratchFolders();

async function folderWith(settings: string): Promise<string> {
  const cwd = await folder();
  await writeFile(path.join(cwd, 's.yaml'), settings);
  return cwd;
}

const WITH_SECRET = 'accounts: { acme: { url: "https://sales.example.com", apiKey: "the-secret-key" } }';

test('lists all misspelt settings at once, with file, line and column', async () => {
  const cwd = await folderWith('acounts: {}\naccounts:\n  a: { budget: { requests: 0, per: 10 } }\n');
  const { code, stderr } = await command(['settings', 'check', '--config', 's.yaml'], { cwd });
  expect(code).toBe(2);
  for (const said of ['s.yaml:1:1 acounts', 's.yaml:3:28 ', 's.yaml:3:36 ']) expect(stderr).toContain(said);
});

test('summarizes valid settings, with warnings about risky values', async () => {
  const cwd = await folderWith(`${WITH_SECRET}\nconsole: { listen: 0.0.0.0:4000 }`);
  const { code, json } = await command(['settings', 'check', '--config', 's.yaml', '--json'], { cwd });
  expect([code, json.valid, json.accounts]).toEqual([0, true, ['acme']]);
  expect(json.warnings).toEqual([
    expect.stringContaining('the secret is in the settings file'),
    expect.stringContaining('console.listen: other machines can reach "0.0.0.0" and the console has no password'),
  ]);
});

test('calls the channels for alerts that, not alerts', async () => {
  const cwd = await folderWith('accounts: { demo: {} }');
  const { stdout } = await command(['settings', 'check', '--config', 's.yaml'], { cwd });
  expect(stdout).toMatch(/has no problems: 1 account, 0 syncs, 0 targets, 0 channels for alerts\.\n$/);
});

test('says a warning once, also if it tests the mappings', async () => {
  const cwd = await folderWith(WITH_SECRET);
  const { stdout, stderr } = await command(['settings', 'check', '--live', '--init', '--config', 's.yaml'], { cwd });
  expect(`${stdout}${stderr}`.match(/the secret is in the settings file/g)).toHaveLength(1);
});

test('warns about an unreadable secret of a target of any type', async () => {
  const targets = `gh: { type: github, token: { env: NO_TOKEN } }
  hook: { type: webhook, url: https://h.example, secret: { env: NO_SECRET }, previousSecret: { env: NO_OLD } }`;
  const cwd = await folderWith(`accounts: { demo: {} }\ntargets:\n  ${targets}\n`);
  const { json } = await command(['settings', 'check', '--config', 's.yaml', '--json'], { cwd });
  expect(json.warnings).toEqual(
    ['gh.token', 'hook.secret', 'hook.previousSecret'].map((key) =>
      expect.stringContaining(`targets.${key} is missing`),
    ),
  );
});

test('warns about a signing secret that is too short', async () => {
  const hook = 'hook: { type: webhook, url: https://h.example, secret: { env: SHORT } }';
  const cwd = await folderWith(`accounts: { demo: {} }\ntargets: { ${hook} }`);
  const checked = await command(['settings', 'check', '--config', 's.yaml', '--json'], { cwd, env: { SHORT: 'abc' } });
  expect(checked.json.warnings).toEqual([
    expect.stringContaining('The signing secret of targets.hook.secret has 3 bytes, but needs at least 24'),
  ]);
});

test('says that a token of Jira needs an email, also if there is no token', async () => {
  const cwd = await folderWith('targets: { j: { type: jira, url: https://j.example } }');
  const { code, stderr } = await command(['settings', 'check', '--config', 's.yaml'], { cwd });
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('targets.j: expected exactly one of token (with email), oauthClient'),
  ]);
});

test('prints settings as YAML or JSON without their secrets', async () => {
  const cwd = await folderWith(WITH_SECRET);
  const yaml = await command(['--config', 's.yaml', 'settings', 'print'], { cwd });
  const json = await command(['settings', 'print', '--json', '--config', 's.yaml'], { cwd });
  expect(parse(yaml.stdout)).toEqual(json.json);
  expect(json.json.accounts.acme).toMatchObject({ apiKey: '***', budget: { requests: 20, per: '1s' } });
  expect(yaml.stdout + json.stdout).not.toContain('the-secret-key');
});

test('prints the schema in config/lockstep.schema.json', async () => {
  const { stdout } = await command(['settings', 'schema'], { cwd: await folder() });
  const file = path.join(import.meta.dirname, '../../config/lockstep.schema.json');
  expect(JSON.parse(stdout)).toEqual(JSON.parse(await readFile(file, 'utf8')));
});

test('checks the presets of the directory that the settings name', async () => {
  const cwd = await folderWith('accounts: { demo: {} }\npresets: own\n');
  const check = () => command(['settings', 'check', '--config', 's.yaml', '--json'], { cwd });
  expect((await check()).json.error.code).toBe('PRESETS_UNREADABLE');
  await mkdir(path.join(cwd, 'own'));
  await writeFile(path.join(cwd, 'own/x.yaml'), 'title: X\nheader: [a]\ncolumns: { amnt: a }\n');
  const { code, json } = await check();
  expect([code, json.error.message]).toEqual([
    2,
    expect.stringContaining('columns.amnt: unknown key (did you mean amount?)'),
  ]);
});

test('hashes a password for the console', async () => {
  const env = { PASSWORD: 'correct horse' };
  const { code, stdout } = await command(['settings', 'hash-password', '--env', 'PASSWORD'], { cwd: '.', env });
  expect([code, await isPassword('correct horse', stdout.trim())]).toEqual([0, true]);
  const unset = await command(['settings', 'hash-password', '--env', 'NO_PASSWORD'], { cwd: '.' });
  expect([unset.code, unset.stderr]).toEqual([2, expect.stringContaining('NO_PASSWORD is not set')]);
});
