/** Misspelt keys, names and types in settings. */
import { expect, test } from 'vitest';
import { problemsIn, withAccount, withSync, withTarget } from './problems-in.ts';

test.each([
  ['servce: {}', 'servce: unknown key; did you mean "service"?'],
  ['wholly_unlike: 1', 'wholly_unlike: unknown key'],
  ['console: { listn: x }', 'console.listn: unknown key; did you mean "listen"?'],
  ['redis: { URL: none }', 'redis.URL: unknown key; did you mean "url"?'],
])('a misspelt key at the top or in a section is refused with a suggestion: %s', (line, expected) => {
  expect(problemsIn(`accounts: { demo: {} }\n${line}\n`)).toEqual([expect.stringContaining(expected)]);
});

test.each([
  [withAccount('apiKey: { evn: KEY }'), '3:15 accounts.demo.apiKey.evn: unknown key; did you mean "env"?'],
  [
    withAccount('dialect: { listPth: {} }'),
    '3:16 accounts.demo.dialect.listPth: unknown key; did you mean "listPath"?',
  ],
  [
    withAccount('dialect: { idField: { task: id } }'),
    '3:27 accounts.demo.dialect.idField.task: unknown key; did you mean "tasks"?',
  ],
  [
    withSync('options: { rows_per_page: 5 }'),
    '3:53 syncs.night.options.rows_per_page: unknown key; did you mean "rowsPerPage"?',
  ],
  [
    'accounts: { demo: {} }\nsyncs:\n  files: { type: orders, account: demo, options: { folder: in, map: { order_idd: Nr } } }\n',
    expect.stringMatching(/^3:71 syncs.files.options.map.order_idd: expected order_id, .*; did you mean "order_id"\?$/),
  ],
  [withSync('schedule: { corn: "0 2 * * *" }'), '3:54 syncs.night.schedule.corn: unknown key; did you mean "cron"?'],
  [
    withTarget('url: https://x.example, secret: { env: S }, alowPrivate: true'),
    '3:70 targets.hook.alowPrivate: unknown key; did you mean "allowPrivate"?',
  ],
])('a misspelt key deep in the file is refused with a suggestion: %s', (text, expected) => {
  expect(problemsIn(text)).toEqual([expected]);
});

test.each([
  [withAccount('settle: 5s'), '3:5 accounts.demo.settle: unknown key; it belongs in accounts.demo.budget'],
  [
    withAccount('dialect: { settle: 5s }'),
    '3:16 accounts.demo.dialect.settle: unknown key; it belongs in accounts.demo.budget',
  ],
  [
    withSync('cron: "0 2 * * *"'),
    expect.stringContaining('syncs.night.cron: unknown key; it belongs in syncs.night.schedule'),
  ],
  [withAccount('targets: {}'), '3:5 accounts.demo.targets: unknown key; it belongs at the top level'],
  // Only another type of target has it, in a map that a webhook does not have.
  [
    withTarget('url: https://x.example, secret: { env: S }, doneStatus: x'),
    expect.stringMatching(/targets.hook.doneStatus: unknown key$/),
  ],
])('a key in the wrong map is refused with the right one: %s', (text, expected) => {
  expect(problemsIn(text)).toEqual([expected]);
});

test('finds the problems behind a wrong name, type or job in the same round', () => {
  const text = `accounts:
  "my acct": { url: embedded, patience: 5 }
  demo: { budget: { requests: 0, per: 1s } }
syncs:
  nightly: { job: contcts, account: dem, options: { rowsPerPage: 0 } }
  mirror: { tpye: tasks, account: demo, targets: [gh], options: { pollShare: 3 } }
  "nightly contacts": { type: contact, account: demo }
  odd: { type: xyz, account: demo, schedule: { cron: "0 2 * * *", timezone: Mars }, options: { folder: 3 } }
targets:
  gh: { type: githb, token: { env: "1X" }, repo: r, timeout: 99h }`;
  expect(problemsIn(text).map((problem) => problem.split(' ')[1]?.replace(/:$/, ''))).toEqual([
    'accounts["my', // a name with a space
    'accounts["my',
    'accounts.demo.budget.requests',
    'syncs.nightly.job',
    'syncs.nightly.account',
    'syncs.nightly.options.rowsPerPage',
    'syncs.mirror.type',
    'syncs.mirror.options.pollShare',
    'syncs["nightly', // a name with a space
    'syncs["nightly',
    'syncs.odd.type',
    'syncs.odd.schedule.timezone',
    'targets.gh.owner',
    'targets.gh.type',
    'targets.gh.token.env',
    'targets.gh.timeout',
  ]);
});
