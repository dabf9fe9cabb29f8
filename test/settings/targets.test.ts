import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { maskSettings } from '../../src/settings/mask.ts';
import { targetNamed } from '../../src/settings/settings.ts';
import { problemsIn, settingsOf } from './problems-in.ts';

const settingsWith = (keys: string) =>
  settingsOf(
    `accounts: { demo: {} }\ntargets: { hook: { type: webhook, url: https://h.example, secret: { env: S }, ${keys} } }`,
  );
const targetWith = (keys: string) => targetNamed(settingsWith(keys), 'hook');
const problemsWith = (keys: string) =>
  problemsIn(
    `accounts: { demo: {} }\ntargets:\n  hook: { type: webhook, url: https://h.example, secret: { env: S }, ${keys} }`,
  ).map((line) => line.replace(/^\S+ targets\.hook\./, ''));

test('a target with only its required settings gets the defaults of its type', () => {
  expect(targetWith('')).toMatchObject({
    name: 'hook',
    type: 'webhook',
    budget: { requests: 50, perMs: 1_000, burst: 50, concurrency: 8 },
    timeoutMs: 15_000,
    allowPrivate: false,
  });
});

test.each([
  ['budget: { requests: 300, per: 1m }', { requests: 300, perMs: 60_000, burst: 5, concurrency: 8 }],
  ['budget: { requests: 1, per: 1h }', { requests: 1, perMs: 3_600_000, burst: 1, concurrency: 8 }],
  ['budget: { burst: 3, concurrency: 2 }', { requests: 50, perMs: 1_000, burst: 3, concurrency: 2 }],
])('the budget %s reads as %j', (keys, budget) => {
  expect(targetWith(keys)).toHaveProperty('budget', budget);
});

test.each([
  ['budget: { requests: 5 }', 'budget: requests and per go together: requests: 20, per: 1s is 20 calls a second'],
  [
    'budget: 10/minute',
    'budget: expected a map such as { requests: 20, per: 1s }, got text; write { requests: 10, per: 1m }',
  ],
  [
    'budget: { requests: 0, per: 1s }',
    'budget.requests: expected at least 1 call, got 0; for less than one call a second, set a longer per',
  ],
  ['budget: { bursts: 3 }', 'budget.bursts: unknown key; did you mean "burst"?'],
  ['budget: { concurrency: 1001 }', 'budget.concurrency: expected at most 1000, got 1001'],
  [
    'timeout: 15',
    'timeout: expected a duration with its unit (ms, s, m, h or d), such as 250ms, 15s or 5m; got 15 without a unit: write 15s if seconds are meant',
  ],
  ['allowPrivate: yes', 'allowPrivate: expected true or false, got text; write true'],
])('%s is a problem', (keys, problem) => {
  expect(problemsWith(keys)).toEqual([problem]);
});

test('each secret of a target has its setting’s path, and a secret file is relative to the settings', () => {
  expect(targetWith('previousSecret: { file: keys/old }')).toMatchObject({
    secret: { from: 'env', name: 'S', where: 'targets.hook.secret' },
    previousSecret: { from: 'file', path: '/etc/keys/old', where: 'targets.hook.previousSecret' },
  });
});

test('every secret of a target of another type has its setting’s path too, and no other field changes', () => {
  const target =
    'gh: { type: github, token: { file: keys/gh }, hookSecret: { env: H }, columns: { from: open }, timeout: 5s }';
  const settings = settingsOf(`accounts: { demo: {} }\ntargets: { ${target} }`);
  expect(targetNamed(settings, 'gh')).toMatchObject({
    name: 'gh',
    token: { from: 'file', path: '/etc/keys/gh', where: 'targets.gh.token' },
    hookSecret: { from: 'env', name: 'H', where: 'targets.gh.hookSecret' },
    columns: { from: 'open' },
    timeoutMs: 5_000,
  });
  expect(targetNamed(settings, 'gh')).not.toHaveProperty('timeout');
});

test.each([
  ['type: github, token: { env: T }, url: "http://gh.example"', 1],
  ['type: github, token: { env: T }, url: "http://127.0.0.1:3000"', 0],
  ['type: webhook, secret: { env: T }, url: "http://h.example"', 0],
])('of { %s } that sends its token in the clear is warned %i times', (target, times) => {
  const { warnings } = settingsOf(`accounts: { demo: {} }\ntargets: { t: { ${target} } }`);
  expect(warnings.filter((warning) => warning.includes('sends the token in the clear'))).toHaveLength(times);
});

