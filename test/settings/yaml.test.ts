import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseSettings } from '../../src/settings/parse.ts';
import { problemsIn, settingsOf } from './problems-in.ts';

test.each([
  ['a tab as indentation', 'accounts:\n\tdemo: {}\n', '2:1 a tab is used as indentation; YAML allows spaces only'],
  ['an unclosed quote', 'accounts:\n  demo: { url: "x\n', '3:1 not valid YAML: Missing closing "quote'],
  [
    'wrong indentation',
    'accounts:\n    demo: {}\n  other: {}\n',
    '3:1 wrong indentation: the keys of one map have to start in the same column',
  ],
  [
    'a key indented further than the one above',
    'accounts:\n  demo:\n   url: http://127.0.0.1:1\n    apiKey: x\n',
    '3:9 the next line is indented further than this one, or the text has a colon and is not quoted: let the keys of one map start in the same column, or quote the text',
  ],
  [
    'a text with a colon',
    'accounts:\n  demo: a: b\n',
    '2:9 the next line is indented further than this one, or the text has a colon and is not quoted: let the keys of one map start in the same column, or quote the text',
  ],
  [
    'a key given twice',
    'accounts: { demo: {} }\naccounts: { b: {} }\n',
    '2:1 this key occurs twice in the same map; keep one',
  ],
  [
    'a second document',
    'accounts: { demo: {} }\n---\na: 1\n',
    '2:1 a second document starts here (---); settings are one document',
  ],
  [
    'an unknown tag',
    'accounts: { demo: !js {} }\n',
    '1:19 a tag (a word that starts with !) is not known here; quote the value if it is text',
  ],
  [
    'a reserved character',
    'accounts: @demo\n',
    '1:11 not valid YAML: Plain value cannot start with reserved character @; quote the value if it is text',
  ],
  [
    'an alias without anchor',
    'accounts: *demo\n',
    '1:11 accounts: no anchor of this name is defined above; quote the value if it is text',
  ],
  ['an anchor in itself', 'accounts: &a\n  demo: *a\n', '2:9 accounts.demo: the anchor contains itself'],
  ['an empty file', '', '1:1 the settings are empty: expected at least accounts, with one account'],
  ['comments only', '# nothing\n', '1:1 the settings are empty: expected at least accounts, with one account'],
  ['a list', '- accounts\n', '1:1 expected a map of keys, got a list'],
  ['text', 'hello', '1:1 expected a map of keys, got text'],
  ['no accounts', 'service: { url: embedded }\n', '1:1 accounts: missing: expected a map of names'],
  ['accounts without one', 'accounts: {}\n', '1:11 accounts: needs at least one account'],
  ['a list as a key', 'accounts: { demo: {} }\n? [a]\n: 1\n', '2:3 a key must be plain text'],
  ['a missing key', 'accounts: { demo: {} }\n: 1\n', '2:1 a key is missing before the colon'],
])('refuses %s with its position', (_, text, expected) => {
  expect(problemsIn(text)[0]).toBe(expected);
});

test('a key given twice is reported beside the other problems', () => {
  const text = 'accounts:\n  demo: {}\n  demo: { budgt: {} }\n';
  expect(problemsIn(text)).toEqual([
    '3:3 this key occurs twice in the same map; keep one',
    '3:11 accounts.demo.budgt: unknown key; did you mean "budget"?',
  ]);
});

test.each([
  '__proto__: { polluted: true }\naccounts: { demo: {} }\n',
  'accounts: { demo: {}, __proto__: { polluted: true } }\n',
  'service: { url: https://x.example }\naccounts: { demo: { apiKey: { env: K } }, __proto__: {} }\n',
  'accounts:\n  demo:\n    dialect:\n      importBody: { a: { __proto__: { polluted: true } } }\n',
])('__proto__ as a key is refused and changes nothing: %j', (text) => {
  expect(problemsIn(text)).toEqual([expect.stringMatching(/^\d+:\d+ .*__proto__: this key is not allowed$/)]);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

test('an account named constructor exists only where the file defines it', () => {
  expect(settingsOf('accounts: { demo: {} }').accounts.constructor).toBeUndefined();
  expect(settingsOf('accounts: { constructor: {} }').accounts.constructor).toMatchObject({ name: 'constructor' });
});

test('anchors, aliases and merge keys share a budget between accounts', () => {
  const settings = settingsOf(`accounts:
  a: { budget: &shared { requests: 7, per: 1s } }
  b: { budget: *shared }
  c: { budget: { <<: *shared, burst: 2 } }
`);
  expect(settings.accounts.b?.budget).toEqual(settings.accounts.a?.budget);
  expect(settings.accounts.c?.budget).toMatchObject({ requests: 7, burst: 2 });
});

test('a problem behind an alias or a merge key is shown where the value is written', () => {
  const text = `accounts:
  a: { budget: &shared { requests: 0, per: 1s } }
  b: { budget: { <<: *shared } }
`;
  expect(problemsIn(text)).toEqual([
    expect.stringMatching(/^2:36 accounts.a.budget.requests: expected at least 1/),
    expect.stringMatching(/^2:36 accounts.b.budget.requests: expected at least 1/),
  ]);
});

test('refuses aliases that expand without limit at once', () => {
  const rows = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 20; level++) {
    rows.push(`a${level}: &a${level} [${Array.from({ length: 9 }, () => `*a${level - 1}`).join(', ')}]`);
  }
  expect(problemsIn(rows.join('\n'))).toEqual(['1:1 Excessive alias count indicates a resource exhaustion attack']);
});

test('a byte order mark and Windows line ends are fine', () => {
  expect(settingsOf('\ufeffaccounts:\r\n  demo: {}\r\n').accounts.demo).toMatchObject({ name: 'demo' });
  expect(problemsIn('\ufeffaccounts:\r\n  demo:\r\n    prefx: auto\r\n')).toEqual([
    expect.stringMatching('^3:5 accounts.demo.prefx'),
  ]);
});

test('control characters in a key do not reach the terminal', () => {
  expect(problemsIn('accounts: { demo: {} }\n"a\\e[31m": 1\n').join()).toContain('["a\\u001b[31m"]: unknown key');
});

test('no text makes the parser throw', () => {
  const pieces = fc.constantFrom(
    'accounts',
    'demo',
    ': ',
    ' {',
    '}',
    '\n',
    '  ',
    '\t',
    '- ',
    '&a ',
    '*a',
    '<<',
    '"',
    '|',
    '? ',
    '!x ',
    '[',
    ']',
    ',',
    '__proto__',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (source) => {
      parseSettings({ text: source, file: '/x.yaml', env: {} });
    }),
    { numRuns: 2000 },
  );
});

test('no value of any kind makes the schema throw, and every refusal has a position', () => {
  const keys = [
    'accounts',
    'demo',
    'budget',
    'apiKey',
    'syncs',
    'job',
    'type',
    'targets',
    'schedule',
    'dialect',
    'options',
    'url',
  ];
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      fc.constantFrom(null, 1, -1, true, 'tasks', 'demo', '15s', ''),
      fc.array(tie('value'), { maxLength: 2 }),
      tie('map'),
    ),
    map: fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 5 }),
  })).map;
  fc.assert(
    fc.property(value, (settings) => {
      const parsed = parseSettings({ text: JSON.stringify(settings), file: '/x.yaml', env: {} });
      if (parsed.status === 'valid') return;
      for (const { position } of parsed.problems) expect(position?.line).toBe(1);
    }),
    { numRuns: 400 },
  );
});
