import { expect, test } from 'vitest';
import { withoutSecrets } from '../../src/base/without-secrets.ts';

// PHP escapes / in JSON, .NET + and quotes, as \\u002B; texts in addresses and pages are encoded otherwise.
test.each([
  ['as it is', (secret: string) => secret],
  ['as PHP writes JSON', (secret: string) => JSON.stringify(secret).replaceAll('/', '\\/')],
  ['as .NET writes JSON', (secret: string) => secret.replaceAll('+', '\\u002B').replaceAll('"', '\\u0022')],
  ['in an address', encodeURIComponent],
  ['in a page', (secret: string) => secret.replaceAll('"', '&quot;').replaceAll('+', '&#43;')],
])('removes a secret that is written %s', (_, written) => {
  const secret = 'Canary/7f3a+9c"51';
  expect(withoutSecrets(`{"said": "<${written(secret)}>"}`, [secret])).toMatch(/^\{"said": "<"?\*\*\*"?>"\}$/);
});

test('removes the longest secret first, and no text of fewer than four characters', () => {
  expect(withoutSecrets('abcd, abcd-efgh, abc', ['abc', 'abcd', 'abcd-efgh'])).toBe('***, ***, abc');
});