test('warns about the client of OAuth: secrets in the file, a tokenUrl without TLS, and a refresh token that two targets share', () => {
  const tracker = (name: string, keys: string) =>
    `${name}: { type: http, url: "https://h.example", send: {}, oauthClient: { id: app, tokenUrl: ${keys} } }`;
  const tls = '"https://h.example/token", secret: { env: S }';
  const { warnings } = settingsOf(`accounts: { demo: {} }
targets:
  ${tracker('a', '"http://h.example/token", secret: canary, refreshToken: { env: R }')}
  ${tracker('b', `${tls}, refreshToken: { env: R }`)}
  ${tracker('c', `${tls}, refreshToken: { env: OTHER }`)}
  ${tracker('d', tls)}
  ${tracker('e', tls)}`);
  expect(warnings).toEqual([
    expect.stringMatching(/targets\.a\.oauthClient\.secret: the secret is in the settings file/),
    expect.stringMatching(/targets\.a\.oauthClient\.tokenUrl: http:\/\/ sends the secret of the client in the clear/),
    expect.stringMatching(
      /targets\.b\.oauthClient\.refreshToken: targets\.a has the same one.*authorise the client again/,
    ),
  ]);
});

test('warns about any secret of a target that is written in the file', () => {
  const { warnings } = settingsWith('previousSecret: canary');
  expect(warnings).toEqual([
    expect.stringMatching(/targets\.hook\.previousSecret: the secret is in the settings file/),
  ]);
});

test('a printed target is a target again that means the same, with its secrets masked', () => {
  const keys = 'headers: { X-A: a, Authorization: { scheme: Bearer, env: H } }, fields: { kind: [card] }';
  const settings = settingsWith(
    `previousSecret: canary, timeout: 90s, budget: { requests: 300, per: 5m, burst: 7 }, ${keys}`,
  );
  const printed = maskSettings(settings);
  expect(printed.targets).toEqual({
    hook: {
      type: 'webhook',
      url: 'https://h.example/',
      secret: { env: 'S' },
      previousSecret: '***',
      format: 'standard',
      headers: { 'X-A': 'a', Authorization: { scheme: 'Bearer', env: 'H' } },
      fields: { kind: ['card'] },
      budget: { requests: 300, per: '5m', burst: 7, concurrency: 8 },
      timeout: '90s',
      allowPrivate: false,
    },
  });
  expect(maskSettings(settingsOf(stringify(printed)))).toEqual(printed);
});

test('a secret of a header has its setting’s path, and its file is relative to the settings', () => {
  expect(targetWith('headers: { Authorization: { scheme: Bearer, file: keys/gateway } }')).toMatchObject({
    headers: {
      Authorization: {
        from: 'file',
        path: '/etc/keys/gateway',
        scheme: 'Bearer',
        where: 'targets.hook.headers.Authorization',
      },
    },
  });
});

test.each([
  ['headers: { Authorization: Bearer x }', 'headers.Authorization: this header carries a secret: write { env: NAME }'],
  ['headers: { X-A: { scheme: Bearer } }', 'headers.X-A: expected exactly one of env, file'],
  ['headers: { "X A": a }', 'headers["X A"]: expected the name of a header, such as X-Team'],
  ['headers: { webhook-id: a }', 'headers.webhook-id: Lockstep sets this header itself: remove it'],
  ['headers: { Content-Type: a/b }', 'headers.Content-Type: Lockstep sets this header itself: remove it'],
  ['headers: { X-A: "a\u0007" }', 'headers.X-A: expected one line of printable ASCII'],
  [`body: '{ "a": "{{ task.titel }}" }'`, 'body: unknown variable "task.titel"; did you mean "task.title"?'],
  [`body: '{ "a": "{{ title'`, 'body: not a valid template: output "{{ title" not closed'],
  [`body: '{ "a": {{ title | upper }} }'`, 'body: not a valid template: undefined filter: upper'],
  [`body: '{ "a": {{ title }} }'`, 'body: does not yield JSON: '],
  [`body: '{ "a": {{ task.endDate }} }'`, 'body: does not yield JSON'],
  [`body: '{ "a": "{{ item }}" }'`, 'body: unknown variable "item" (known: event, account, '],
  [`body: '{% render "/etc/passwd" %}'`, 'body: not a valid template: '],
  [`body: '{% for i in (1..999999999) %}1{% endfor %}'`, 'body: not a valid template: memory alloc limit exceeded'],
  ['events: [done]', 'events[0]: expected created, completed, reopened, changed or gone'],
  [
    'fields: { state: [a] }',
    'fields.state: expected kind, id, title, status, isCompleted, isGone or parentId, got "state"; did you mean',
  ],
])('{ %s } is a problem that is found before anything is sent', (keys, problem) => {
  expect(problemsWith(keys)).toEqual([expect.stringContaining(problem)]);
});
