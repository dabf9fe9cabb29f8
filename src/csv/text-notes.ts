/** What a person should know about the texts of a file: how they were decoded, what another program left in them, and where they end. */

import type { MappedColumn } from './cell-source.ts';
import { type DetectedEncoding, isSingleByte } from './encoding.ts';
import { type CheckedRow, shownCell } from './validate.ts';

/** UTF-8 that a program read as windows-1252, and wrote as UTF-8 again: `JÃ¶rg`. */
const TWICE_ENCODED = /[ÂÃ][\u0080-\u00bf]|â€/;
const WITH_CENTS = /[.,]\d\d\D*$/;
const BEYOND_ASCII = /[^\0-\x7f]/;
/** A text of a web page: `Lee &amp; Co`. */
const ENTITY =
  /&(?:#\d{2,5}|#x[\da-f]{2,5}|amp|quot|apos|lt|gt|nbsp|szlig|[a-z](?:uml|acute|grave|circ|tilde|cedil|slash|ring));/i;

export class TextNotes {
  /** The encoding, if the file does not show it. */
  readonly #guess: string | undefined;
  /** The first text that shows how the file was decoded, and its line. */
  #decoded = '';
  #escaped = '';
  /** The last column of the file, if an order gets its values. */
  readonly #last: Pick<MappedColumn, 'field' | 'name'> | undefined;
  /** The value in which the file ends, and its line. */
  #end = '';

  constructor(
    { encoding, why }: Pick<DetectedEncoding, 'encoding' | 'why'>,
    last?: Pick<MappedColumn, 'field' | 'name'>,
  ) {
    this.#last = last;
    this.#guess = isSingleByte(encoding) && why !== 'as chosen' ? encoding : undefined;
  }

  add(row: CheckedRow): void {
    this.#decoded ||= exampleIn(this.#guess ? BEYOND_ASCII : TWICE_ENCODED, row);
    this.#escaped ||= exampleIn(ENTITY, row);
    if (row.status === 'valid' && row.isUnended) this.#end = this.#endIn(row);
  }

  /** Sentences without a full stop. */
  notes(): readonly string[] {
    return [...this.#endNote(), ...this.#decodingNote(), ...this.#entityNote()];
  }

  #endIn({ line, cells }: CheckedRow): string {
    const cell = cells.at(-1)?.trim() ?? '';
    if (this.#last === undefined || cell === '' || (this.#last.field === 'amount' && WITH_CENTS.test(cell))) return '';
    return `line ${line} (${this.#last.name}: ${shownCell(cell)})`;
  }

  /** A file that was cut off may end in a value that is still valid, such as customer 3 instead of 30. */
  #endNote(): readonly string[] {
    if (this.#end === '') return [];
    return [
      `the file ends without a line end, in ${this.#end}. If it was cut off there, correct that order, and load the whole file`,
    ];
  }

  #decodingNote(): readonly string[] {
    if (this.#decoded === '') return [];
    if (this.#guess === undefined)
      return [
        `texts were decoded wrongly before the file was written, and are loaded unchanged: ${this.#decoded}. If that is wrong, export it again as UTF-8`,
      ];
    return [
      `the file is not UTF-8 and is read as ${this.#guess}: ${this.#decoded}. If that is wrong, choose its encoding (\`--encoding\`), or export it again as UTF-8`,
    ];
  }

  #entityNote(): readonly string[] {
    if (this.#escaped === '') return [];
    return [
      `texts have HTML codes, such as &amp; for &, and are loaded unchanged: ${this.#escaped}. If that is wrong, export the file again without them`,
    ];
  }
}

function exampleIn(form: RegExp, { line, values }: CheckedRow): string {
  for (const text of Object.values(values)) if (form.test(text)) return `line ${line} (${shownCell(text)})`;
  return '';
}
