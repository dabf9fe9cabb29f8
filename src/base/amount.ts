/**
 * Amounts as exact decimals: text in, text out, never through a binary float.
 *
 * Digits may be grouped in threes (or the Indian way) by the other sign, a space or an apostrophe; a currency's sign, code
 * or name may be before or after. An amount that could mean two numbers is refused, not guessed: a rejected row is better than
 * an order that is a thousand times too high.
 */
import type { CellCode } from './reasons/cells.ts';
import type { Facts } from './reasons/reason.ts';
import { withoutMarks } from './visible.ts';

export type DecimalSign = '.' | ',';

export interface AmountForm {
  /** `unsure`: the file does not show it, so cells such as 1,234 are refused with AMOUNT_AMBIGUOUS. */
  readonly decimal: DecimalSign | 'unsure';
  /** Whether (12.00) and 12.00- mean minus 12, as in accounting. If not enabled, such cells are refused. */
  readonly accounting: boolean;
}

export type Amount =
  | { readonly status: 'amount'; readonly value: string; readonly currency: string | undefined }
  | { readonly status: 'refused'; readonly code: CellCode; readonly facts?: Facts };

/** As many digits as a double holds exactly. */
export const MAX_DIGITS = 15;
/** As many as a program writes of a binary number that is not exact. */
const BINARY_DIGITS = 16;
/** After the decimal sign, trailing zeros apart. */
const MAX_DECIMALS = 4;
const MAX_CHARS = 60;

/** The fast path for most cells, with the same result as the slow path. */
const PLAIN = /^[1-9]\d{0,10}(?:\.\d{0,3}[1-9])?$/;

export function parseAmount(cell: string, form: AmountForm): Amount {
  if (PLAIN.test(cell) && isPlain(cell, form)) return { status: 'amount', value: cell, currency: undefined };
  const text = plainText(cell);
  if (text.length > MAX_CHARS) return refused('AMOUNT_NOT_A_NUMBER');
  const { bare, currency } = withoutCurrency(text);
  const sign = signOf(bare);
  if (!/^[\d.,]*\d[\d.,]*$/.test(joined(sign.digits))) return refused(notDigits(text, bare));
  if (sign.isBookkeeping && !form.accounting) return refused('AMOUNT_PARENTHESES');
  const parts = split(sign.digits, form.decimal);
  if (parts.status === 'refused') return DATES.some((form) => form.test(text)) ? refused(notDigits(text, bare)) : parts;
  return bounded(parts, sign.isNegative, currency);
}

/**
 * Without a spreadsheet's mark for "this is text" and marks of the direction of text, and with the wide characters of East Asia
 * (１２０) and the digits and signs of Arabic and Persian (١٬٢٣٤٫٥) as those of ASCII.
 */
function plainText(cell: string): string {
  const text = BEYOND_ASCII.test(cell) ? inAscii(withoutMarks(cell)) : cell;
  return text.trim().replace(/^'/, '');
}

const BEYOND_ASCII = /[^\0-\x7f]/;

function inAscii(text: string): string {
  return text
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => `${digit.charCodeAt(0) & 0xf}`)
    .replace(/\u066b/g, '.')
    .replace(/\u066c/g, ',');
}

/** Whether the text names a currency as amounts do: `EUR`, `€`, `руб.`, `元`. */
export function isCurrency(text: string): boolean {
  return ONLY_CURRENCY.test(text);
}

/** Whether a currency is before or after the rest of the cell. */
export function hasCurrency(cell: string): boolean {
  return withoutCurrency(plainText(cell)).currency !== undefined;
}

/** An amount that `parseAmount` gave, in ten-thousandths: these can be added exactly. */
export function unitsOf(amount: string): bigint {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(MAX_DECIMALS, '0'));
}

