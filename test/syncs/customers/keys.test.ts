import { expect, test } from 'vitest';
import { keysOf } from '../../../src/syncs/customers/keys.ts';

test.each([
  ['+44 161 496 0000', '+44 (0)161 496 0000'],
  ['+44 161 496 0000', '0044 (0) 161-496-0000'],
  ['+44 161 496 0000', '+44(0)1614960000'],
  ['+1 555 010 0001', '001.555.010.0001'],
])('the phones %s and %s are the same', (one, other) => {
  expect(keysOf({ phone_number: other }).phone).toBe(keysOf({ phone_number: one }).phone);
});

test.each([
  ['+44 161 496 0000', '(0)161 496 0000'],
  ['+44 161 496 0000', '+44 0161 496 0000'],
])('the phones %s and %s are not: the second has no country, or a zero without brackets', (one, other) => {
  expect(keysOf({ phone_number: other }).phone).not.toBe(keysOf({ phone_number: one }).phone);
});

test('marks that are not visible make no difference in an e-mail, a name or an organization, as in a file', () => {
  const customer = { email: 'ann@example.com', full_name: 'שלום כהן', organization: 'Lee Ltd' };
  const marked = { email: 'ann@example.com\u200b', full_name: '\u200fשלום כהן', organization: 'Lee\u2060 Ltd' };
  expect(keysOf(marked)).toEqual(keysOf(customer));
});

test('escapes for HTML make no difference, as in a service or a file that has them', () => {
  const customer = { email: "o'hara@example.com", full_name: "Neil O'Hara", organization: 'Lee & Co' };
  const written = { email: 'o&#039;hara@example.com', full_name: 'Neil O&#39;Hara', organization: 'Lee &amp;amp; Co' };
  expect(keysOf(written)).toEqual(keysOf(customer));
});
