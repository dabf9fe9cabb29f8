import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { defaultSettingsFile } from '../../src/settings/load.ts';
import { type Change, editAccount, saveAccount } from '../../src/settings/save-dialect.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-save-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
});

const CHANGES: readonly Change[] = [
  { path: ['prefix'], value: '/v1' },
  { path: ['dialect', 'firstTaskPage'], value: 1 },
  { path: ['dialect', 'listPath', 'contacts'], value: 'content.items' },
  { path: ['dialect', 'importBody'], value: { contact_ids: ['$id'] } },
];
const SAVED = {
  prefix: '/v1',
  dialect: { firstTaskPage: 1, listPath: { contacts: 'content.items' }, importBody: { contact_ids: ['$id'] } },
};

const FORMS: readonly (readonly [name: string, text: string])[] = [
  ['a block map', 'accounts:\n  a:\n    url: https://x # its address\n    # budget: {}\n  b: { url: https://y }\n'],
  ['a block map that ends with the file', 'accounts:\n    a:\n        url: https://x'],
  [
    'a block map with a deeper map at its end',
    'accounts:\n  a:\n    budget:\n      requests: 5\n      # per: 1s\n\n# The end.\n',
  ],
  ['a flow map', 'accounts: { a: { url: https://x, budget: { requests: 5 } }, b: {} } # all\n'],
  ['a flow map over lines', 'accounts:\n  a: {\n    url: https://x,\n  }\n'],
  ['auto', 'accounts:\n  a:\n    prefix: auto # found out\n    dialect: auto # as well\n    url: https://x\n'],
  ['an empty key', 'accounts:\n  a:\n    dialect:\n    url: https://x\n'],
  [
    'a dialect in block form',
    'accounts:\n  a:\n    dialect:\n      # tasks\n      firstTaskPage: 0 # or 1\n      importBody:\n        id: $id\n    url: https://x\n',
  ],
  ['a dialect in flow form', "accounts:\n  a:\n    dialect: { firstTaskPage: 'auto', listPath: { orders: $ } }\n"],
  ['Windows lines', 'accounts:\r\n  a:\r\n    url: https://x\r\n  b: {}\r\n'],
];

test.each(FORMS)('an account written as %s keeps its comments, its order and everything else', (_, text) => {
  const edited = editAccount(text, 'a', CHANGES);
  if (edited.status !== 'edited') throw new Error(edited.why);
  const [before, after] = [parse(text), parse(edited.text)];
  expect(after.accounts.a).toMatchObject(SAVED);
  expect(after.accounts.b).toEqual(before.accounts.b);
  expect(after.accounts.a.url).toBe(before.accounts.a.url);
  for (const comment of text.match(/#.*$/gm) ?? []) expect(edited.text).toContain(comment);
  expect(edited.text.split('\n').every((line) => line.endsWith('\r') === text.includes('\r') || line === '')).toBe(
    true,
  );
});

test('comments that belong to the map before stay with it', () => {
  const text = 'accounts:\n  a:\n    budget:\n      requests: 5\n      # per: 1s\n  # b: the next one\n  b: {}\n';
  const edited = editAccount(text, 'a', CHANGES.slice(0, 1));
  expect(edited).toMatchObject({ text: text.replace('per: 1s\n', 'per: 1s\n    prefix: /v1\n') });
});

test('only what differs is changed', () => {
  const text = 'accounts: { a: { prefix: /v1, dialect: { firstTaskPage: 1 } } }';
  const edited = editAccount(text, 'a', CHANGES.slice(0, 2));
  expect(edited).toEqual({ status: 'edited', text, changed: [] });
});

test.each([
  ['is not there', 'accounts: { b: {} }'],
  ['is an alias', 'accounts: { b: &b { url: https://x }, a: *b }'],
  [
    'takes its dialect from elsewhere',
    'accounts:\n  b: &b { dialect: { pageParam: p } }\n  a: { <<: *b, url: https://x }',
  ],
])('an account that %s is left alone, with words', (_, text) => {
  expect(editAccount(text, 'a', CHANGES)).toMatchObject({ status: 'impossible', why: expect.stringMatching(/./) });
});

async function fileWith(text: string, name = 's.yaml'): Promise<string> {
  const file = path.join(dir, name);
  await writeFile(file, text, { mode: 0o640 });
  return file;
}

const VALID = 'accounts:\n  a:\n    url: https://x.example\n    apiKey: { env: A }\n';

test('the file is replaced as a whole, with its mode, and through a link', async () => {
  const file = await fileWith(VALID);
  const link = path.join(dir, 'link.yaml');
  await symlink(file, link);
  expect(await saveAccount(link, 'a', CHANGES)).toEqual({ file, changed: CHANGES });
  expect(await readFile(file, 'utf8')).toContain('    prefix: /v1\n');
  expect([(await stat(file)).mode & 0o777, (await readdir(dir)).toSorted()]).toEqual([0o640, ['link.yaml', 's.yaml']]);
});

test('reports what cannot be saved, and leaves the file unchanged', async () => {
  const file = await fileWith(VALID);
  const long = await fileWith(VALID, `${'n'.repeat(246)}.yaml`); // there is no room for the name of a temporary file
  const refusals: readonly (readonly [() => Promise<unknown>, RegExp])[] = [
    [() => saveAccount(defaultSettingsFile(), 'demo', CHANGES), /comes with Lockstep; copy it/],
    [() => saveAccount(path.join(dir, 'none.yaml'), 'a', CHANGES), /there is no such file/],
    [() => saveAccount(file, 'b', CHANGES), /account "b" is not written in the file/],
    [() => saveAccount(file, 'a', [{ path: ['prefix'], value: '/v9' }]), /the change would make it invalid/],
    [() => saveAccount(long, 'a', CHANGES), /it cannot be written/],
  ];
  for (const [saving, said] of refusals) {
    await expect(saving()).rejects.toMatchObject({
      code: 'SETTINGS_NOT_SAVED',
      exitCode: 2,
      message: expect.stringMatching(said),
    });
  }
  expect([await readFile(file, 'utf8'), await readdir(dir)]).toEqual([VALID, expect.not.arrayContaining(['tmp'])]);
});
