import { expect, test } from 'vitest';
import { problemsIn, settingsOf, withAccount, withSync } from './problems-in.ts';

test('every problem is listed at once, in the order of the file, with path, line and column', () => {
  const text = `acounts: {}
accounts:
  demo:
    budgt: {}
    budget: { requests: 20, per: 1s, timout: 5s }
syncs:
  night:
    job: contacts
    account: demmo
    schedule: { cron: "61 2 * * *" }
`;
  expect(problemsIn(text)).toEqual([
    '1:1 acounts: unknown key; did you mean "accounts"?',
    '4:5 accounts.demo.budgt: unknown key; did you mean "budget"?',
    '5:38 accounts.demo.budget.timout: unknown key; did you mean "timeout"?',
    '9:14 syncs.night.account: no account is named "demmo"; did you mean "demo"?',
    '10:23 syncs.night.schedule.cron: not a cron expression: "61 2 * * *" (61 is not in 0-59)',
  ]);
});

test.each([
  [
    'budget: 10/minute',
    'accounts.demo.budget: expected a map such as { requests: 20, per: 1s }, got text; write { requests: 10, per: 1m }',
  ],
  [
    'budget: { requests: 10 per 5 s, per: 1s }',
    'accounts.demo.budget.requests: expected a whole number of calls, such as 20, got text; write requests: 10, per: 5s',
  ],
  [
    'budget: { requests: 0, per: 1s }',
    'accounts.demo.budget.requests: expected at least 1 call, got 0; for less than one call a second, set a longer per',
  ],
  [
    'budget: { requests: -5, per: 1s }',
    'accounts.demo.budget.requests: expected at least 1 call, got -5; for less than one call a second, set a longer per',
  ],
  [
    'budget: { requests: 1.5, per: 1s }',
    'accounts.demo.budget.requests: expected a whole number of calls, such as 20, got the number 1.5',
  ],
  ['budget: { requests: 5, per: 0s }', 'accounts.demo.budget.per: expected a duration from 1ms to 596h, got "0s"'],
  [
    'budget: { requests: 600 }',
    'accounts.demo.budget: requests and per go together: requests: 20, per: 1s is 20 calls a second',
  ],
  [
    'budget: { per: 1m }',
    'accounts.demo.budget: requests and per go together: requests: 20, per: 1s is 20 calls a second',
  ],
  [
    'budget: { requests: 10, per: 60 }',
    'accounts.demo.budget.per: expected a duration with its unit (ms, s, m, h or d), such as 250ms, 15s or 5m; got 60 without a unit: write 60s if seconds are meant',
  ],
  [
    'budget: { mode: discovr }',
    'accounts.demo.budget.mode: expected fixed or discover, got "discovr"; did you mean "discover"?',
  ],
  [
    'budget: { weights: { customer.getall: 5 } }',
    'accounts.demo.budget.weights["customer.getall"]: no operation has this name; did you mean "customers.getall"?',
  ],
  [
    'budget: { weights: { customers.getall: 0 } }',
    'accounts.demo.budget.weights["customers.getall"]: expected at least 1, got 0',
  ],
  [
    'budget: { weights: { customers.getall: 1.5 } }',
    'accounts.demo.budget.weights["customers.getall"]: expected a whole number of calls, got the number 1.5',
  ],
  [
    'budget: { weights: 5 }',
    'accounts.demo.budget.weights: expected a map such as { customers.getall: 5 }, got the number 5',
  ],
  [
    'budget: { requests: 5, per: 1s, weights: { customers.getall: 6 } }',
    'accounts.demo.budget.weights["customers.getall"]: a weight of 6 is more than the burst of 5, so the call could never be made: raise burst',
  ],
  ['budget: { burst: 0 }', 'accounts.demo.budget.burst: expected at least 1, got 0'],
  ['budget: { concurrency: 5000 }', 'accounts.demo.budget.concurrency: expected at most 1000, got 5000'],
  [
    'budget: { concurrency: "8" }',
    'accounts.demo.budget.concurrency: expected a whole number of calls, got text; write it without quotes',
  ],
  [
    'budget:',
    'accounts.demo.budget: is empty: expected a map such as { requests: 20, per: 1s }; leave the key out if it is not needed',
  ],
])('a budget that makes no sense is refused with what is expected: %s', (line, expected) => {
  expect(problemsIn(withAccount(line))).toEqual([expect.stringContaining(expected)]);
});

