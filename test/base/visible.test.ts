import { expect, test } from 'vitest';
import { inOneLine, printable, visible, visibleName } from '../../src/base/visible.ts';

test.each([
  [visible, 'a\nb\u202ec', 'a\\u000ab\\u202ec'],
  [printable, 'a\r\n\tb\u001b[31m', 'a\r\n\tb\\u001b[31m'],
  [visibleName, 'a\nb.csv', 'a%0Ab.csv'],
  [inOneLine, 'a\r\nb\nc\rd\u2028e', 'a ⏎ b ⏎ c ⏎ d\\u2028e'],
  [inOneLine, 'a\tb', 'a → b'],
])('%o shows what would not be seen', (show, text, shown) => {
  expect(show(text)).toBe(shown);
});
