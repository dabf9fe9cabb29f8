/** Amounts are exact or refused with a code; they are never guessed and never pass through a float. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimalSignOf, parseAmount, sumOf } from '../../src/base/amount.ts';
import { sentenceFor } from '../../src/base/reasons/reasons.ts';

const point = { decimal: '.', accounting: false } as const;
const comma = { decimal: ',', accounting: false } as const;
const unsure = { decimal: 'unsure', accounting: false } as const;
const books = { decimal: '.', accounting: true } as const;

const read = (cell: string, form: typeof point | typeof comma | typeof unsure | typeof books) => {
  const parsed = parseAmount(cell, form);
  return parsed.status === 'amount' ? parsed.value : parsed.code;
};

const CASES: readonly (readonly [cell: string, form: Parameters<typeof read>[1], expected: string])[] = [
  ['1234.50', point, '1234.5'],
  ['1,234.50', point, '1234.5'],
  ['1,234.50', unsure, '1234.5'],
  ['1.234,50 €', comma, '1234.5'],
  ['1.234,50 €', unsure, '1234.5'],
  ['1.234,50 €', point, 'AMOUNT_NOT_A_NUMBER'],
  ['1 234,50 р.', comma, '1234.5'],
  ['￥１，２３４', point, '1234'],
  ['1,234円', point, '1234'],
  ['\\1,234', point, '1234'], // the yen sign of Shift-JIS
  ['1234.50元', point, '1234.5'],
  ['12,000원', point, '12000'],
  ['5²', point, 'AMOUNT_NOT_A_NUMBER'],
  ['1 234,50', comma, '1234.5'],
  ['1\u202f234,50', comma, '1234.5'],
  ["1'234.50", point, '1234.5'],
  ["'1'234.50", point, '1234.5'],
  ["'12.50", point, '12.5'],
  ['12,34,567.5', point, '1234567.5'],
  ['1,234', point, '1234'],
  ['1,234', comma, '1.234'],
  ['1,234', unsure, 'AMOUNT_AMBIGUOUS'],
  ['1.234.567', unsure, '1234567'],
  ['1,234,567', unsure, '1234567'],
  ['1.5', comma, 'AMOUNT_NOT_A_NUMBER'],
  ['$5', point, '5'],
  ['-$5.00', point, '-5'],
  ['EUR 1.234,00', comma, '1234'],
  ['10 kr', point, '10'],
  ['Rs. 12,34,567.50', point, '1234567.5'],
  ['Rs.500', point, '500'],
  ['Rp 1.234.567', comma, '1234567'],
  ['RM12.50', point, '12.5'],
  ['1.234,50 TL', comma, '1234.5'],
  ['12,50 лв.', comma, '12.5'],
  ['205,15 Euro', comma, '205.15'],
  ['205,15 Euro', unsure, '205.15'],
  ['Euro 1.205,15', comma, '1205.15'],
  ['1.205,15 EURO', unsure, '1205.15'],
  ['1,234 euros', unsure, 'AMOUNT_AMBIGUOUS'],
  ['12.50 US-Dollar', point, '12.5'],
  ['eur 5', point, '5'],
  ['5 all', point, 'AMOUNT_NOT_A_NUMBER'],
  ['about 5 Euro', point, 'AMOUNT_NOT_A_NUMBER'],
  ['R$ 10', point, '10'],
  ['US $1,057.00', point, '1057'],
  ['-MXN $12.50', point, '-12.5'],
  ['1 234,50 грн', comma, '1234.5'],
  ['1,234.50 บาท', point, '1234.5'],
  ['1.234.000 VNĐ', comma, '1234000'],
  // Thousands, millions and cents of a currency.
  ['12 k€', comma, 'AMOUNT_NOT_A_NUMBER'],
  ['T€ 12', comma, 'AMOUNT_NOT_A_NUMBER'],
  ['K $12', point, 'AMOUNT_NOT_A_NUMBER'],
  ['5Mio€', comma, 'AMOUNT_NOT_A_NUMBER'],
  ['3M$', point, 'AMOUNT_NOT_A_NUMBER'],
  ['50¢', point, 'AMOUNT_NOT_A_NUMBER'],
  ['12 STK €', comma, 'AMOUNT_NOT_A_NUMBER'],
  ['-12.50', point, '-12.5'],
  ['\u221212.50', point, '-12.5'],
  ['+12.50', point, '12.5'],
  // A dash in place of the cents: no sign in the cell is a decimal sign.
  ["CHF 1'234.50", point, '1234.5'],
  ['12.-', comma, '12'],
  ['CHF 12.–', unsure, '12'],
  ['Fr. 1’000.—', point, '1000'],
  ['1.234.-', point, '1234'],
  ['12,-- €', point, '12'],
  ['-12.-', comma, '-12'],
  ['Rs 1,234/-', unsure, '1234'],
  ['Rs 1,234/-', comma, '1234'],
  ['Rs. 1,00,000/-', point, '100000'],
  ['500/=', point, '500'],
  ['(12.-)', books, '-12'],
  ['12.34.-', point, 'AMOUNT_NOT_A_NUMBER'],
  ['12.50.-', point, 'AMOUNT_NOT_A_NUMBER'],
  ['10.,00.000.-', comma, 'AMOUNT_NOT_A_NUMBER'],
  ['12.---', point, 'AMOUNT_NOT_A_NUMBER'],
  ['12/', point, 'AMOUNT_NOT_A_NUMBER'],
  // Credit, debit, and two signs: which number is meant is not clear.
  ['12.50 CR', books, 'AMOUNT_NOT_A_NUMBER'],
  ['12.50 DR', books, 'AMOUNT_NOT_A_NUMBER'],
  ['-12.50-', books, 'AMOUNT_NOT_A_NUMBER'],
  ['(12.50)-', books, 'AMOUNT_NOT_A_NUMBER'],
  ['(12.00)', books, '-12'],
  ['(€12.00)', books, '-12'],
  ['12.00-', books, '-12'],
  ['(12.00)', point, 'AMOUNT_PARENTHESES'],
  ['12.00-', point, 'AMOUNT_PARENTHESES'],
  ['00012', point, '12'],
  ['0', point, '0'],
  ['0.00', point, '0'],
  ['-0', point, 'AMOUNT_NEGATIVE_ZERO'],
  ['(0.00)', books, 'AMOUNT_NEGATIVE_ZERO'],
  ['1e309', point, 'AMOUNT_EXPONENT'],
  ['1,5E+5', comma, 'AMOUNT_EXPONENT'],
  ['NaN', point, 'AMOUNT_NOT_A_NUMBER'],
  ['1.5 MIO', point, 'AMOUNT_NOT_A_NUMBER'],
  ['12 DEC', point, 'AMOUNT_IS_DATE'],
  ['5 PCS', point, 'AMOUNT_NOT_A_NUMBER'],
  ['CFA 500', point, 'AMOUNT_NOT_A_NUMBER'],
  ['3. août', point, 'AMOUNT_IS_DATE'],
  ['Mär 24', point, 'AMOUNT_IS_DATE'],
  ['Infinity', point, 'AMOUNT_NOT_A_NUMBER'],
  ['0x10', point, 'AMOUNT_NOT_A_NUMBER'],
  ['5%', point, 'AMOUNT_NOT_A_NUMBER'],
  ['=1+1', point, 'AMOUNT_NOT_A_NUMBER'],
  ['12 34', point, 'AMOUNT_NOT_A_NUMBER'],
  ['1.2.3', point, 'AMOUNT_NOT_A_NUMBER'],
  ['1,23', point, 'AMOUNT_NOT_A_NUMBER'],
  ['--5', point, 'AMOUNT_NOT_A_NUMBER'],
  ['٣٤', point, '34'],
  ['١٬٢٣٤٫٥٠ ر.س', unsure, '1234.5'],
  ['۱۲۵۰۰۰ تومان', unsure, '125000'],
  ['\u200f1,234.50 \u200f₪', point, '1234.5'],
  ['1.250.000đ', comma, '1250000'],
  ['$25.00 USD', point, '25'],
  ['241291.15000000002', point, '241291.15'],
  ['241291,15000000002', comma, '241291.15'],
  ['59.989999999999995', point, '59.99'],
  ['9.9999999999999982', point, '10'],
  ['-0.30000000000000004', point, '-0.3'],
  ['0.12345000000000002', point, 'AMOUNT_TOO_PRECISE'],
  ['5.000000001', point, 'AMOUNT_TOO_PRECISE'],
  ['–8.00', point, '-8'],
  ['2024-01-05', point, 'AMOUNT_IS_DATE'],
  ['01.02.2024', comma, 'AMOUNT_IS_DATE'],
  ['1/2/24', point, 'AMOUNT_IS_DATE'],
  ['12-Jan', point, 'AMOUNT_IS_DATE'],
  ['12:30', point, 'AMOUNT_IS_DATE'],
  ['0.12345', point, 'AMOUNT_TOO_PRECISE'],
  ['0.12340', point, '0.1234'],
  ['1234567890123456', point, 'AMOUNT_OUT_OF_BOUNDS'],
  ['123456789012345', point, '123456789012345'],
  ['12345678901234.5', point, '12345678901234.5'],
  ['123456789012345.5', point, 'AMOUNT_OUT_OF_BOUNDS'],
  [`${'0'.repeat(59)}1`, point, '1'],
  [`${'0'.repeat(60)}1`, point, 'AMOUNT_NOT_A_NUMBER'],
  ['9'.repeat(400), point, 'AMOUNT_NOT_A_NUMBER'],
  // Groups of three, or the Indian way, and nothing else.
  ['12,34,56,789', point, '123456789'],
  ['1,2,345', point, 'AMOUNT_NOT_A_NUMBER'],
  ['123,45,678', point, 'AMOUNT_NOT_A_NUMBER'],
  ['12,345,67', point, 'AMOUNT_NOT_A_NUMBER'],
  ['1234,567', point, 'AMOUNT_NOT_A_NUMBER'],
  ['0,123', point, 'AMOUNT_NOT_A_NUMBER'],
  ['1 234', point, '1234'],
  ['1’234', point, '1234'],
  ['12 345 67', point, 'AMOUNT_NOT_A_NUMBER'],
  ['1 234,567', point, 'AMOUNT_NOT_A_NUMBER'],
  // Bookkeepers’ signs are those of the whole cell.
  ['( 12 )', books, '-12'],
  ['12 -', books, '-12'],
  ['(12', books, 'AMOUNT_NOT_A_NUMBER'],
  ['12)', books, 'AMOUNT_NOT_A_NUMBER'],
  ['a(12)', books, 'AMOUNT_NOT_A_NUMBER'],
  ['x12-', books, 'AMOUNT_NOT_A_NUMBER'],
  ['x1e5', point, 'AMOUNT_NOT_A_NUMBER'],
  ['1e5x', point, 'AMOUNT_NOT_A_NUMBER'],
  ['7 Fr', point, '7'],
  ['7 Fr.', point, '7'],
  ['ABCD$ 7', point, 'AMOUNT_NOT_A_NUMBER'],
  ['2024-01-05T10:00', point, 'AMOUNT_IS_DATE'],
  ['x2024-01-05', point, 'AMOUNT_NOT_A_NUMBER'],
  ['2024-01-05x', point, 'AMOUNT_NOT_A_NUMBER'],
  ['1/2/2024 10:00', point, 'AMOUNT_IS_DATE'],
  ['5 Mar 24', point, 'AMOUNT_IS_DATE'],
  ['Mar 5,2024', point, 'AMOUNT_IS_DATE'],
  ['12/2024', point, 'AMOUNT_IS_DATE'],
  ['12:30:15', point, 'AMOUNT_IS_DATE'],
];

test.each(CASES)('%j with %j is %s', (cell, form, expected) => {
  expect(read(cell, form)).toBe(expected);
});

test.each([
  ['1,234', unsure, '--decimal'],
  ['(12.00)', point, '--accounting'],
])('the refusal of %j names the option that settles it', (cell, form, option) => {
  const parsed = parseAmount(cell, form);
  expect(parsed.status === 'refused' && sentenceFor(parsed.code, parsed.facts ?? {})).toContain(option);
});

test.each([
  ['1,234', unsure, { either: '1234', or: '1.234' }],
  ['12.34567', point, { decimals: 5, most: 4 }],
  ['123456789012345.5', point, { most: 15 }],
  ['1.2.3', point, { decimal: '.' }],
])('the refusal of %j with %j says %j', (cell, form, facts) => {
  expect(parseAmount(cell, form)).toMatchObject({ status: 'refused', facts });
});

test('a number with more than four decimals is refused, however it is written', () => {
  for (const cell of ['1.23456', ' 1.23456', '1,001.23456'])
    expect(parseAmount(cell, point)).toMatchObject({ code: 'AMOUNT_TOO_PRECISE' });
  expect(parseAmount('1.2345', point)).toMatchObject({ value: '1.2345' });
});

test('the sum of amounts is exact', () => {
  const parts = fc.array(fc.integer({ min: -10_000_000_000, max: 10_000_000_000 }), { maxLength: 8 });
  const written = (units: number) => String(units / 10_000); // exact: a double holds far more digits
  fc.assert(
    fc.property(parts, (units) => {
      const sum = units.reduce((all, one) => all + one, 0);
      expect(sumOf(units.map(written))).toEqual({ status: 'amount', value: written(sum), currency: undefined });
    }),
  );
  expect(sumOf(['999999999999999', '1'])).toMatchObject({ status: 'refused', code: 'AMOUNT_OUT_OF_BOUNDS' });
});

test('returns the currency that was removed, by one name however it is written', () => {
  expect(parseAmount('1.234,50 €', comma)).toMatchObject({ currency: '€' });
  expect(parseAmount('5 Euro', comma)).toMatchObject({ currency: '€' });
  expect(parseAmount('EUR 5', comma)).toMatchObject({ currency: '€' });
  expect(parseAmount('usd 5', comma)).toMatchObject({ currency: 'USD' });
  expect(parseAmount('CHF 12', comma)).toMatchObject({ currency: 'CHF' });
  expect(parseAmount('12 Franken', comma)).toMatchObject({ currency: 'CHF' });
  for (const dollars of ['7 Dollars', '7 dollar', '$ 7', 'Dollar 7'])
    expect(parseAmount(dollars, comma)).toMatchObject({ currency: '$' });
  for (const yen of ['¥7', '￥7', '7円']) expect(parseAmount(yen, comma)).toMatchObject({ currency: '¥' });
  expect(parseAmount('RMB 7', comma)).toMatchObject({ currency: 'CNY' });
  expect(parseAmount('US$ 7', comma)).toMatchObject({ currency: 'US$' });
  expect(parseAmount('12', comma)).toMatchObject({ currency: undefined });
});

test('reads back every amount exactly, however it was grouped and signed', () => {
  const cents = fc.bigInt({ min: -99_999_999_999_999n, max: 99_999_999_999_999n }).filter((n) => n !== 0n);
  fc.assert(
    fc.property(cents, fc.constantFrom('', ',', ' ', "'"), fc.constantFrom('.', ','), (amount, group, decimal) => {
      fc.pre(group !== decimal);
      const digits = String(amount < 0n ? -amount : amount).padStart(3, '0');
      const [whole, fraction] = [digits.slice(0, -2), digits.slice(-2)];
      const written = `${amount < 0n ? '-' : ''}${whole.replace(/\B(?=(\d{3})+$)/g, group)}${decimal}${fraction}`;
      const value = read(written, decimal === '.' ? point : comma);
      const [readWhole = '', readFraction = ''] = value.replace('-', '').split('.');
      expect(BigInt(readWhole) * 100n + BigInt(readFraction.padEnd(2, '0'))).toBe(amount < 0n ? -amount : amount);
      expect(value.startsWith('-')).toBe(amount < 0n);
    }),
  );
});

test('every accepted amount is a JSON number that a double carries unchanged', () => {
  const cell = fc.string({ unit: fc.constantFrom(..."0123456789.,-+() 'eE€"), maxLength: 12 });
  fc.assert(
    fc.property(cell, fc.constantFrom(point, comma, unsure, books), (text, form) => {
      const parsed = parseAmount(text, form);
      if (parsed.status === 'amount') expect(String(Number(parsed.value))).toBe(parsed.value);
    }),
    { numRuns: 5_000 },
  );
});

test.each([
  ['1,234.50', '.'],
  ['1.234,50', ','],
  ['12.5', '.'],
  ['12,5', ','],
  ['1,234', 'either'],
  ['12.345.678', 'not .'],
  ['12,34,567', 'not ,'],
  ['12.345.678,9', ','],
  ['0,123', ','],
  ['123456.789', '.'],
  ["'1,50", ','],
  ['€ 1.50', '.'],
  ['1,234/-', undefined],
  ['12.-', undefined],
  ['1234', undefined],
  ['open', undefined],
  ['x1.5y', undefined],
  [`${'1'.repeat(60)}.5`, undefined],
])('%j shows that the decimal sign is %s', (cell, sign) => {
  expect(decimalSignOf(cell)).toBe(sign);
});
