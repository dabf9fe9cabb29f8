/** Settings: any text is either read, or refused with problems that name places of the text. */
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { parseSettings } from '../../src/settings/parse.ts';
import { formatProblems } from '../../src/settings/problems.ts';
import { broken, expectMessage, fuzz } from './fuzz.ts';

const folder = path.join(import.meta.dirname, '../../config');
const examples = ['lockstep.yaml', 'production.example.yaml', 'targets/notion.yaml', 'targets/trello.yaml'].flatMap(
  (name) => {
    const text = fs.readFileSync(path.join(folder, name), 'utf8');
    const short = text.replaceAll(/ +#.*$|^#.*\n/gm, '');
    return [text, short, text.replaceAll(/^( *)# (?=( *)[\w-]+: )/gm, '$1$2')];
  },
);
const small = [
  'accounts: { demo: {} }\n',
  'accounts:\n  a: &a { url: "https://x.example", apiKey: { env: K }, budget: { requests: 5, per: 1s } }\n  b: *a\n',
  'accounts: { a: {} }\nsyncs: { s: { type: tasks, account: a, schedule: { cron: "0 2 * * *" }, targets: [t] } }\ntargets: { t: { type: webhook, url: "https://x.example", secret: { env: S } } }\n',
];

const controlInCron = `${small[2]}`.replace('"0 2', '\0"0 2');

fuzz('reads settings, or says each problem with its place', {
  corpus: [
    ...examples,
    ...small,
    controlInCron,
    '',
    '---',
    'a: *a',
    '? [',
    '!!binary x',
    'accounts: !!set { a }',
    '%YAML 9',
    '&a [*a]',
    '"\\ud800": 1',
  ],
  inputs: broken(fc.oneof(fc.constantFrom(...small), fc.constantFrom(...small, ...examples)), [
    ...[
      'accounts:',
      '  ',
      '- ',
      '&a ',
      '*a',
      '<<: ',
      '|\n',
      '>',
      '? ',
      '!!js ',
      '---\n',
      '...',
      '# ',
      '!!map ',
      '!!timestamp ',
    ],
    ...['{{ task.id', '{% if', '99999999999d', '0s', '.inf', '0x1F', '1_000', 'env: ""', '!!float ', '!!binary aGk='],
  ]),
  check(text) {
    const parsed = parseSettings({ text, file: '/etc/lockstep.yaml', env: {} });
    if (parsed.status === 'valid') {
      expect(Object.keys(parsed.settings.accounts)).toEqual(Object.keys(parse(text, { merge: true }).accounts));
      for (const warning of parsed.settings.warnings) expect(warning.trim()).not.toBe('');
      return;
    }
    expect(parsed.problems).not.toEqual([]);
    const lines = text.split(/\r\n|\n|\r/);
    for (const { message, position = { line: 0, column: 0 } } of parsed.problems) {
      expectMessage(message.replaceAll(/"[^"]*"|\{\{.*|undefined (?:filter|variable)/g, ''));
      const { line, column } = position;
      expect(line >= 1 && line <= lines.length && column >= 1, `${line}:${column} ${message}`).toBe(true);
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not reach a terminal
    expect(formatProblems('', parsed.problems)).not.toMatch(/[\0-\x09\x0b-\x1f\x7f]/);
  },
});
