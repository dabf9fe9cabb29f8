/**
 * Detects the encoding of a file from its byte order mark, its zero bytes and whether *all* of it is valid UTF-8, and decodes
 * its text as a stream.
 */
import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';

/**
 * One byte each: Western and Central Europe, Hebrew, Arabic, Cyrillic, Greek, Turkish, Baltic, Central Europe on Linux, Macs before
 * OS X, MS-DOS in Western Europe, Cyrillic on Unix and MS-DOS.
 */
export const SINGLE_BYTE = [
  ...(['windows-1252', 'windows-1250', 'windows-1255', 'windows-1256', 'windows-1251', 'windows-1253'] as const),
  ...(['windows-1254', 'windows-1257', 'iso-8859-2', 'macintosh', 'cp850', 'koi8-r', 'cp866'] as const),
] as const;
/** One or more bytes each: Korean, Japanese (Unix), Chinese (traditional, simplified), Japanese (Windows). */
export const MULTI_BYTE = ['euc-kr', 'euc-jp', 'big5', 'gb18030', 'shift_jis'] as const;
export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', ...SINGLE_BYTE, ...MULTI_BYTE] as const;
export type Encoding = (typeof ENCODINGS)[number];
type SingleByte = (typeof SINGLE_BYTE)[number];

export interface DetectedEncoding {
  readonly encoding: Encoding;
  readonly hasBom: boolean;
  /** The reason for this encoding, for people. */
  readonly why: string;
  /** True if all bytes can be decoded: a U+FFFD in the text is then in the file itself. */
  readonly isExact: boolean;
}

/** `chosen` overrides the detected encoding. */
export function detectEncoding(
  { sample, isUtf8: isAllUtf8 }: { readonly sample: Buffer; readonly isUtf8: boolean },
  chosen?: Encoding,
): DetectedEncoding {
  const marked = byMark(sample);
  const found = (encoding: Encoding, why: string): DetectedEncoding => {
    const isExact = isSingleByte(encoding) || (encoding === 'utf-8' && isAllUtf8);
    return { encoding, hasBom: marked === encoding, why, isExact };
  };
  if (chosen) return found(chosen, 'as chosen');
  if (marked) return found(marked, 'its byte order mark');
  const encoding = utf16Of(sample);
  if (encoding) return found(encoding, 'every other byte is zero');
  if (isAllUtf8) return found('utf-8', 'all of it is valid UTF-8');
  if (isMostlyUtf8(sample)) return found('utf-8', 'most of it is valid UTF-8, but not all');
  if (sample.includes('\r') && !sample.includes('\n'))
    return found('macintosh', 'it is not valid UTF-8, and its lines end as on an old Mac');
  return found('windows-1252', 'it is not valid UTF-8');
}

/**
 * A stray byte in UTF-8 makes one row unreadable; read as windows-1252, the file would have errors in all other rows. Whole words
 * count, because pairs of bytes of another encoding are often valid: those of half-width kana are.
 */
