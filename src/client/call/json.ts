/**
 * JSON as services write it: integers beyond 2^53 keep their digits. JSON.parse rounds them, so that two ids become one.
 * They are read as `LongInteger` and written back into a body as the same number.
 */
import { randomUUID } from 'node:crypto';
import { storable } from '../../base/texts.ts';

export type Json = null | boolean | number | string | LongInteger | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** An integer that a float cannot represent. In text and in our own JSON it is a string of digits. */
export class LongInteger {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }

  toString(): string {
    return this.digits;
  }

  toJSON(): string {
    return this.digits;
  }
}

/** A long integer as stored in JSON: `wireJson` turns it into a number again. */
export function storedForm(value: number | string | LongInteger): number | string | { readonly $integer: string } {
  return value instanceof LongInteger ? { $integer: value.digits } : value;
}

/** Any value as text that can be stored: a form may leave half of an emoji. */
export function textOf(value: unknown): string {
  if (typeof value === 'number' || value instanceof LongInteger) return String(value);
  return typeof value === 'string' ? storable(value).trim() : '';
}

/** No text of a service begins with this mark. */
const MARK = `${randomUUID()}:`;
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g');
/** A float holds every integer with fewer digits. */
const LONG = 16;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const WHOLE = /^-?[1-9]\d{15,}$/;

/** @throws SyntaxError as JSON.parse does */
export function parseJson(text: string): Json {
  const marked = hasManyDigits(text) ? withMarks(text) : text;
  // JSON.parse returns JSON only.
  if (marked === text) return JSON.parse(text) as Json;
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? new LongInteger(value.slice(MARK.length)) : value,
  ) as Json;
}

/** The JSON of a request's body: long integers are written as numbers with all their digits. */
export function wireJson(body: unknown): string {
  if (!holdsLong(body)) return JSON.stringify(body);
  const text = JSON.stringify(body, function (this: Readonly<Record<string, unknown>>, name: string, value: unknown) {
    const digits = longDigits(this[name]);
    return digits === undefined ? value : `${MARK}${digits}`;
  });
  return text.replace(MARKED, '$1');
}

/** Checked first: almost no body contains one, and a replacer makes JSON.stringify several times slower. */
function holdsLong(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (longDigits(value) !== undefined) return true;
  for (const name in value) if (holdsLong((value as Readonly<Record<string, unknown>>)[name])) return true;
  return false;
}

function longDigits(value: unknown): string | undefined {
  if (value instanceof LongInteger) return value.digits;
  if (typeof value !== 'object' || value === null || !('$integer' in value)) return undefined;
  const { $integer: digits } = value;
  return typeof digits === 'string' && WHOLE.test(digits) ? digits : undefined;
}

/** Whether as many digits follow one another as a long integer has. It looks at each 16th character only, so that it is fast. */
function hasManyDigits(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let [from, to] = [at, at + 1];
    while (isDigit(text.charCodeAt(from - 1))) from--;
    while (isDigit(text.charCodeAt(to))) to++;
    if (to - from >= LONG) return true;
  }
  return false;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** The text with a marked string in place of each long integer; what is within strings stays as it is. */
function withMarks(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf('"', at);
    const outside = text.slice(at, open === -1 ? text.length : open);
    parts.push(hasManyDigits(outside) ? outside.replace(NUMBER, marked) : outside);
    if (open === -1) break;
    at = stringEnd(text, open + 1);
    parts.push(text.slice(open, at));
  }
  return parts.join('');
}

function marked(number: string): string {
  return WHOLE.test(number) && !Number.isSafeInteger(Number(number)) ? `"${MARK}${number}"` : number;
}

/** The index after the quote that ends a string. */
function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
  return text.length;
}
