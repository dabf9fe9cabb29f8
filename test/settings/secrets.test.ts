import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { SecretRef } from '../../src/settings/fields.ts';
import { Hidden, maskUrl } from '../../src/settings/hidden.ts';
import { maskSettings } from '../../src/settings/mask.ts';
import { parseSettings } from '../../src/settings/parse.ts';
import { readSecret } from '../../src/settings/secrets.ts';
import { problemsIn, settingsOf } from './problems-in.ts';

const CANARY = 'canary-7f3a';
const EVERYWHERE = `service: { url: https://x.example }
accounts:
  demo: { apiKey: ${CANARY}, authorization: { token: ${CANARY} } }
database: { url: "postgres://u:${CANARY}@h/d?password=${CANARY}" }
redis: { url: "redis://:${CANARY}@h" }
syncs: { mirror: { job: tasks, account: demo, schedule: { every: 90s }, targets: [hook] } }
targets: { hook: { type: webhook, url: "https://h.example/a?t=${CANARY}", secret: ${CANARY}, previousSecret: ${CANARY} } }
console: { listen: "[::]:4000" }
`;
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-secrets-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

const fromEnv: SecretRef = { from: 'env', name: 'DEMO_KEY', where: 'accounts.demo.apiKey' };
const fromFile = (name: string): SecretRef => ({
  from: 'file',
  path: join(directory, name),
  where: 'targets.hook.secret',
});

test('a secret is read from the environment, from a file or from the settings, without white space around it', async () => {
  await writeFile(join(directory, 'key'), ` ${CANARY}\n`);
  const literal: SecretRef = { from: 'literal', value: new Hidden(CANARY), where: 'accounts.demo.apiKey' };
  expect(await readSecret(fromEnv, { DEMO_KEY: `${CANARY}\n` })).toBe(CANARY);
  expect(await readSecret(fromFile('key'), {})).toBe(CANARY);
  expect(await readSecret(literal, {})).toBe(CANARY);
});

test('a secret in a file is read at each use, so a rotated one needs no restart', async () => {
  await writeFile(join(directory, 'key'), 'old');
  expect(await readSecret(fromFile('key'), {})).toBe('old');
  await writeFile(join(directory, 'key'), 'new');
  expect(await readSecret(fromFile('key'), {})).toBe('new');
});

test('the path of a secret file is relative to the settings file', () => {
  const settings = settingsOf('accounts: { demo: { apiKey: { file: keys/demo } } }');
  expect(settings.accounts.demo?.apiKey).toMatchObject({ path: '/etc/keys/demo' });
});

test.each([
  [{}, 'the environment variable DEMO_KEY is not set'],
  [{ DEMO_KEY: '' }, 'the environment variable DEMO_KEY is empty'],
  [{ DEMO_KEY: ' \n' }, 'the environment variable DEMO_KEY is empty'],
])('a missing variable is named with its account and the remedy: %j', async (env, reason) => {
  await expect(readSecret(fromEnv, env)).rejects.toMatchObject({
    code: 'SECRET_MISSING',
    exitCode: 2,
    message: `The secret for accounts.demo.apiKey is missing: ${reason}; export DEMO_KEY before starting, or name another source`,
  });
});

test('names a missing, unreadable or empty secret file with its setting and the remedy', async () => {
  await mkdir(join(directory, 'folder'));
  await writeFile(join(directory, 'empty'), '\n');
  for (const [name, reason] of [
    ['absent', 'ENOENT'],
    ['folder', 'EISDIR'],
    ['empty', 'is empty'],
  ] as const) {
    await expect(readSecret(fromFile(name), {})).rejects.toMatchObject({
      code: 'SECRET_MISSING',
      message: expect.stringMatching(`^The secret for targets.hook.secret is missing: .*${name}.*${reason}`),
    });
  }
});

test('a private key has several lines', async () => {
  const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const path = join(directory, 'key.pem');
  await writeFile(path, key);
  expect(await readSecret({ from: 'file', path, where: 'targets.out.app.privateKey' }, {})).toBe(key.trim());
});

test('a secret of several lines is refused without showing it', async () => {
  const failed = await readSecret(fromEnv, { DEMO_KEY: `${CANARY}\nmore` }).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 'SECRET_INVALID', exitCode: 2 });
  expect(inspect(failed)).not.toContain(CANARY);
});

test('no way of printing settings shows a secret', () => {
  const settings = settingsOf(EVERYWHERE);
  const printed = [
    JSON.stringify(settings),
    inspect(settings, { depth: null, showHidden: true }),
    `${settings.database.url} ${settings.redis.url}`,
    JSON.stringify(maskSettings(settings)),
    settings.warnings.join('\n'),
  ].join('\n');
  expect(printed).not.toContain(CANARY);
  expect(settings.database.url?.reveal()).toContain(CANARY);
});

test.each([
  `accounts: { demo: { apiKey: [${CANARY}] } }`,
  `accounts: { demo: { apiKey: !${CANARY} } }`,
  `accounts: { demo: { apiKey: *${CANARY} } }`,
  `accounts:\n  demo:\n    apiKey: >${CANARY}\n`,
  `accounts:\n  demo:\n    apiKey: "a" ${CANARY}\n`,
  `accounts:\n  demo:\n    apiKey: @${CANARY}\n`,
  `accounts:\n  demo:\n    apiKey: "\\q${CANARY}"\n`,
  `accounts: ${CANARY}`,
  `accounts: { demo: { apiKey: { env: "$ ${CANARY}" } } }`,
  `accounts: { demo: { apiKey: k } }\ndatabase: { url: "postgres://u:${CANARY}#@h/d" }`,
  `accounts: { demo: { apiKey: k } }\ntargets: { hook: { type: webhook, url: "https://u:${CANARY}@h", secret: s } }`,
  `accounts: { demo: { apiKey: k } }\nredis: { url: ${CANARY} }`,
  `accounts: { demo: { apiKey: k } }\nredis: { url: "redis+sentinel://:${CANARY}@@h/m" }`,
])('a problem beside a secret does not show it: %j', (text) => {
  const problems = problemsIn(text);
  expect(problems.length).toBeGreaterThan(0);
  expect(problems.join('\n')).not.toContain(CANARY);
});

test('printed settings are a settings file again that means the same', () => {
  const text = EVERYWHERE.replaceAll(`: ${CANARY}`, ': { env: SECRET }')
    .replace('token: { env: SECRET }', 'env: SECRET')
    .replaceAll(CANARY, '***');
  const settings = settingsOf(text);
  const printed = maskSettings(settings);
  const again = parseSettings({ text: stringify(printed), file: settings.file, env: {} });
  if (again.status === 'invalid') throw new Error(JSON.stringify(again.problems));
  expect(maskSettings(again.settings)).toEqual(printed);
  expect({ ...again.settings, warnings: [] }).toEqual({ ...settings, warnings: [] });
});

test.each([
  ['postgres://u:pw@h:5432/d?sslmode=require', 'postgres://u:***@h:5432/d?sslmode=***'],
  ['redis://:pw@h', 'redis://:***@h'],
  ['https://hooks.example/services/T000/B000/abcdefghij1234567890', 'https://hooks.example/services/T000/B000/***'],
  ['not a url', '***'],
])('the URL %s is shown as %s', (url, shown) => {
  expect(maskUrl(url)).toBe(shown);
});
