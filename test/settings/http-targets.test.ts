import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { maskSettings } from '../../src/settings/mask.ts';
import { holds } from '../../src/settings/schema-target.ts';
import { ACCOUNTS, documentedTarget, EXAMPLES, exampleOf } from '../support/documented-targets.ts';
import { problemsIn, settingsOf } from './problems-in.ts';

const example = exampleOf('our-trello');
const inFile = (targets: string) => `${ACCOUNTS}${targets}`;
const problemsWith = (from: string | RegExp, to: string) =>
  problemsIn(inFile(example.replace(from, to))).map((line) => line.replace(/^\S+ targets\.our-trello\.?/, ''));

test.each([
  ['sign: TRELLO', 'sign: trello', 'items.sign: expected a word in capitals, such as TRELLO'],
  [/id: '\[.*/, "id: '[a'", 'items.id: not a valid regular expression'],
  [/id: '\[.*/, "id: '(?<id>a)'", 'items.id: not a valid regular expression'],
  [/id: '\[.*/, "id: '.*'", 'items.id: must not match an empty text'],
  ['at: /dueComplete', 'at: dueComplete', 'items.state.at: expected a JSON pointer'],
  ['completed: [true]', 'completed: [true], open: [null]', 'items.state: expected exactly one of completed, open'],
  ['"/cards/{{ item }}"', '"cards/{{ item }}"', 'items.read.path: expected a path that starts with /'],
  ['"/cards/{{ item }}"', '"/cards/{{ item }}?x=1"', 'items.read.path: expected a path without spaces, ? and #'],
  ['"/cards/{{ item }}"', '"/cards/{{ title }}"', 'items.read.path: unknown variable "title"'],
  ['"name": "{{ title }}"', '"name": "{{ item }}"', 'items.create.body: unknown variable "item"'],
  ['"name": "{{ title }}"', '"name": "{{ record.id }}"', 'items.create.body: unknown variable "record.id"'],
  ['"/cards/{{ item }}"', '"/cards/{{ record.id }}"', 'items.read.path: unknown variable "record.id"'],
  [
    /headers: .*/,
    'headers: { Authorization: { env: T } }\n    oauthClient: { id: a, secret: b, tokenUrl: "https://a.example" }',
    'headers: remove Authorization: oauthClient sends it',
  ],
  ...['Authorization', 'X-Api-Key'].map((name): [string, string, string] => [
    'read: {',
    `read: { headers: { ${name}: abc }, `,
    `items.read.headers.${name}: this header carries a secret: write it under headers of the target`,
  ]),
  [/headers: .*/, 'oauthClient: { id: a, secret: b }', 'oauthClient.tokenUrl: missing'],
  ['settle: 10m', 'settle: 10', 'items.find.settle: expected a duration with its unit'],
  [/ {6}find:[\s\S]*(?= {6}create:)/, '', 'items.find: missing: create needs find, so that no item is created twice'],
  [
    'find:',
    'find:\n        headers: { X-Page: "{{ cursor }}" }',
    'items.find.more: missing: a call that uses cursor needs it',
  ],
  ['query: "{{ marker }}"', 'query: "{{ marker"', 'items.find.query.query: not a valid template'],
  ['"name": "{{ title }}"', '"name": "{{ cursor }}"', 'items.create.body: unknown variable "cursor"'],
  ['create:', 'create:\n        form: { name: "{{ title }}" }', 'items.create: expected only one of body, form'],
  [/ {4}items:[\s\S]*/, '', 'expected exactly one of send, items'],
  [/missing: .*/, 'retry: [42] }', 'answers.retry[0]: '],
  ['    items:', '    headers2: {}\n    items:', 'headers2: unknown key; did you mean "headers"?'],
])('replacing %s by %s is a problem', (from, to, problem) => {
  expect(problemsWith(from, to)).toEqual([expect.stringContaining(problem)]);
});

test.each(EXAMPLES)('a printed example is an example again that means the same: %#', (text) => {
  const printed = maskSettings(settingsOf(inFile(text)));
  expect(maskSettings(settingsOf(stringify(printed)))).toEqual(printed);
});

test.each([
  [/headers: \{/, 'headers: { X-Atlassian-Token: no-check, '],
  ['create:', 'create:\n        headers: { X-Request-Token: "{{ delivery }}" }'],
])('replacing %s by %s writes no secret into the file', (from, to) => {
  expect(problemsWith(from, to)).toEqual([]);
});

test.each([
  ["id: '\\d{1,19}'", []],
  ["id: '[1-9]\\d{6,}'", []],
  ["id: '[\\da-f]{24}'", [expect.stringContaining('items.complete.body: does not yield JSON')]],
  ["id: 'rec\\w{14}'", [expect.stringContaining('items.complete.body: does not yield JSON')]],
])('with %s, a body that has the id of an item without quotes has the problems %j', (id, problems) => {
  const body = `complete: { body: '[{ "id": {{ item }} }]', `;
  expect(problemsWith(/id: '\[.*([\s\S]*)complete: \{/, `${id}$1${body}`)).toEqual(problems);
});

test('a target without items cannot be polled', () => {
  const sync = (target: string) =>
    `syncs: { mirror: { type: tasks, account: demo, targets: [${target}], options: { poll: [${target}] } } }\n`;
  expect(problemsIn(inFile(`${sync('our-crm')}${exampleOf('our-crm')}`))).toEqual([
    expect.stringContaining('has no items that can be read'),
  ]);
  expect(problemsIn(inFile(`${sync('our-trello')}${example}`))).toEqual([]);
});

test.each([
  ['webhook', 'ops-hook', 'events'],
  ['http', 'our-crm', 'events'],
  ['http', 'our-trello', 'state'],
  ['slack', 'our-channel', 'events'],
  ['teams', 'our-team', 'events'],
  ['postgres', 'our-warehouse', 'state'],
  ['postgres', 'our-history', 'versions'],
  ['github', 'our-issues', 'state'],
] as const)('the %s target %s has of a task: its %s', (type, name, expected) => {
  expect(holds(documentedTarget(type, name))).toBe(expected);
});
