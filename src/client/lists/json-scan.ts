/**
 * Two walkers over the bytes of JSON that find where values begin and end, across chunk borders. They do not validate:
 * JSON.parse reads what they delimit. All structural characters are ASCII, so multi-byte text passes through.
 */
import { ID_FORM } from '../call/flat-record.ts';

const QUOTE = 0x22;
export const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const CLOSE_BRACKET = 0x5d;

interface Frame {
  readonly array: boolean;
  key: string | undefined;
}

export type OutlineStop =
  /** All bytes are consumed. */
  | 'more'
  /** The array at `path` is about to close without an element; `index` is its bracket. */
  | 'empty-array'
  /** The array at `path` is about to give its first element, which starts at `index`. */
  | 'first-element'
  /** The object at `path` has a number or an id as its first key; `index` is the brace of the object under it. */
  | 'first-keyed'
  /** The outline exceeds its limit. */
  | 'too-large'
  /** The outline is deeper than any real answer; reading on would only cost memory. */
  | 'too-deep';

const MAX_LEVELS = 100_000;

/** Walks everything outside the lists, copies it into `outline`, and stops at every list that is in no other list. */
export class OutlineWalker {
  index = 0;
  /** What precedes it in the chunk is in the outline. */
  #copied = 0;
  readonly #outline: GrowingBytes;
  readonly #frames: Frame[] = [];
  #arraysOpen = 0;
  #opening = false;
  #isKeyed = false;
  readonly #text = new StringScanner();
  #keyStart: number | undefined;
  #keyIsNext = false;

  constructor(outline: GrowingBytes) {
    this.#outline = outline;
  }

  /** How many names lead to the walker's position. */
  get depth(): number {
    return this.#frames.length - this.#arraysOpen;
  }

  /** The names that lead to the walker's position, the number of an element included; takes time linear in the levels. */
  path(): string[] {
    return this.#frames.flatMap((frame) => (frame.key === undefined ? [] : [frame.key]));
  }

  walk(data: Buffer, from: number): OutlineStop {
    this.#copied = from;
    let at = from;
    while (at < data.length) {
      if (this.#text.isOpen) {
        at = this.#text.end(data, at);
        if (!this.#keepKey(data, at)) return 'too-large';
        continue;
      }
      const byte = data[at] ?? 0;
      const stop = this.#stopAt(byte);
      if (stop !== undefined) return this.#copy(data, at) ? stop : 'too-large';
      if (byte === QUOTE) this.#openText(at);
      else this.#step(byte);
      if (this.#frames.length > MAX_LEVELS) return 'too-deep';
      at++;
    }
    return this.#copy(data, data.length) ? 'more' : 'too-large';
  }

  /** Copies what precedes `at`, and moves there; false if that is too large. */
  #copy(data: Buffer, at: number): boolean {
    const isCopied = this.#outline.append(data.subarray(this.#copied, at));
    this.#copied = at;
    this.index = at;
    return isCopied;
  }

  /** Whether a list, or an object that may be one, begins at this byte. */
  #stopAt(byte: number): OutlineStop | undefined {
    if (isSpace(byte)) return undefined;
    if (this.#opening) {
      this.#opening = false;
      return byte === CLOSE_BRACKET ? 'empty-array' : 'first-element';
    }
    if (!this.#isKeyed || byte === COLON) return undefined;
    this.#isKeyed = false;
    return byte === OPEN_BRACE ? 'first-keyed' : undefined;
  }

  #openText(at: number): void {
    this.#text.isOpen = true;
    this.#keyStart = this.#keyIsNext ? this.#outline.length + at - this.#copied : undefined;
  }

  #step(byte: number): void {
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      const array = byte === OPEN_BRACKET;
      this.#frames.push({ array, key: undefined });
      this.#keyIsNext = !array;
      if (array && ++this.#arraysOpen === 1) this.#opening = true;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (this.#frames.pop()?.array) this.#arraysOpen--;
      this.#keyIsNext = false;
    } else if (byte === COLON) {
      this.#keyIsNext = false;
    } else if (byte === COMMA) {
      this.#keyIsNext = this.#frames.at(-1)?.array === false;
    }
  }

  /** Reads the key that ends at `at`, if one does; false if what precedes it is too large. */
  #keepKey(data: Buffer, at: number): boolean {
    if (this.#text.isOpen || this.#keyStart === undefined) return true;
    if (!this.#copy(data, at)) return false;
    this.#readKey(this.#keyStart);
    return true;
  }

  #readKey(start: number): void {
    this.#keyStart = undefined;
    const frame = this.#frames.at(-1);
    if (frame === undefined) return;
    const isFirst = frame.key === undefined;
    frame.key = parseKey(this.#outline.view(start));
    this.#isKeyed = isFirst && this.#arraysOpen === 0 && ID_FORM.test(frame.key);
  }
}

/** Finds the separators between the elements of one list. */
export class ElementScanner {
  #depth = 0;
  readonly #text = new StringScanner();

  /** The index of the next comma, closing bracket or brace of the list itself; -1 if it has not arrived. */
  separator(data: Buffer, from: number): number {
    let at = this.#text.isOpen ? this.#text.end(data, from) : from;
    while (at < data.length) {
      const byte = data[at];
      if (byte === QUOTE) {
        at = this.#text.end(data, at + 1);
        continue;
      }
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        this.#depth++;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (this.#depth === 0) return at;
        this.#depth--;
      } else if (byte === COMMA && this.#depth === 0) {
        return at;
      }
      at++;
    }
    return -1;
  }
}

/** Finds the end of a string, which may be in a later chunk. */
class StringScanner {
  isOpen = false;
  #escaped = false;

  /** The index after the closing quote; if it has not arrived, the length of `data` with `isOpen`. */
  end(data: Buffer, from: number): number {
    let escaped = this.#escaped;
    let at = from;
    for (; at < data.length; at++) {
      const byte = data[at];
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) break;
    }
    this.isOpen = at === data.length;
    this.#escaped = escaped;
    return this.isOpen ? at : at + 1;
  }
}

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function parseKey(bytes: Buffer): string {
  try {
    return String(JSON.parse(bytes.toString()));
  } catch {
    // An invalid key makes the whole outline unreadable when it is parsed at the end.
    return '';
  }
}

/** Bytes appended one after another up to a limit, kept in one buffer that doubles as it fills. */
export class GrowingBytes {
  #buffer = Buffer.allocUnsafe(1024);
  #length = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Returns false and appends nothing if the limit would be exceeded. */
  append(bytes: Uint8Array): boolean {
    const length = this.#length + bytes.length;
    if (length > this.#maxBytes) return false;
    if (length > this.#buffer.length) this.#grow(length);
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
    return true;
  }

  /** A view, valid until the next append. */
  view(start = 0): Buffer {
    return this.#buffer.subarray(start, this.#length);
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafe(Math.max(length, this.#buffer.length * 2));
    larger.set(this.view());
    this.#buffer = larger;
  }
}