function isMostlyUtf8(sample: Buffer): boolean {
  const text = new TextDecoder('utf-8').decode(sample, { stream: true });
  const words = text.split(/[\s,;|"]/u).filter((word) => /[^\0-\x7f]/.test(word));
  const readable = words.filter((word) => !word.includes('\ufffd')).length;
  return readable > 0 && readable * 2 >= words.length;
}

/** Decodes bytes to text without its byte order mark. What cannot be decoded becomes U+FFFD, which validation reports. */
export async function* decodeText(bytes: AsyncIterable<Uint8Array>, encoding: Encoding): AsyncGenerator<string> {
  if (isSingleByte(encoding)) {
    for await (const block of bytes) yield decodeBytes(block, encoding);
    return;
  }
  const decoder = new TextDecoder(encoding);
  let isBegun = false;
  for await (const block of bytes) {
    const text = decoder.decode(block, { stream: true });
    yield isBegun ? text : withoutMark(text, encoding);
    isBegun ||= text !== '';
  }
  yield decoder.decode();
}

/** Decodes the beginning of a file; a character that is cut off at its end is left out. */
export function decodeSample(sample: Buffer, encoding: Encoding): string {
  if (isSingleByte(encoding)) return decodeBytes(sample, encoding);
  return withoutMark(new TextDecoder(encoding).decode(sample, { stream: true }), encoding);
}

/** The decoder removes the marks of UTF-8 and UTF-16. */
function withoutMark(text: string, encoding: Encoding): string {
  return encoding === 'gb18030' ? text.replace(/^\ufeff/, '') : text;
}

/** The bytes of a text; what the encoding does not have becomes a question mark. */
export function encodeText(text: string, encoding: Encoding): Buffer {
  switch (encoding) {
    case 'utf-8':
      return Buffer.from(text);
    case 'utf-16le':
      return Buffer.from(text, 'utf16le');
    case 'utf-16be':
      return Buffer.from(text, 'utf16le').swap16();
    default:
      return isSingleByte(encoding) ? encodeBytes(text, encoding) : iconv.encode(text, encoding);
  }
}

/** Whether a stream of bytes is valid UTF-8. A character may be split between two blocks. */
export class Utf8Check {
  #isValid = true;
  #rest: Uint8Array = new Uint8Array(0);

  add(block: Buffer): void {
    if (!this.#isValid) return;
    const bytes = this.#rest.length === 0 ? block : Buffer.concat([this.#rest, block]);
    const end = wholeCharacters(bytes);
    this.#isValid = isUtf8(bytes.subarray(0, end));
    this.#rest = Uint8Array.prototype.slice.call(bytes, end);
  }

  end(): boolean {
    return this.#isValid && this.#rest.length === 0;
  }
}

/**
 * Detects UTF-16 by its byte order mark, or by the position of its zero bytes: in any language, delimiters and line
 * ends have one each.
 */
export function utf16Of(sample: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const marked = byMark(sample);
  if (marked === 'utf-16le' || marked === 'utf-16be') return marked;
  const length = Math.min(sample.length, 64 * 1024) & ~1;
  let even = 0;
  let odd = 0;
  for (let i = 0; i < length; i += 2) {
    if (sample[i] === 0) even += 1;
    if (sample[i + 1] === 0) odd += 1;
  }
  const many = Math.max(4, length / 20);
  if (odd >= many && even * 10 < odd) return 'utf-16le';
  return even >= many && odd * 10 < even ? 'utf-16be' : undefined;
}

function byMark(sample: Uint8Array): Encoding | undefined {
  if (sample[0] === 0xef && sample[1] === 0xbb && sample[2] === 0xbf) return 'utf-8';
  if (sample[0] === 0xff && sample[1] === 0xfe) return 'utf-16le';
  if (sample[0] === 0xfe && sample[1] === 0xff) return 'utf-16be';
  if ([0x84, 0x31, 0x95, 0x33].every((byte, index) => sample[index] === byte)) return 'gb18030';
  return undefined;
}

/** The number of bytes before a character that is cut off at the end. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) {
      const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needs > back ? bytes.length - back : bytes.length;
    }
    if (byte < 0x80) break;
  }
  return bytes.length;
}

export function isSingleByte(encoding: Encoding): encoding is SingleByte {
  return SINGLE_BYTE.some((one) => one === encoding);
}

/**
 * 0x80 to 0x9f in windows-1252; the five unassigned ones stay control characters, as in the WHATWG's table. Written here, because
 * some releases of Node decode windows-1252 as ISO 8859-1, where the euro sign is a control character.
 */
const UPPER_1252 =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

/** The characters of the bytes from 0x80 on. */
function upperOf(encoding: SingleByte): string {
  const bytes = Buffer.from(Array.from({ length: 128 }, (_, index) => 0x80 + index));
  if (encoding === 'cp850') return iconv.decode(bytes, encoding); // TextDecoder does not have it
  if (encoding !== 'windows-1252') return new TextDecoder(encoding).decode(bytes);
  return UPPER_1252 + bytes.toString('latin1').slice(UPPER_1252.length);
}

function decodeBytes(bytes: Uint8Array, encoding: SingleByte): string {
  const upper = upperOf(encoding);
  const latin1 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return latin1.replace(/[\x80-\xff]/g, (character) => upper.charAt(character.charCodeAt(0) - 0x80));
}

function encodeBytes(text: string, encoding: SingleByte): Buffer {
  const upper = upperOf(encoding);
  const byteOf = (character: string) => {
    const at = upper.indexOf(character);
    return at === -1 ? '?' : String.fromCharCode(0x80 + at);
  };
  return Buffer.from(text.replace(/[^\0-\x7f]/gu, byteOf), 'latin1');
}
