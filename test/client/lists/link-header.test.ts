import { expect, test } from 'vitest';
import { nextLink } from '../../../src/client/lists/beside.ts';

test.each([
  ['<https://a.test/items?page=2>; rel="next"', 'https://a.test/items?page=2'],
  [
    '<https://a.test/items?a=1,2;b>; title="rel=next, <x>"; rel=next, </items?page=9>; rel="last"',
    'https://a.test/items?a=1,2;b',
  ],
  ['<?page=1>; rel="first",<?page=2>;type="text/html";REL="last Next"', '?page=2'],
  ['</items?page=1>; rel="prev", </next>; rel="nextish"; title="next"', undefined],
  ['<https://a.test/style.css>; rel=preload; as=style', undefined],
  ['next', undefined],
  ['', undefined],
  [undefined, undefined],
])('the next page that the header Link %j names is %j', (header, next) => {
  expect(nextLink(header)).toBe(next);
});
