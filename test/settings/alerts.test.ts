import { expect, test } from 'vitest';
import { maskSettings } from '../../src/settings/mask.ts';
import { problemsIn, settingsOf } from './problems-in.ts';

const withAlerts = (...lines: readonly string[]) => `accounts: { demo: {} }
syncs: { nightly: { type: contacts, account: demo } }
alerts:
${lines.map((line) => `  ${line}`).join('\n')}
`;

test('a channel needs little, and its secrets know where they are in the settings', () => {
  const { alerts, warnings } = settingsOf(
    withAlerts(
      'chat: { type: slack, url: { env: CHAT } }',
      'mail: { type: email, host: smtp.example.com, from: a@example.com, to: [b@example.com] }',
      'calls: { type: webhook, url: "https://ops.example.com/", secret: { file: secret }, events: [run-failed], syncs: [nightly] }',
    ),
  );
  expect(warnings).toEqual([]);
  expect(alerts).toMatchObject({
    chat: { name: 'chat', url: { from: 'env', name: 'CHAT', where: 'alerts.chat.url' }, timeoutMs: 15_000 },
    mail: { port: 587, to: ['b@example.com'], allowPrivate: false },
    calls: {
      secret: { path: '/etc/secret', where: 'alerts.calls.secret' },
      events: ['run-failed'],
      syncs: ['nightly'],
    },
  });
});

test.each([
  ['x: { type: slak, url: { env: A } }', 'did you mean "slack"'],
  ['x: { type: slack }', 'alerts.x.url'],
  ['x: { type: slack, url: { env: A }, events: [run-faild] }', 'alerts.x.events[0]'],
  ['x: { type: slack, url: { env: A }, syncs: [nigthly] }', 'no sync is named "nigthly"; did you mean "nightly"'],
  [
    'x: { type: email, host: "smtp://a", from: a@example.com, to: [b@example.com] }',
    'name or address of an SMTP server',
  ],
  ['x: { type: email, host: a, user: u, from: a@example.com, to: [b@example.com] }', 'a user needs a password'],
  ['x: { type: email, host: a, from: a@example.com, to: [] }', 'alerts.x.to'],
  ['x: { type: email, host: a, from: ops, to: [b@example.com] }', 'alerts.x.from: expected an e-mail address'],
  ['x: { type: webhook, url: ops.example.com/x, secret: { env: A } }', 'the scheme is missing'],
])('reports a mistake: %s', (line, expected) => {
  expect(problemsIn(withAlerts(line)).join('\n')).toContain(expected);
});

test('warns of secrets in the file and of a password that is sent in the clear, and hides both', () => {
  const settings = settingsOf(
    withAlerts(
      'chat: { type: slack, url: "https://hooks.example.com/a-token" }',
      'mail: { type: email, host: smtp.example.com, security: none, user: u, password: pass-word, from: a@example.com, to: [b@example.com] }',
    ),
  );
  const warned = settings.warnings.join('\n');
  expect(warned).toMatch(/alerts\.chat\.url: the secret is in the settings file/);
  expect(warned).toMatch(/alerts\.mail\.password: the secret is in the settings file/);
  expect(warned).toMatch(/alerts\.mail\.security: none sends the password in the clear/);
  const shown = JSON.stringify(maskSettings(settings));
  expect(shown).toContain('"host":"smtp.example.com"');
  expect([shown.includes('a-token'), shown.includes('pass-word')]).toEqual([false, false]);
});
