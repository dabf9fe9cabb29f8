import { describe, expect, test } from 'vitest';
import { itemsNamedBy } from '../../../src/mirror/links/named-items.ts';
import { githubNaming, jiraNaming } from '../../../src/mirror/targets/items/item-naming.ts';

const { itemsIn: github } = githubNaming({ url: 'https://api.github.com', owner: 'acme', repo: 'app' });
const { itemsIn: jira } = jiraNaming({ url: 'https://acme.atlassian.net', project: 'ABC' });

describe('what a task names', () => {
  test.each([
    ['its title and its description', 'Fix ABC-1', 'see ABC-2', ['ABC-1', 'ABC-2']],
    ['one item twice', 'ABC-1', '<p>ABC-1</p>', ['ABC-1']],
    ['nothing', '', '', []],
    ['an address as its link has it', 'x', '<a href="https://acme.atlassian.net/browse/ABC-7">here</a>', ['ABC-7']],
    [
      'an address with entities',
      'x',
      "<a class=x href='https://acme.atlassian.net/jira/boards/1?a=b&amp;selectedIssue=ABC-7'>here</a>",
      ['ABC-7'],
    ],
    ['an id behind entities', 'x', 'JIRA&colon;&nbsp;XY&#45;7 and JIRA: XY&#x2d;8', ['XY-7', 'XY-8']],
    ['an id that markup runs through', 'x', 'A<b>BC</b>-<i>7</i>', ['ABC-7']],
    ['ids in two cells', 'x', '<td>ABC-7</td><td>ABC-8</td>', ['ABC-7', 'ABC-8']],
    ['what is commented out, or a style', 'x', '<!-- ABC-7 --><style>ABC-8</style> <!-- ABC-9', []],
    ['another attribute', 'x', '<img alt="ABC-7" data-href="https://acme.atlassian.net/browse/ABC-8">', []],
    ['markup that is text', 'x', '&lt;a href="ABC-7"&gt;', ['ABC-7']],
    ['what is after the first 100,000 characters', '', `ABC-7 ${'x '.repeat(50_000)} ABC-8`, ['ABC-7']],
    ['an address in angles', 'x', '<https://acme.atlassian.net/browse/XY-7>', ['XY-7']],
  ])('%s', (_what, title, description, expected) => {
    expect(itemsNamedBy({ title, description }, jira)).toEqual(expected);
  });

  test('an entity is not an issue number, and a link and its words are one', () => {
    const description = 'Don&#39;t: <a href="https://github.com/acme/app/issues/12">#12</a>';
    expect(itemsNamedBy({ title: 'Call', description }, github)).toEqual(['acme/app#12']);
  });

  test.each(['<a', '<!--', '<style ', '</style ', '<a href=', '&#', '<aaaaaaaa ', 'https://acme.atlassian.net/'])(
    'reads a quarter of a million times %j', // html-to-text fails on a word of megabytes
    (part) => {
      const named = itemsNamedBy({ title: part.repeat(250_000), description: '<p>x'.repeat(100_000) }, jira);
      expect(named).toEqual([]);
    },
  );
});
