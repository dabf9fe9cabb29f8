/**
 * Finds files that were read in the wrong encoding: bytes of other languages look like words that no language of Western
 * Europe has, such as "Micha³" for "Michał". Only for an encoding that is a guess.
 */
import { UnclearFile } from './column-errors.ts';
import {
  type DetectedEncoding,
  decodeSample,
  type Encoding,
  encodeText,
  isSingleByte,
  MULTI_BYTE,
  SINGLE_BYTE,
} from './encoding.ts';

/** The letters beyond ASCII that one word may have: French, German, Spanish, Portuguese, Italian, Catalan, Dutch, Swedish, Danish, Icelandic. */
const ALPHABETS = [
  ...['àâæçéèêëîïôœùûüÿ', 'äöüßé', 'áéíóúñüç', 'áâãàçéêíóôõúü', 'àèéìîòóù'],
  ...['àçèéíïòóúü', 'éèëêïöüó', 'åäöéüà', 'æøåéèêóòôöäü', 'áéíóúýðþæö'],
];
/** Letters that Central Europe has at the same place: a word with no others tells nothing. */
const SHARED = /^[áâäçéëíîóôöúüýß]*$/;
/** Places in a word at which these languages do not have the letter, and others have the one that is encoded by the same byte. */
const MISPLACED: readonly RegExp[] = [
  ...[/ñ(?![aeiouáéíóú])/, /õ(?!e)/, /ã(?![oe]|s?$)/, /[ìù](?!$)/, /ò[aeiouyáé]/, /(?<![aeouéê])ï/],
  ...[/œ(?!u|d|s|r|i|v)(?!(?<=^œ)(?:no|cum))/, /iæ$|æ[aiouyw]/, /ø[aouáíé]|[ptk]øi/, /å[aouy]/],
  ...[/è[aeiouyêéáíýh]|[ai]è$|^è[^vrs]/, /[^ctbp]ê$|[^c]iê[^n]|ê[gwjk]/, /ç[^aeiouâãáéêíóôõúüà]/],
  ...[/[aeiouyáéíóúýæö]þ|þ$/, /ð[lý]|yý|ýz/],
];
/** A capital inside a word. */
const CAPITAL = /Ÿ|\p{Ll}[À-ÞŒŠŽ]/u;
const WORDS = /[^\s\0-&(-,./:-@[-`{-\x7f]+/g;
const BEYOND_ASCII = /[^\0-\x7f]/;
/** Signs at places at which people write them: quotes, units, apostrophes of French, English and Italian, dashes. */
const SIGNS = new RegExp(
  [
    ...[/^[“”«»„‘’‹›¿¡]+/u, /^[€£§•–—]+(?!\p{L})/u, /[“”«»’‘‹›…®™©–—€]+(?!\p{L})/u, /(?<=\p{L}{3})[–—](?=\p{L}{3})/u],
    ...[
      /[–—](?=[\p{Lu}\p{N}])/u,
      /(?<=[Mm])[²³](?!\p{L})/u,
      /(?<=^\p{N}+|^[Nn]|^M)[ªº°]/u,
      /(?<=^\p{N}*)µ(?=[mglsAFV]$)/u,
    ],
    ...[/(?<=\p{N})[½¼¾×±](?=\p{N}|$)/u, /(?<=l)·(?=l)/u, /(?<=^\p{L}{1,2}|ll|qu|ourd)[’´]/u],
    /(?<=[\p{L}\p{N}])[’´](?=(?:s|t|d|m|n|re|ve|ll)?$|\p{Lu})/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);
/** A file has some odd words in any encoding; in the wrong one, most of the words that tell something are odd. */
const MOST_ODD = 0.05;

export class WordCheck {
  readonly #encoding: DetectedEncoding['encoding'];
  readonly #isGuess: boolean;
  #odd = 0;
  #good = 0;
  #example = '';
  #cell = '';

  constructor({ encoding, why }: Pick<DetectedEncoding, 'encoding' | 'why'>) {
    this.#encoding = encoding;
    this.#isGuess = isSingleByte(encoding) && why !== 'as chosen';
  }

  add(cells: readonly string[]): void {
    if (!this.#isGuess) return;
    for (const cell of cells)
      if (BEYOND_ASCII.test(cell)) for (const [word] of cell.matchAll(WORDS)) this.#judge(word, cell);
  }

  /** Throws CSV_ENCODING_UNCLEAR (exit code 2). `name`: of the file. */
  refuse(name: string): void {
    if (this.#odd === 0 || this.#odd <= (this.#odd + this.#good) * MOST_ODD) return;
    const others = this.#readings();
    const as = others.map(([text, encodings]) => `, as ${encodings.join(' or ')} "${text}"`).join('');
    const readings = others.flatMap(([text, encodings]) => encodings.map((encoding) => ({ text, encoding })));
    const unclear = new UnclearFile(
      'CSV_ENCODING_UNCLEAR',
      `${name} is not UTF-8, and has texts that look wrong: as ${this.#encoding} "${this.#example}"${as}.`,
      `If one of these is right, name its encoding, as in --encoding ${others[0]?.[1][0] ?? this.#encoding}; otherwise export the file again as UTF-8.`,
    );
    unclear.readings = [...readings, { text: this.#example, encoding: this.#encoding }];
    throw unclear;
  }

  #judge(word: string, cell: string): void {
    if (!BEYOND_ASCII.test(word)) return;
    const judgement = judge(word.replace(SIGNS, ''));
    if (judgement === 'good') this.#good += 1;
    if (judgement !== 'odd') return;
    this.#odd += 1;
    if (this.#example !== '') return;
    this.#example = word.slice(0, MOST_SHOWN);
    this.#cell = cell;
  }

  /**
   * What the example is in other encodings, if it is one word there; its whole cell in those of East Asia, in which a byte
   * of a character may look like the end of a word.
   */
  #readings(): readonly (readonly [text: string, encodings: readonly Encoding[]])[] {
    const found = new Map<string, Encoding[]>();
    const bytes = encodeText(this.#example, this.#encoding);
    for (const encoding of SINGLE_BYTE) {
      const text = decodeSample(bytes, encoding);
      if (text === this.#example || !ONE_WORD.test(text) || CAPITAL_INSIDE.test(text)) continue;
      found.set(text, [...(found.get(text) ?? []), encoding]);
    }
    const cell = encodeText(this.#cell, this.#encoding);
    for (const encoding of MULTI_BYTE) {
      const text = decodeSample(cell, encoding);
      if (EAST_ASIAN.test(text)) found.set([...text].slice(0, MOST_SHOWN).join(''), [encoding]);
    }
    return [...found];
  }
}

const MOST_SHOWN = 40;
/** Only characters of Japanese, Chinese or Korean, without narrow ones, and ASCII. */
const EAST_ASIAN =
  /^[\x20-\x7e]*[\p{Script=Han}\p{Script=Hiragana}\p{Script=Hangul}\u30a0-\u30ff][\p{Script=Han}\p{Script=Hiragana}\p{Script=Hangul}\u3000-\u30ff\uff01-\uff5e\x20-\x7e]*$/u;
const CAPITAL_INSIDE = /\p{Ll}\p{Lu}/u;
const ONE_WORD = /^(?:[\p{Script=Latin}\p{N}'’-]+|[\p{Script=Cyrillic}\p{N}'’-]+|[\p{Script=Greek}\p{N}'’-]+)$/u;

function judge(word: string): 'good' | 'odd' | 'shared' {
  if (!BEYOND_ASCII.test(word) || !/\p{L}/u.test(word)) return 'shared';
  if (/[^\p{L}\p{N}'-]/u.test(word)) return 'odd';
  const parts = word.split(/['-]/).map(judgePart);
  return parts.find((one) => one === 'odd') ?? parts.find((one) => one === 'good') ?? 'shared';
}

function judgePart(part: string): 'good' | 'odd' | 'shared' {
  const word = part.toLowerCase();
  const letters = word.match(/[^\0-\x7f]/g) ?? [];
  if (CAPITAL.test(part) || /[^\0-\x7f]{3}/.test(word) || MISPLACED.some((one) => one.test(word))) return 'odd';
  if (SHARED.test(letters.join(''))) return 'shared';
  return ALPHABETS.some((alphabet) => letters.every((letter) => alphabet.includes(letter))) ? 'good' : 'odd';
}