test.each([
  ['15', 'got 15 without a unit: write 15s if seconds are meant'],
  ['"15"', 'got 15 without a unit: write 15s if seconds are meant'],
  ['1h30m', 'one whole number and one unit; got "1h30m"'],
  ['1.5s', 'one whole number and one unit; got "1.5s"'],
  ['-1s', 'one whole number and one unit; got "-1s"'],
  ['15 s', 'one whole number and one unit; got "15 s"'],
  ['9999h', 'expected a duration from 10ms to 1h, got "9999h"'],
])('a duration that is none is refused with what is expected: %s', (value, expected) => {
  expect(problemsIn(withAccount(`budget: { timeout: ${value} }`))).toEqual([expect.stringContaining(expected)]);
});

test.each([
  ['cron: "0 2"', 'schedule.cron: expected 5 fields'],
  ['cron: "H 2 * * *"', 'schedule.cron: H is not supported'],
  ['cron: "@dayly"', 'schedule.cron: no cron alias "@dayly"; did you mean "@daily"?'],
  ['cron: "0 0 30 2 *"', 'schedule.cron: "0 0 30 2 *" never starts: no month that it names has that day'],
  ['cron: "- 0 2 * * *"', 'schedule.cron: not a cron expression: "- 0 2 * * *" (a field is not in 0-59)'],
  [
    'cron: "0 2 * * *", timezone: Berlin',
    'schedule.timezone: expected an IANA time zone, such as Europe/Berlin, got "Berlin"; did you mean "Europe/Berlin"?',
  ],
  ['cron: "0 2 * * *", timezone: "+02:00"', 'schedule.timezone: expected an IANA time zone'],
  ['cron: "0 2 * * *", every: 5m', 'schedule: expected exactly one of cron, every'],
  ['timezone: UTC', 'schedule: expected exactly one of cron, every'],
  ['every: 5m, timezone: UTC', 'schedule.timezone: timezone is only for cron'],
  ['every: 20s, jitter: 20s', 'schedule.jitter: expected less than the time between two starts, 20s'],
  ['cron: "0,59 * * * *", jitter: 60s', 'schedule.jitter: expected less than the time between two starts, 1m'],
  ['every: 10ms', 'schedule.every: expected a duration from 1s to 596h, got "10ms"'],
])('a schedule that cannot be kept is refused: %s', (line, expected) => {
  expect(problemsIn(withSync(`schedule: { ${line} }`))).toEqual([expect.stringContaining(`syncs.night.${expected}`)]);
});

test.each([
  [
    'type: contact, account: demo',
    'a.type: expected contacts, tasks or orders, got "contact"; did you mean "contacts"?',
  ],
  [
    'tpye: contacts, account: demo',
    'a.type: missing: expected contacts, tasks or orders; did you mean "type" instead of "tpye"?',
  ],
  [
    'job: tasks, account: demo, targets: [ops-hok]',
    'a.targets[0]: no target is named "ops-hok"; did you mean "ops-hook"?',
  ],
  ['job: tasks, account: demo, targets: []', 'a.targets: needs at least one target'],
  ['job: tasks, account: demo', 'a.targets: missing: expected a list'],
  ['job: tasks, account: constructor, targets: [ops-hook]', 'a.account: no account is named "constructor"'],
  ['job: contacts', 'a.account: missing: expected text'],
  [
    'job: contacts, account: demo, options: { matchBy: [email, email] }',
    'a.options.matchBy: the same field is listed twice',
  ],
  [
    'job: contacts, account: demo, options: { importWith: creat }',
    'a.options.importWith: expected auto, import or create, got "creat"; did you mean "create"?',
  ],
  [
    'job: tasks, account: demo, targets: [ops-hook], options: { backfill: yes }',
    'a.options.backfill: expected true or false, got text; write true',
  ],
])('a sync that cannot run is refused: %s', (line, expected) => {
  const targets = 'targets: { ops-hook: { type: webhook, url: https://x.example, secret: { env: S } } }';
  expect(problemsIn(`accounts: { demo: {} }\n${targets}\nsyncs:\n  a: { ${line} }\n`)).toEqual([
    expect.stringContaining(`syncs.${expected}`),
  ]);
});

