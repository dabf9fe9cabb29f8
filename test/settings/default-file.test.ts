import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { isMap, isScalar, parseDocument, visit } from 'yaml';
import { defaultSettingsFile } from '../../src/settings/load.ts';
import { settingsJsonSchema } from '../../src/settings/schema.ts';
import { target } from '../../src/settings/schema-target.ts';
import { settingsOf } from './problems-in.ts';

const besideDefault = (name: string) => new URL(`../../config/${name}`, import.meta.url);
const defaultText = () => readFile(defaultSettingsFile(), 'utf8');

/** The default file with every commented key switched on, but for the interval, which excludes the cron expression. */
async function uncommented(): Promise<string> {
  const lines = (await defaultText()).split('\n').slice(1);
  return lines
    .map((line) => (/^\s*# every:/.test(line) ? line : line.replace(/^( *)# (?= *[\w-]+:)/, '$1')))
    .join('\n');
}

/** Every `properties` name in a JSON schema, at any depth. */
function propertyNames(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const here =
    'properties' in schema && typeof schema.properties === 'object' ? Object.keys(schema.properties ?? {}) : [];
  return [...here, ...Object.values(schema).flatMap(propertyNames)];
}

test('the default file runs without any environment: all is embedded, and the account demo needs no key', async () => {
  const settings = settingsOf(await defaultText());
  expect(settings.warnings).toEqual([]);
  expect(settings.database.url).toBeUndefined();
  expect(settings.redis.url).toBeUndefined();
  expect(settings.accounts.demo).toMatchObject({ url: undefined, apiKey: undefined, prefix: 'auto' });
  expect(settings.syncs['nightly-contacts']).toMatchObject({ type: 'contacts', account: 'demo' });
});

test('the default file says the same as the defaults', async () => {
  const minimal = settingsOf('accounts: { demo: {} }');
  const { accounts, service, database, redis, retention, console, health } = settingsOf(await defaultText());
  expect({ accounts, service, database, redis, retention, console, health }).toEqual({
    accounts: minimal.accounts,
    service: minimal.service,
    database: minimal.database,
    redis: minimal.redis,
    retention: minimal.retention,
    console: minimal.console,
    health: minimal.health,
  });
});

test('every key is in its part of the default file, in use or commented, and is explained there', async () => {
  const lines = (await uncommented()).split('\n');
  const explained = lines.filter((line, index) => line.includes('#') || /^ *#/.test(lines[index - 1] ?? '')).join('\n');
  const parts = explained.split(/^(?=\w+:)/m);
  const missing = Object.entries(settingsJsonSchema().properties ?? {}).flatMap(([name, schema]) => {
    const part = parts.find((text) => text.startsWith(`${name}:`)) ?? '';
    return propertyNames(schema).flatMap((key) => (new RegExp(`\\b${key}\\b`).test(part) ? [] : [`${name}: ${key}`]));
  });
  expect([...new Set(missing)]).toEqual([]);
});

test('the commented keys of the default file are valid when they are switched on, with a target of every type', async () => {
  const text = await uncommented();
  const settings = settingsOf(text, { LOCKSTEP_DEMO_KEY: 'k' });
  expect(Object.keys(settings.syncs)).toEqual(['nightly-contacts', 'task-mirror', 'order-files']);
  const types = Object.values(settings.targets).map(({ type }) => type);
  expect(new Set(types)).toEqual(new Set(target.options.map(({ shape }) => shape.type.value)));
  expect(settings.accounts.demo?.authorization?.scheme).toBe('Bearer');
  expect(text.match(/^ *# [\w-]+:/gm)).toEqual(['      # every:']);
});

test('the commented values that are called defaults are the defaults', async () => {
  const settings = settingsOf(await uncommented());
  const plain = settingsOf('accounts: { demo: {} }\nsyncs: { a: { job: contacts, account: demo } }');
  expect(settings.accounts.demo?.budget).toEqual(plain.accounts.demo?.budget);
  expect(settings.accounts.demo?.dialect).toEqual(plain.accounts.demo?.dialect);
  const noDefault = { approveAbove: undefined, approveAboveShare: undefined, map: undefined, where: undefined };
  expect({ ...settings.syncs['nightly-contacts']?.options, ...noDefault }).toEqual(plain.syncs.a?.options);
});

test('the production example is valid and holds no secret', async () => {
  const text = await readFile(besideDefault('production.example.yaml'), 'utf8');
  const settings = settingsOf(text);
  expect(settings.warnings).toEqual([]);
  visit(parseDocument(text), {
    Pair: (_, { key, value }) => {
      const isSecret = isScalar(key) && /^(apiKey|secret|password|token)$/.test(String(key.value));
      if (isSecret) expect(isMap(value)).toBe(true);
    },
  });
});

test('config/lockstep.schema.json is fresh; `lockstep settings schema > config/lockstep.schema.json` makes it again', async () => {
  const generated: unknown = JSON.parse(await readFile(besideDefault('lockstep.schema.json'), 'utf8'));
  expect(generated).toEqual(settingsJsonSchema());
});
