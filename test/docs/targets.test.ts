/** The types of targets in the documents, and the tables about tests in docs/targets/tested.md. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { renderVendors, seenIn, tableIn } from '../../docs/make-vendors.ts';
import { target } from '../../src/settings/schema-target.ts';

const root = path.join(import.meta.dirname, '../..');
const text = readFileSync(path.join(root, 'docs/targets/tested.md'), 'utf8');

test.each([
  ['README.md', (type: string) => `\`${type}\``],
  ['docs/targets.md', (type: string) => new RegExp(`^\\|[^|]*\\| \\[[^\\]]*\\b${type}\\b`, 'm')],
])('%s names every type of target', (file, named) => {
  const content = readFileSync(path.join(root, file), 'utf8');
  for (const { shape } of target.options) expect(content).toMatch(named(shape.type.value));
});

test('the table of operations has those of the documents, with their answers (else: npm run docs:vendors)', () => {
  const table = tableIn(text);
  const seen = seenIn(table);
  expect(seen.size).toBeGreaterThan(50);
  expect(renderVendors(seen)).toBe(table);
});

test('every test that the table of targets names exists', () => {
  const named = [...text.matchAll(/^\| ([A-Z]\d) \| `(\S+)`[^|]*\| (.+) \|$/gm)];
  const unknown = named.filter(([, , file = '', title = '']) => {
    return !readFileSync(path.join(root, 'test/mirror', file), 'utf8').includes(title);
  });
  expect(unknown.map(([row]) => row)).toEqual([]);
  const marks = new Set(named.map(([, mark]) => mark));
  const used = [...text.matchAll(/^\| (?:github|jira|asana|linear|todoist) \| ([A-Z].*) \|$/gm)];
  expect(used).toHaveLength(5);
  const cells = used.flatMap(([, row = '']) => row.split(' | ').flatMap((cell) => cell.split(', ')));
  expect(cells.filter((cell) => cell !== '–' && !marks.has(cell))).toEqual([]);
});