test.each([
  [
    'service: { url: sales.example.com }',
    'service.url: expected embedded or a URL that starts with https:// or http://; the scheme is missing',
  ],
  [
    'service: { url: "https://x.example/api/v1" }',
    "service.url: expected the base address only: leave out /api/v1, which belongs in the account's prefix",
  ],
  ['service: { url: "https://x.example?a=1" }', 'service.url: expected a base address without ? and #'],
  ['service: { url: "https://u:p@x.example" }', 'service.url: a user name or password is not allowed in this URL'],
  [
    'database: { url: "$\u007bDATABASE_URL\u007d" }',
    'database.url: expected embedded or a URL that starts with postgres:// or postgresql://; variables are not replaced in settings',
  ],
  [
    'database: { url: "postgres://u:p#w@h/d" }',
    'database.url: expected embedded or a URL that starts with postgres:// or postgresql://; special characters',
  ],
  ['database: { url: "mysql://h/d" }', 'database.url: expected embedded or'],
  [
    'redis: { url: "http://h" }',
    'redis.url: expected none or a URL that starts with redis://, rediss://, redis+sentinel:// or redis+cluster://',
  ],
  ['redis: { url: "redis+sentinel://h:26379" }', 'redis.url: expected the name of the master after the hosts'],
  ['redis: { url: "redis+sentinel://h,/m" }', 'redis.url: expected hosts with their ports, separated by commas'],
  ['redis: { url: "redis+sentinel://h:99999/m" }', 'redis.url: expected hosts with their ports'],
  ['redis: { url: "redis+cluster://h:6379/0" }', 'redis.url: expected nothing after the hosts of a Cluster'],
  ['redis: { url: "redis+cluster://:p@w@h" }', 'redis.url: expected user:password@ before the hosts'],
  ['redis: { url: "redis+cluster://:%zz@h" }', 'redis.url: expected user:password@ before the hosts'],
  ['redis: { prefix: {lockstep} }', 'redis.prefix: expected text; braces need quotes: "{lockstep}", got a map'],
  [
    'console: { listen: 4000 }',
    'console.listen: expected an address and a port, such as 127.0.0.1:4000, got the number 4000',
  ],
  ['console: { listen: "h:99999" }', 'console.listen: expected an address and a port'],
  [
    'console: { users: { operator: { password: x } } }',
    'console.users.operator: operator is the user of console.password',
  ],
  ['console: { users: { ann: { password: x, role: boss } } }', 'console.users.ann.role: '],
  ['console: { trustProxy: [proxy] }', 'console.trustProxy[0]: expected an IP address or a network'],
  [hook('{env: A, file: b}'), 'targets.h.secret: expected exactly one of env, file'],
  [hook('$SECRET'), 'targets.h.secret: variables are not replaced in settings: write { env: NAME } instead'],
  [hook('{ env: $SECRET }'), 'targets.h.secret.env: expected the name of an environment variable'],
  [hook('1234'), 'targets.h.secret: expected { env: NAME }, { file: PATH } or the secret as text, got the number 1234'],
])('an address or a secret that cannot work is refused: %s', (line, expected) => {
  const problems = problemsIn(`accounts: { demo: { apiKey: { env: K } } }\n${line}\n`);
  expect(problems).toEqual([expect.stringContaining(expected)]);
});

test('an account needs its key as soon as its service is not embedded', () => {
  const text = 'service: { url: https://x.example }\naccounts:\n  here: { url: embedded }\n  there: {}\n';
  expect(problemsIn(text)).toEqual([
    '4:3 accounts.there.apiKey: missing: an account of a service that is not embedded needs a key, such as { env: NAME }',
  ]);
  expect(settingsOf('accounts: { demo: {} }').accounts.demo?.apiKey).toBeUndefined();
});

test.each(['my account', 'a.b', 'a:b', 'ü', 'a/b', 'x'.repeat(65)])('an account cannot be named %s', (name) => {
  expect(problemsIn(`accounts:\n  "${name}": {}\n`)).toEqual([
    expect.stringMatching(/^2:3 accounts.*: a name is 1 to 64 letters, digits, _ or -$/),
  ]);
});

test('wrong URLs in the environment are named beside the problems of the file, and their values are not shown', () => {
  const env = { DATABASE_URL: 'oracle://scott:tiger@h', REDIS_URL: 'tiger' };
  const problems = problemsIn('accounts: {}', env);
  expect(problems).toEqual([
    '1:11 accounts: needs at least one account',
    expect.stringMatching('^environment variable DATABASE_URL: expected embedded or a URL'),
    expect.stringMatching('^environment variable REDIS_URL: expected none or a URL'),
  ]);
  expect(problems.join()).not.toContain('tiger');
});

function hook(secret: string): string {
  return `targets: { h: { type: webhook, url: https://h.example, secret: ${secret} } }`;
}
