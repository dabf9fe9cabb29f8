import { expect, test } from 'vitest';
import { maskSettings } from '../../src/settings/mask.ts';
import { targetNamed } from '../../src/settings/settings.ts';
import { problemsIn, settingsOf } from './problems-in.ts';

const textWith = (keys: string) => `accounts: { demo: {}, branch: {} }\ntargets:\n  out: { ${keys} }`;
const targetWith = (keys: string) => targetNamed(settingsOf(textWith(keys)), 'out');
const problemsWith = (keys: string) =>
  problemsIn(textWith(keys)).map((line) => line.replace(/^\S+ targets\.out\.?/, ''));
const mirror = (account: string, targets: string) => `
accounts: { demo: {}, branch: {} }
syncs: { mirror: { job: tasks, account: ${account}, targets: ${targets} } }
targets: { other: { type: service, account: branch }, hook: { type: webhook, url: "https://h.example", secret: { env: S } } }
`;

test('a Postgres target with only its required settings creates nothing, and its address is a secret', () => {
  expect(targetWith('type: postgres, url: { env: U }')).toEqual({
    name: 'out',
    type: 'postgres',
    url: { from: 'env', name: 'U', where: 'targets.out.url' },
    table: 'public.lockstep_tasks',
    history: false,
    createTable: false,
    timeoutMs: 15_000,
    concurrency: 4,
  });
});

test('an address that is written down is warned of and masked', () => {
  const settings = settingsOf(textWith('type: postgres, url: "postgres://me:canary@h/d"'));
  expect(settings.warnings).toEqual([expect.stringMatching(/targets\.out\.url: the secret is in the settings/)]);
  expect(JSON.stringify(maskSettings(settings))).not.toContain('canary');
});

test.each(['ops.tasks', 'Ops data.Tasks of today', 'o"o.t"t', `${'ä'.repeat(31)}.t`])(
  'the table may be called %j',
  (table) => {
    expect(targetWith(`type: postgres, url: { env: U }, table: ${JSON.stringify(table)}`)).toMatchObject({ table });
  },
);

test.each([
  ['a.b.c', 'table: expected the name of a table, such as public.lockstep_tasks'],
  ['', 'table: expected the name of a table, such as public.lockstep_tasks'],
  ['a.', 'table: expected the name of a table, such as public.lockstep_tasks'],
  ['a\u0000b', 'table: expected the name of a table, such as public.lockstep_tasks'],
  [`${'ä'.repeat(32)}.t`, 'table: a name in Postgres has at most 63 bytes'],
])('a table cannot be called %j', (table, problem) => {
  expect(problemsWith(`type: postgres, url: { env: U }, table: ${JSON.stringify(table)}`)).toEqual([problem]);
});

test('a service target with only its required settings creates nothing', () => {
  expect(targetWith('type: service, account: branch')).toEqual({
    name: 'out',
    type: 'service',
    account: 'branch',
    create: false,
    columns: {},
    concurrency: 100,
  });
});

test('an unknown account is a problem, with a suggestion', () => {
  expect(problemsWith('type: service, account: brunch')).toEqual([
    'account: no account is named "brunch"; did you mean "branch"?',
  ]);
  expect(problemsWith('type: service')).toEqual([expect.stringContaining('account: missing')]);
});

test('a sync cannot mirror an account into itself, and the message has the position of its target', () => {
  expect(problemsIn(mirror('branch', '[hook, other]'))).toEqual([
    expect.stringMatching(
      /^3:\d+ syncs\.mirror\.targets\[1\]: target "other" is the account that this sync reads.*use another account/,
    ),
  ]);
  expect(problemsIn(mirror('demo', '[hook, other]'))).toEqual([]);
});

test('a printed target of either type is that target again', () => {
  const text = `${textWith('type: postgres, url: { env: U }, timeout: 90s')}\n  in: { type: service, account: branch }`;
  const printed = maskSettings(settingsOf(text));
  expect(printed.targets).toMatchObject({ out: { timeout: '90s', url: { env: 'U' } }, in: { account: 'branch' } });
});