/** The exact sum of amounts that `parseAmount` gave; refused if it has too many digits. */
export function sumOf(amounts: readonly string[]): Amount {
  const units = amounts.reduce((sum, amount) => sum + unitsOf(amount), 0n);
  const isNegative = units < 0n;
  const digits = String(isNegative ? -units : units).padStart(MAX_DECIMALS + 1, '0');
  const [whole, fraction] = [digits.slice(0, -MAX_DECIMALS), digits.slice(-MAX_DECIMALS)];
  return bounded({ status: 'parts', whole, fraction }, isNegative, undefined);
}

/**
 * What a cell shows about the decimal sign of its file. `either`: both signs are possible and give different numbers.
 * `not .`: its points group thousands, as in 1.234.567; this does not show what a comma means in other cells.
 */
export type DecimalHint = DecimalSign | 'either' | 'not .' | 'not ,';

export function decimalSignOf(cell: string): DecimalHint | undefined {
  if (cell.length > MAX_CHARS) return undefined;
  const digits = joined(signOf(withoutCurrency(plainText(cell)).bare).digits);
  if (!/^\d[\d.,]*\d$/.test(digits)) return undefined;
  const asPoint = split(digits, '.').status === 'parts';
  const asComma = split(digits, ',').status === 'parts';
  if (asPoint && asComma) return /[.,]/.test(digits) ? 'either' : undefined;
  if (asPoint) return digits.includes('.') ? '.' : 'not ,';
  if (asComma) return digits.includes(',') ? ',' : 'not .';
  return undefined;
}

interface Parts {
  readonly status: 'parts';
  readonly whole: string;
  readonly fraction: string;
}

type Refused = Extract<Amount, { status: 'refused' }>;

const refused = (code: CellCode, facts?: Facts): Refused => ({ status: 'refused', code, facts });

/**
 * Whether the cell means the same with either sign, or the sign is known to be the point, and the number is certainly
 * within the bounds.
 */
function isPlain(cell: string, { decimal }: AmountForm): boolean {
  return decimal === '.' || !cell.includes('.');
}

/** A list instead of any three capitals, because the letters in 5 MIO and 12 DEC are not a currency. */
const CODES = Intl.supportedValuesOf('currency').join('|');
/** Words that mean nothing but money, in any case; "Pound" may be a weight, and 5 all is not 5 Albanian lek. */
const NAMES = ['euros?', '(?:us[- ]?)?dollars?', 'franken', 'eur', 'usd', 'gbp', 'chf', 'rmb', 'lei']
  .map(inAnyCase)
  .join('|');
/** `ر.س`, `د.إ` and names: rial, riyal, dirham, dinar, pound, toman. */
const ARABIC = String.raw`\p{Script=Arabic}(?:\.\p{Script=Arabic})+\.?|ریال|ريال|درهم|دينار|جنيه|تومان`;
/** Letters that multiply, and no country: `k€`, `T€` and `Mio€`. */
const SCALE = '(?:[BKMTbkmt]|[Bb]n|[Mm](?:d|io|ln|rd)|[Tt]sd)';
/** The sign of a currency, not of its hundredth. */
const SIGN = String.raw`[^\P{Sc}¢￠]`;
const CURRENCY =
  /(?:CODES|NAMES|(?:(?!SCALE\p{Sc})[A-Za-z]{1,3})?SIGN|\\|kr\.?|S?Fr\.?|R[sp]\.?|RM|TL|Kč|zł|Ft|S\/\.?|(?:[Vv][Nn])?[đĐ]|руб\.?|р\.|грн\.?|лв\.?|บาท|[円元圓원]|ARABIC)/u.source
    .replace('CODES', CODES)
    .replace('NAMES', NAMES)
    .replace('SCALE', SCALE)
    .replace('SIGN', SIGN)
    .replace('ARABIC', ARABIC);
/** `US $5.00` and `MXN $5.00` */
const APART = `(?!${SCALE} )[A-Z]{1,3} ${SIGN}`;
const ONLY_CURRENCY = new RegExp(`^(?:${CURRENCY})$`, 'u');
const LEADING = new RegExp(`^([(+\\-−–]?)\\s*(${CURRENCY}|${APART})\\s*(?=[\\d(+\\-−–.,])`, 'u');
const TRAILING = new RegExp(`(?<=[\\d).,\\-−–—=])\\s*(${CURRENCY})\\s*(\\)?)$`, 'u');

