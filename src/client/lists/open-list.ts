/** A list of an answer while it arrives: which of its bytes are whole elements. */
import { isUtf8 } from 'node:buffer';
import { ID_FORM } from '../call/flat-record.ts';
import { type Json, parseJson } from '../call/json.ts';
import { CLOSE_BRACE, COMMA, ElementScanner, isSpace, OPEN_BRACE } from './json-scan.ts';

/** A longer run of elements is parsed before the next one is looked for. */
export const RUN_BYTES = 256 * 1024;

export class OpenList {
  readonly path: readonly string[];
  /** An object whose keys are numbers or ids. */
  readonly isKeyed: boolean;
  /** Undefined until the first element has shown whether these are records. */
  taking: boolean | undefined;
  /** Where the run of elements begins that is not yet parsed. */
  runStart: number;
  /** The last separator seen. */
  lastEnd: number;
  scanner = new ElementScanner();
  /** The key of the element that was read last, if it is keyed. The first one is in the outline, and others are before their elements. */
  key: string | undefined;
  #hasKeys = false;
  /** What is between the first two elements, from brace to brace; null if it does not show where an element ends. */
  #between: Buffer | null | undefined;

  /** `at`: where its first element begins; `key`: the key of that element. */
  constructor(from: Pick<OpenList, 'path' | 'isKeyed' | 'taking' | 'key'> & { readonly at: number }) {
    this.path = from.path;
    this.isKeyed = from.isKeyed;
    this.taking = from.taking;
    this.key = from.key;
    this.runStart = from.at;
    this.lastEnd = from.at;
  }

  /** The elements from `runStart` to the separator at `end`; undefined if they are not JSON. */
  endRun(data: Buffer, end: number): readonly Json[] | undefined {
    const run = data.subarray(this.runStart, end);
    const elements = parseRun(this.#hasKeys ? this.#withoutKey(run) : run);
    this.#hasKeys = this.isKeyed;
    this.runStart = end + 1;
    return elements;
  }

  /** One element of an object whose keys are numbers or ids; empty, which is broken JSON, if it has another key. */
  #withoutKey(element: Buffer): Buffer {
    const [before = '', key = ''] = /^\s*"([\da-z-]+)"\s*:/i.exec(element.toString('latin1')) ?? [];
    this.key = key;
    return element.subarray(ID_FORM.test(key) ? before.length : element.length);
  }

  /** Notes how the elements around a separator are separated. */
  learnSeparator(data: Buffer, at: number): void {
    if (this.#between !== undefined) return;
    let [from, to] = [at - 1, at + 1];
    while (isSpace(data[from])) from--;
    while (isSpace(data[to])) to++;
    if (to >= data.length) return; // the next element has not arrived
    const isBetween = data[from] === CLOSE_BRACE && data[to] === OPEN_BRACE;
    this.#between = isBetween ? Buffer.from(data.subarray(from, to + 1)) : null;
  }

  /**
   * Hands over runs that end where the bytes look like a separator, without looking at each byte. If JSON.parse can read such
   * a run, it is a sequence of whole elements. If not, the list has ended or the same bytes are within elements too, and
   * nothing is guessed any more. Returns where the scanner continues.
   */
  guessRuns(data: Buffer, from: number, onElements: (elements: readonly Json[]) => void): number {
    let next = from;
    while (this.#between) {
      const run = data.subarray(this.runStart, this.runStart + RUN_BYTES);
      const end = run.lastIndexOf(this.#between) + 1;
      if (end === 0) break;
      const elements = parseRun(run.subarray(0, end));
      if (elements === undefined) {
        this.#between = null;
        break;
      }
      onElements(elements);
      next = this.runStart + end + this.#between.indexOf(COMMA);
      [this.runStart, this.lastEnd, this.scanner] = [next, next, new ElementScanner()];
    }
    return next;
  }
}

/** The elements of a run; undefined if it is not JSON. A blank run means a surplus comma. */
export function parseRun(run: Buffer): readonly Json[] | undefined {
  const text = run.toString();
  if (text.trim() === '' || !isUtf8(run)) return undefined;
  try {
    return parseJson(`[${text}]`) as readonly Json[]; // safe: an array gives an array
  } catch {
    return undefined;
  }
}
