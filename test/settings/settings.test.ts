import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { closest, editDistance } from '../../src/base/closest.ts';
import { formatDuration, parseDurationMs } from '../../src/settings/durations.ts';
import { maskSettings } from '../../src/settings/mask.ts';
import { settingsFile } from '../../src/settings/schema.ts';
import { accountChosen, accountNamed, budgetLimits, syncNamed, targetNamed } from '../../src/settings/settings.ts';
import { settingsOf } from './problems-in.ts';

test('the only account is chosen by default, and one of several has to be named', () => {
  const settings = (...names: readonly string[]) =>
    settingsOf(`accounts: { ${names.map((name) => `${name}: {}`).join(', ')} }`);
  expect(accountChosen(settings('demo')).name).toBe('demo');
  expect(accountChosen(settings('one', 'other'), 'one').name).toBe('one');
  expect(() => accountChosen(settings('one', 'other'))).toThrow(
    /^--account NAME is missing: .* has several accounts, one or other$/,
  );
});

test('a sync of orders can say that no column has a field', () => {
  const settings = settingsOf(
    'accounts: { demo: {} }\nsyncs: { files: { type: orders, account: demo, options: { folder: in, map: { order_id: "" } } } }',
  );
  expect(syncNamed(settings, 'files')).toMatchObject({ options: { map: { order_id: '' } } });
});

const budgetOf = (budget: string) => accountNamed(settingsOf(`accounts: { demo: { budget: ${budget} } }`), 'demo');

test.each([
  ['250ms', 250],
  ['15s', 15_000],
  ['5m', 300_000],
  ['1h', 3_600_000],
  ['15', undefined],
  ['1.5s', undefined],
  ['1h30m', undefined],
  ['', undefined],
  ['5 m', undefined],
])('the duration %s is %s ms', (text, ms) => {
  expect(parseDurationMs(text)).toBe(ms);
});

test.each([250, 1000, 1500, 60_000, 90_000, 7_200_000, 0])(
  '%s ms written as a duration are read as the same again',
  (ms) => {
    expect(parseDurationMs(formatDuration(ms))).toBe(ms);
  },
);

test.each([
  ['{}', { ratePerSecond: 20, burst: 20, concurrency: 16, mode: 'fixed' }],
  ['{ requests: 600, per: 1m }', { ratePerSecond: 10, burst: 10, concurrency: 16, mode: 'fixed' }],
  ['{ requests: 5, per: 1m }', { ratePerSecond: 5 / 60, burst: 1, concurrency: 16, mode: 'fixed' }],
  ['{ requests: 3, per: 100ms }', { ratePerSecond: 30, burst: 3, concurrency: 16, mode: 'fixed' }],
  [
    '{ requests: 600, per: 1m, burst: 50, concurrency: 2 }',
    { ratePerSecond: 10, burst: 50, concurrency: 2, mode: 'fixed' },
  ],
  ['{ mode: discover }', { ratePerSecond: 10_000, burst: 10_000, concurrency: 16, mode: 'discover' }],
  ['{ mode: discover, requests: 600, per: 1m }', { ratePerSecond: 10, burst: 10, concurrency: 16, mode: 'discover' }],
])('the budget %s allows %j', (budget, limits) => {
  expect(budgetLimits(budgetOf(budget))).toEqual(limits);
});

test.each([
  ['{}', 15_000, 60_000],
  ['{ timeout: 5s }', 5000, 60_000],
  ['{ timeout: 30s }', 30_000, 120_000],
  ['{ timeout: 30s, settle: 40s }', 30_000, 40_000],
])('with the budget %s a call may take %s ms and is settled after %s ms', (budget, timeoutMs, settleMs) => {
  expect(budgetOf(budget).budget).toMatchObject({ timeoutMs, settleMs });
});

test('an operation may weigh more than one call, up to the burst', () => {
  const { budget } = budgetOf('{ requests: 5, per: 1s, weights: { customers.getall: 5, orders.create: 1 } }');
  expect(budget.weights).toEqual({ 'customers.getall': 5, 'orders.create': 1 });
  expect(budgetOf('{}').budget.weights).toEqual({});
});

test('an account has its own service, or the one of all accounts', () => {
  const { accounts } = settingsOf(`service: { url: https://all.example/base/ }
accounts:
  common: { apiKey: { env: A } }
  own: { url: "http://localhost:8080", apiKey: { env: A }, prefix: /v1, dialect: { firstTaskPage: 1 } }
  here: { url: embedded }
`);
  expect(accounts.common?.url).toBe('https://all.example/base');
  expect(accounts.own).toMatchObject({ url: 'http://localhost:8080', prefix: '/v1', dialect: { firstTaskPage: 1 } });
  expect(accounts.here?.url).toBeUndefined();
});

