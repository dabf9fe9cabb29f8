/**
 * Finds files that were read in the wrong encoding: bytes of other languages look like words that no language of Western
 * Europe has, such as "Micha³" for "Michał". Only for an encoding that is a guess.
 */
import { type Reading, UnclearFile } from './column-errors.ts';
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
  /** The first odd words, and the cells that they are in. */
  readonly #words: string[] = [];
  readonly #cells: string[] = [];

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
    const [own, ...readings] = this.#readings();
    const texts = new Map(readings.map(({ text }) => [text, readings.filter((one) => one.text === text)]));
    const as = [...texts].map(([text, same]) => `, as ${same.map(({ encoding }) => encoding).join(' or ')} "${text}"`);
    const [first] = readings;
    const unclear = new UnclearFile(
      'CSV_ENCODING_UNCLEAR',
      `${name} is not UTF-8, and has texts that look wrong: as ${own.encoding} "${own.text}"${as.join('')}.`,
      first === undefined
        ? 'Export the file again as UTF-8, or name its encoding with --encoding.'
        : `If ${readings.length === 1 ? 'that' : 'one of these'} is right, name its encoding, as in --encoding ${first.encoding}; otherwise export the file again as UTF-8.`,
    );
    unclear.readings = [...readings, own];
    throw unclear;
  }

  #judge(word: string, cell: string): void {
    if (!BEYOND_ASCII.test(word)) return;
    const judgement = judge(word.replace(SIGNS, ''));
    if (judgement === 'good') this.#good += 1;
    if (judgement !== 'odd') return;
    this.#odd += 1;
    if (this.#words.length === MOST_EXAMPLES) return;
    this.#words.push(word);
    this.#cells.push(cell);
  }

  /**
   * An example in the encoding of the file, then in the encodings in which the examples are words, those in which most of them are
   * first: the first example that the likeliest one reads otherwise. Whole cells in the encodings of East Asia, in which a byte of
   * a character may look like the end of a word.
   */
  #readings(): readonly [own: Reading, ...others: Reading[]] {
    const inSingle = SINGLE_BYTE.map((encoding) => {
      const texts = this.#words.map((word) => decodeSample(encodeText(word, this.#encoding), encoding));
      return { encoding, texts, words: texts.filter(isWord).length };
    });
    const bytes = this.#cells.map((cell) => encodeText(cell, this.#encoding));
    const inMulti = MULTI_BYTE.map((encoding) => {
      const texts = bytes.map((cell) => decodeSample(cell, encoding));
      const words = bytes.filter((cell) => COMMON[encoding].test(cell.toString('latin1')));
      return { encoding, texts, words: words.length };
    });
    const differsAt = (texts: readonly string[]) => texts.findIndex((text, at) => text !== this.#words[at]);
    const all = [...inSingle, ...inMulti].filter(({ texts }) => differsAt(texts) !== -1);
    const least = Math.max(1, Math.max(...all.map(({ words }) => words)) * NEARLY_ALL);
    const likely = all.filter(({ words }) => words >= least).toSorted((one, other) => other.words - one.words);
    const at = differsAt(likely[0]?.texts ?? ['']);
    const shown = (encoding: Encoding, text = '') => ({ text: [...text].slice(0, MOST_SHOWN).join(''), encoding });
    const others = likely.filter(({ texts }) => texts[at] !== this.#words[at]);
    return [shown(this.#encoding, this.#words[at]), ...others.map(({ encoding, texts }) => shown(encoding, texts[at]))];
  }
}

const MOST_SHOWN = 40;
const MOST_EXAMPLES = 50;
/** In the right encoding, nearly as many examples are words as in the one with the most. */
const NEARLY_ALL = 0.8;
/** The bytes of common characters: a text of another encoding has others soon. Japanese in EUC is Chinese but for its kana. */
const COMMON: Readonly<Record<(typeof MULTI_BYTE)[number], RegExp>> = {
  'euc-kr': /^(?:[\t-\x7e]|[\xa1-\xa3\xb0-\xc8][\xa1-\xfe])*$/,
  shift_jis:
    /^(?:[\t-\x7e]|[\x81-\x84\x87-\x9f\xe0-\xea\xfa-\xfc][\x40-\x7e\x80-\xfc]|(?<![a-z])[\xa1-\xdf]{2,}(?![a-z\xa1-\xdf]))*$/i,
  'euc-jp': /^(?:[\t-\x7e]|[\xa1-\xa5\xb0-\xcf][\xa1-\xfe]|\x8e[\xa1-\xdf])*$/,
  big5: /^(?:[\t-\x7e]|[\xa1-\xa3\xa4-\xc6][\x40-\x7e\xa1-\xfe])*$/,
  gb18030: /^(?:[\t-\x7e]|[\xa1-\xa3\xb0-\xd7][\xa1-\xfe])*$/,
};
const ALPHABETIC = [
  /^(?!.*(?:\p{Ll}\p{Lu}|[ªº]|[^\0-\x7f]{3}))[\p{Script=Latin}\p{N}'’-]+$/u,
  /^(?!.*(?:\p{Ll}\p{Lu}|\p{L}\p{Lu}\p{Ll}))(?:[\p{Script=Cyrillic}\p{N}'’-]+|[\p{Script=Greek}\p{N}'’-]+)$/u,
  ...[/^[\u05d0-\u05ea\p{N}'-]+$/u, /^[\p{Script=Arabic}\p{N}-]+$/u],
];

const isWord = (text: string) => ALPHABETIC.some((alphabet) => alphabet.test(text));

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