function inAnyCase(pattern: string): string {
  return pattern.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

function withoutCurrency(text: string): { bare: string; currency: string | undefined } {
  const before = LEADING.exec(text);
  const rest = before ? `${before[1]}${text.slice(before[0].length)}` : text;
  const after = TRAILING.exec(rest); // also of "$25.00 USD"
  const bare = after ? `${rest.slice(0, after.index)}${after[2]}` : rest;
  const written = after?.[1] ?? before?.[2];
  return { bare, currency: written === undefined ? undefined : nameOf(written) };
}

const SIGNS = new Map([
  ...['EUR', 'EURO', 'EUROS'].map((name) => [name, '€'] as const),
  ...['DOLLAR', 'DOLLARS'].map((name) => [name, '$'] as const),
  ...[['FRANKEN', 'CHF'] as const, ['RMB', 'CNY'] as const],
  ...[['\\', '¥'] as const, ['￥', '¥'] as const, ['円', '¥'] as const, ['원', '₩'] as const],
]);

/** One name for each currency, however it is written. */
function nameOf(written: string): string {
  const name = written.toUpperCase();
  return SIGNS.get(name) ?? (/^[A-Z]{3}$/.test(name) ? name : written);
}

function signOf(bare: string): { digits: string; isNegative: boolean; isBookkeeping: boolean } {
  const inside = /^\((.*)\)$/.exec(bare)?.[1];
  if (inside !== undefined) return { digits: inside.trim(), isNegative: true, isBookkeeping: true };
  const behind = /^(.*\d)\s*[-−]$/.exec(bare)?.[1];
  if (behind !== undefined) return { digits: behind, isNegative: true, isBookkeeping: true };
  const before = /^([-−–+])\s*(.*)$/.exec(bare);
  if (!before) return { digits: bare, isNegative: false, isBookkeeping: false };
  return { digits: before[2] ?? '', isNegative: before[1] !== '+', isBookkeeping: false };
}

const SPACED = /^\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?=[.,]|$)/;
const APOSTROPHED = /^\d{1,3}(?:['’]\d{3})+(?=[.,]|$)/;

/** `12.-`, `12,--` and `1,234/-` have a dash in place of the cents, so no sign before it is a decimal sign. */
const NO_CENTS = /(?<=\d)(?:[.,][-−–—]{1,2}|\/[-=])$/;

/** The text without the spaces or apostrophes that group digits, if they group in threes; without cents, without other signs too. */
function joined(written: string): string {
  const digits = written.replace(NO_CENTS, '');
  const sign = digits === written ? undefined : (['.', ','] as const).find((one) => digits.includes(one));
  if (sign !== undefined) return isGrouped(digits, sign) ? digits.replaceAll(sign, '') : written;
  const grouped = SPACED.exec(digits) ?? APOSTROPHED.exec(digits);
  return grouped ? grouped[0].replace(/\D/g, '') + digits.slice(grouped[0].length) : digits;
}

function split(grouped: string, decimal: AmountForm['decimal']): Parts | Refused {
  const digits = joined(grouped);
  if (decimal === 'unsure') {
    const [asPoint, asComma] = [split(grouped, '.'), split(grouped, ',')];
    if (asPoint.status === 'refused') return asComma.status === 'refused' ? refused(asComma.code) : asComma;
    if (asComma.status === 'refused') return asPoint;
    if (asPoint.whole === asComma.whole && asPoint.fraction === asComma.fraction) return asPoint;
    return refused('AMOUNT_AMBIGUOUS', { either: plain(asPoint), or: plain(asComma) });
  }
  const at = digits.indexOf(decimal);
  const whole = at === -1 ? digits : digits.slice(0, at);
  const fraction = at === -1 ? '' : digits.slice(at + 1);
  const other = decimal === '.' ? ',' : '.';
  const groupedBySpace = digits !== grouped;
  if (!/^\d*$/.test(fraction) || (whole.includes(other) && (groupedBySpace || !isGrouped(whole, other)))) {
    return refused('AMOUNT_NOT_A_NUMBER', { decimal });
  }
  return { status: 'parts', whole: whole.replaceAll(other, ''), fraction };
}

const plain = ({ whole, fraction }: Pick<Parts, 'whole' | 'fraction'>) =>
  fraction === '' ? whole : `${whole}.${fraction}`;

function isGrouped(whole: string, sign: '.' | ','): boolean {
  const groups = whole.split(sign);
  const [first = '', ...more] = groups;
  if (!/^[1-9]\d{0,2}$/.test(first) || !/^\d{3}$/.test(more.at(-1) ?? '')) return false;
  if (more.every((group) => /^\d{3}$/.test(group))) return true;
  return first.length <= 2 && more.slice(0, -1).every((group) => /^\d{2}$/.test(group)); // 12,34,567
}

/**
 * 241291.15000000002 and 59.989999999999995 are how programs write a sum of binary numbers: its last digits, after at least five
 * zeros or nines, say nothing.
 */
function withoutNoise({ whole, fraction }: Pick<Parts, 'whole' | 'fraction'>): Pick<Parts, 'whole' | 'fraction'> {
  const noise = /^\d{0,4}?(?:(0{5,})|9{5,})\d{1,2}$/.exec(fraction);
  if (!noise || (whole + fraction).length < BINARY_DIGITS) return { whole, fraction };
  const units = BigInt(whole + fraction.slice(0, MAX_DECIMALS)) + (noise[1] === undefined ? 1n : 0n);
  const digits = String(units).padStart(MAX_DECIMALS + 1, '0');
  return { whole: digits.slice(0, -MAX_DECIMALS), fraction: digits.slice(-MAX_DECIMALS) };
}

function bounded(written: Parts, isNegative: boolean, currency: string | undefined): Amount {
  const parts = withoutNoise(written);
  const whole = parts.whole.replace(/^0+(?=\d)/, '') || '0';
  const fraction = parts.fraction.replace(/0+$/, '');
  if (fraction.length > MAX_DECIMALS) {
    return refused('AMOUNT_TOO_PRECISE', { decimals: fraction.length, most: MAX_DECIMALS });
  }
  if (whole.length + fraction.length > MAX_DIGITS) {
    return refused('AMOUNT_OUT_OF_BOUNDS', { most: MAX_DIGITS });
  }
  const value = plain({ whole, fraction });
  if (value === '0' && isNegative) return refused('AMOUNT_NEGATIVE_ZERO');
  return { status: 'amount', value: isNegative ? `-${value}` : value, currency };
}

const LANGUAGES = ['en', 'de', 'es', 'fr', 'it', 'nl', 'pl', 'pt', 'sv', 'tr'];
/** Three letters tell months from pieces. */
const MONTH = `(?:${[...new Set(LANGUAGES.flatMap(monthsIn))].join('|')})[a-zà-ž]*`;

function monthsIn(language: string): readonly string[] {
  const names = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' });
  return Array.from({ length: 12 }, (_, month) => names.format(Date.UTC(2000, month)).slice(0, 3).toLowerCase());
}

const DATES = [
  /^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?$/,
  /^\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([T ].*)?$/,
  new RegExp(`^\\d{1,2}\\.?[- ]?${MONTH}\\.?([- ]\\d{2,4})?$`, 'i'),
  new RegExp(`^${MONTH}\\.?[- ]\\d{1,4}(, ?\\d{4})?$`, 'i'),
  /^\d{1,2}\/\d{1,4}$/,
  /^\d{1,2}:\d{2}(:\d{2})?$/,
];

function notDigits(text: string, bare: string): CellCode {
  if (/^[+-]?[\d.,]+e[+-]?\d+$/i.test(bare)) return 'AMOUNT_EXPONENT';
  return DATES.some((form) => form.test(text)) ? 'AMOUNT_IS_DATE' : 'AMOUNT_NOT_A_NUMBER';
}
