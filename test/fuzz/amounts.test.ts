/** Amounts: what is read has the sign and the digits of the cell, and what is not certain is refused with a sentence. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { type Amount, type DecimalSign, parseAmount } from '../../src/base/amount.ts';
import { sentenceFor } from '../../src/base/reasons/reasons.ts';
import { broken, fuzz } from './fuzz.ts';

const written = fc
  .record({
    whole: fc.bigInt({ min: 0n, max: 99_999_999_999n }),
    fraction: fc.constantFrom('', '5', '50', '05', '1234'),
    signs: fc.constantFrom(['', '.'], [',', '.'], [' ', '.'], ["'", '.'], ['', ','], ['.', ','], ['\u202f', ',']),
    before: fc.constantFrom('', '-', '+', '\u2212', '$', '-$', 'EUR ', '('),
    after: fc.constantFrom('', ' €', ' Euro', '-', ')', ' kr', ' CHF'),
  })
  .map(({ whole, fraction, signs: [group, decimal], before, after }) => {
    const digits = String(whole).replace(/\B(?=(\d{3})+$)/g, group ?? '');
    return `${before}${digits}${fraction && `${decimal}${fraction}`}${after}`;
  });

fuzz('reads the digits and the sign of an amount, or refuses it', {
  corpus: [
    '',
    '0',
    '-0',
    '1,234',
    '1.234,50 €',
    '(12.00)',
    '12-',
    "'1'234.50",
    '1e309',
    '2024-01-05',
    '5 all',
    '\u0663',
    '\u0661\u066c\u0662\u0663\u0664\u066b\u0665',
    '\u2013 5',
    '$25.00 USD',
    'lei 12,50',
    '- 5 -',
    '0.50 kr.',
    '$100.-',
    '-$10,000,-',
  ],
  inputs: broken(written, ['.', '-', '(', ')', 'e5', '$', '/', '00', '\u00a0', '\u0663', '\u066b', '\u2013']),
  check(cell) {
    for (const accounting of [false, true]) {
      const [point, comma] = [read(cell, '.', accounting), read(cell, ',', accounting)];
      const unsure = parseAmount(cell, { decimal: 'unsure', accounting });
      const certain = [...new Set([point, comma].filter((value) => value !== undefined))];
      expect(valueIn(unsure)).toBe(certain.length === 1 ? certain[0] : undefined);
    }
  },
});

/** As in `12.-` and `1,234/-`: no sign before it is a decimal sign. */
const NO_CENTS = /(?<=\d)[.,/][-\u2013]+(?=\D*$)/;

/** With the digits and signs of Arabic and Persian as those of ASCII, and without marks that no one sees. */
function inAscii(text: string): string {
  const digit = (one: string) => String(one.charCodeAt(0) % 16);
  return text
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '')
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, digit)
    .replace(/\u066b/g, '.')
    .replace(/\u066c/g, ',');
}

function read(given: string, decimal: DecimalSign, accounting: boolean): string | undefined {
  const amount = parseAmount(given, { decimal, accounting });
  const value = valueIn(amount);
  if (value === undefined) return undefined;
  const cell = inAscii(given);
  // A decimal sign after which no digit comes belongs to the currency, as in "5 kr.".
  const number = cell.replace(/\D*$/, '');
  const at = number.lastIndexOf(decimal);
  const hasFraction = at !== -1 && number.indexOf(decimal) === at && !NO_CENTS.test(cell);
  const digits = (text: string) => text.replace(/\D/g, '');
  const whole = digits(hasFraction ? number.slice(0, at) : number).replace(/^0+/, '') || '0';
  const fraction = hasFraction ? digits(number.slice(at)).replace(/0+$/, '') : '';
  const isNegative = /[-\u2212\u2013(]/.test(cell.replace(/US-/i, '').replace(NO_CENTS, ''));
  expect(value).toBe(`${isNegative ? '-' : ''}${whole}${fraction && `.${fraction}`}`);
  return value;
}

function valueIn(amount: Amount): string | undefined {
  if (amount.status === 'amount') return amount.value;
  expect(sentenceFor(amount.code, { line: 1, column: 'amount', cell: '', ...amount.facts }).trim()).not.toBe('');
  return undefined;
}
