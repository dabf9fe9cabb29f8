import { expect, test } from 'vitest';
import { changesBetween, takeable } from '../../src/settings/changes.ts';
import { settingsOf } from './problems-in.ts';

const NONE = { added: [], changed: [], removed: [] };

function settingsWith({ rate = 20, syncs = '', secret = '"a-secret-of-24-bytes-at-least"', more = '' } = {}) {
  return settingsOf(`
accounts: { acme: { url: "https://sales.example.com", apiKey: { env: KEY }, budget: { requests: ${rate}, per: 1s } } }
syncs: { nightly: { type: contacts, account: acme }${syncs} }
targets: { hook: { type: webhook, url: "https://hook.example.com/a-token-in-the-path-0001", secret: ${secret} } }
${more}
`);
}

test('the same settings have not changed', () => {
  expect(changesBetween(settingsWith(), settingsWith())).toEqual({
    accounts: NONE,
    syncs: NONE,
    targets: NONE,
    alerts: NONE,
    isAny: false,
    needRestart: [],
  });
});

test('names what was added, changed and removed', () => {
  const more = ', other: { type: contacts, account: acme }';
  const changes = changesBetween(settingsWith(), settingsWith({ rate: 5, syncs: more }));
  expect(changes).toMatchObject({ accounts: { changed: ['acme'] }, syncs: { added: ['other'] }, isAny: true });
  expect(changesBetween(settingsWith({ syncs: more }), settingsWith()).syncs).toEqual({ ...NONE, removed: ['other'] });
});

test('a changed secret is a change, though no text shows it', () => {
  const after = settingsWith({ secret: '"another-secret-of-24-bytes-or-more"' });
  expect(changesBetween(settingsWith(), after).targets.changed).toEqual(['hook']);
});

test('what is read only at the start is named, and stays as it was', () => {
  const more = 'database: { url: "postgres://u:new@db.example.com/x" }\nhealth: { listen: "127.0.0.1:4040" }';
  const [before, after] = [settingsWith(), settingsWith({ more })];
  expect(changesBetween(before, after)).toMatchObject({ isAny: false, needRestart: ['database', 'health'] });
  expect(takeable(before, after)).toMatchObject({ database: { url: undefined }, health: undefined });
});