test('syncs and targets get their names, defaults and milliseconds', () => {
  const settings = settingsOf(`accounts: { demo: {} }
syncs:
  night: { job: contacts, account: demo, schedule: { cron: "@daily" } }
  mirror: { job: tasks, account: demo, schedule: { every: 5m }, targets: [hook] }
targets:
  hook: { type: webhook, url: https://x.example/hook, secret: { env: S } }
console: { listen: "[::1]:0" }
`);
  expect(syncNamed(settings, 'night')).toMatchObject({
    schedule: { kind: 'cron', cron: '@daily', timezone: 'UTC' },
    options: { rowsPerPage: 500, importWith: 'auto', onChange: 'update', matchBy: ['email', 'phone'] },
  });
  expect(syncNamed(settings, 'mirror')).toMatchObject({
    schedule: { kind: 'every', everyMs: 300_000, missed: 'run-once', jitterMs: 0 },
    options: { subtasks: false, backfill: false },
  });
  expect(targetNamed(settings, 'hook')).toMatchObject({ name: 'hook', allowPrivate: false, timeoutMs: 15_000 });
  expect(settings.console).toMatchObject({ host: '::1', port: 0 });
});

test.each([
  [
    'dmeo',
    'No account named "dmeo" under accounts in /etc/lockstep.yaml; did you mean "demo"? (defined: demo or other)',
  ],
  ['toString', 'No account named "toString" under accounts in /etc/lockstep.yaml (defined: demo or other)'],
])('an unknown account %s is reported with the existing ones', (name, message) => {
  const settings = settingsOf('accounts: { demo: {}, other: {} }');
  const expected = expect.objectContaining({ code: 'SETTINGS_NAME_UNKNOWN', exitCode: 2, message });
  expect(() => accountNamed(settings, name)).toThrow(expected);
});

test.each([
  [
    'accounts: { a: { url: "http://x.example", apiKey: { env: K } } }',
    'accounts.a.url: http:// sends the API key in the clear; use https://',
  ],
  [
    'accounts: { a: { apiKey: s3cret } }',
    'accounts.a.apiKey: the secret is in the settings file; use { env: NAME } or { file: PATH } to keep it out',
  ],
  [
    'accounts: { a: { budget: { settle: 1s } } }',
    'accounts.a.budget.settle: shorter than the timeout: a late create may be sent twice',
  ],
  [
    'accounts: { a: {} }\ndatabase: { url: "postgres://u:s3cret@h/d" }',
    'database.url: the password is in the settings file; use the environment variable DATABASE_URL to keep it out',
  ],
])('what works but is risky is a warning: %s', (text, warning) => {
  const { warnings } = settingsOf(text);
  expect(warnings).toEqual([expect.stringMatching(/^\/etc\/lockstep\.yaml:\d+:\d+ /)]);
  expect(warnings[0]).toContain(warning);
});

test.each([
  ['budgt', 'budget'],
  ['bugdet', 'budget'],
  ['rows_per_page', 'rowsPerPage'],
  ['ONCHANGE', 'onChange'],
  ['xyz', undefined],
])('suggests for %s: %s', (word, expected) => {
  expect(closest(word, ['budget', 'rowsPerPage', 'onChange', 'prefix'])).toBe(expected);
});

test('the edit distance counts insertions, deletions, substitutions and swaps', () => {
  expect(['kitten sitting', 'ab ba', 'abc abc', 'a abcd'].map((pair) => editDistance(...words(pair)))).toEqual([
    3, 1, 0, 3,
  ]);
});

function words(pair: string): [string, string] {
  const [first = '', second = ''] = pair.split(' ');
  return [first, second];
}

test('reads a file of an earlier version, in which the type of a sync is called its job', () => {
  const text = (name: string) => `accounts: { demo: {} }\nsyncs: { night: { ${name}: contacts, account: demo } }`;
  expect(settingsOf(text('job')).syncs).toEqual(settingsOf(text('type')).syncs);
});

test('printed settings have every section and every setting of a section, and mean the same', () => {
  const text = `
accounts: { demo: {} }
worker: { concurrency: 3 }
retention: { rows: 90d, runs: 400d, deliveries: 7d, inbox: forever }
presets: /etc/presets
console: { url: https://lockstep.example.com, users: { anna: { password: { env: A }, role: viewer } } }
health: { listen: 127.0.0.1:4040 }`;
  const settings = settingsOf(text);
  const printed = maskSettings(settings);
  expect(Object.keys(printed).sort()).toEqual(Object.keys(settingsFile.shape).sort());
  const again = settingsOf(stringify(printed));
  expect(again).toEqual({ ...settings, warnings: again.warnings });
});
