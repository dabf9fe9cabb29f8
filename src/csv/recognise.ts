/** Which field a column's name means: the field's own name, a synonym, or a name that resembles one of these. */
import { isCurrency } from '../base/amount.ts';
import { editDistance } from '../base/closest.ts';
import { amountWords } from './amount-words.ts';
import {
  BILL_NOUNS,
  COMPANY_PARTS,
  CUSTOMER_PARTS,
  FIELDS,
  type Field,
  names,
  ORDER_NOUNS,
  PERSON_PARTS,
  SHARED,
  SYNONYMS,
  VAGUE_NAMES,
} from './fields.ts';
import { plainWords, withoutSmall } from './words.ts';

export interface Recognised {
  readonly field: Field;
  readonly how: 'exact' | 'synonym' | 'content' | 'fuzzy';
  readonly confidence: number;
}

/** The field of a header: by its exact name, a synonym, or a similar name of at least five letters. */
export function recognise(name: string): Recognised | undefined {
  return recogniseExactly(name) ?? similar(wordsOf(name).replace(NUMBER_END, ' nr'));
}

/** As `recognise`, without names that only resemble one: that takes most of its time. */
export function recogniseExactly(name: string): Recognised | undefined {
  const words = wordsOf(name);
  return named(words) ?? amountIn(words) ?? amountIn(withoutCurrency(name)) ?? orderInComment(name);
}

/** Some programs mark the line of the header as a comment, as in `#Order No`. `# Items` is a count. */
function orderInComment(name: string): Recognised | undefined {
  const known = name.startsWith('#') ? named(plainWords(name)) : undefined;
  return known?.field === 'order_id' ? known : undefined;
}

function wordsOf(name: string): string {
  return plainWords(name.replace(/#\s*$/, ' number').replace(/^\s*#(?=.)/, 'number '));
}

/** Whether it is a common name of a column, not only one like it. */
export function isColumnName(text: string): boolean {
  return named(plainWords(text)) !== undefined;
}

function named(words: string): Recognised | undefined {
  for (const form of new Set([words, withoutSmall(words), withoutSmall(words.replace(NUMBER_END, ' nr'))])) {
    const known = KNOWN.get(form) ?? ofContact(form) ?? ofCustomer(form) ?? orderNumber(form) ?? ofOrder(form);
    if (known) return known;
  }
  return undefined;
}

/** `Mobile No.`, `Telefonnummer` and `Email ID` */
function ofContact(words: string): Recognised | undefined {
  const apart = words.replace(NUMBER_END, ' nr');
  for (const number of NUMBER_WORDS) {
    const known = KNOWN.get(without(number, apart) ?? '');
    if (known?.field === (number === 'id' ? 'email' : 'phone_number'))
      return { ...known, how: 'synonym', confidence: Math.min(known.confidence, CONFIDENCE.synonym) };
  }
  return undefined;
}

/** `Buyer e-mail`, `telefono del cliente` and `billing person name` */
function ofCustomer(words: string): Recognised | undefined {
  for (const [parts, confidence] of CUSTOMER_NAMES) {
    for (const part of parts) {
      const rest = without(part, words);
      const { field } = rest === undefined ? {} : (KNOWN.get(rest) ?? ofContact(rest) ?? ofCustomer(rest) ?? {});
      const [reference] = SHARED.find((names) => names.some((one) => one === field)) ?? [];
      if (reference) return { field: reference, how: 'synonym', confidence };
    }
  }
  return undefined;
}

/** `Order No.`, `id pedido`; an invoice has a number for people, and may have an id for programs too: `Invoice No.` */
function orderNumber(words: string): Recognised | undefined {
  for (const [nouns, confidence] of NUMBERED) {
    const isNumber = (rest: string | undefined) => NUMBER_WORDS.has(rest ?? '') || LABEL_WORDS.has(rest ?? '');
    const rest = nouns.map((noun) => without(noun, words)).find(isNumber);
    if (rest)
      return {
        field: 'order_id',
        how: 'synonym',
        confidence: confidence - (rest === 'id' ? 0.0005 : LABEL_WORDS.has(rest) ? 0.001 : 0),
      };
  }
  return undefined;
}

/** `Order total`, `Deal - Stage` and `total de la commande` */
function ofOrder(words: string): Recognised | undefined {
  for (const part of [...ORDER_NOUNS, ...BILL_NOUNS]) {
    const known = KNOWN.get(without(part, words) ?? '');
    if (known && ['amount', 'description', 'status'].includes(known.field))
      return { ...known, how: 'synonym', confidence: Math.min(known.confidence, CONFIDENCE.synonym) };
  }
  return undefined;
}

/** Net or gross: not the exact name. */
function amountIn(name: string): Recognised | undefined {
  const known = named(amountWords(name));
  return known?.field === 'amount'
    ? { ...known, how: 'synonym', confidence: Math.min(known.confidence, CONFIDENCE.synonym) }
    : undefined;
}

function similar(words: string): Recognised | undefined {
  let best: Recognised | undefined;
  let isTie = false;
  for (const [candidate, { field }] of KNOWN) {
    const confidence = likeness(words, candidate);
    if (confidence < LEAST_LIKENESS || (best && confidence < best.confidence)) continue;
    isTie = best !== undefined && best.field !== field && confidence === best.confidence;
    best = { field, how: 'fuzzy', confidence: Math.round(confidence * 100) / 100 };
  }
  return isTie ? undefined : best;
}

/** The words before or after the part. */
function without(part: string, words: string): string | undefined {
  if (words.startsWith(part) && words[part.length] === ' ') return words.slice(part.length + 1);
  const end = words.length - part.length - 1;
  return words.endsWith(part) && words[end] === ' ' ? words.slice(0, end) : undefined;
}

/** At most one letter in seven may differ: "customer note" is not a customer number, and "sender" is not a gender. */
const LEAST_LIKENESS = 0.85;
const LEAST_LETTERS = 5;
const SHORT_WORD = 3;
export const CONFIDENCE = { exact: 1, synonym: 0.95, vague: 0.9, company: 0.85 };
const CUSTOMER_NAMES = [
  [CUSTOMER_PARTS, CONFIDENCE.synonym],
  [PERSON_PARTS, CONFIDENCE.vague],
  [COMPANY_PARTS, CONFIDENCE.company],
] as const;
const NUMBERED = [
  [ORDER_NOUNS, CONFIDENCE.synonym],
  [BILL_NOUNS, CONFIDENCE.vague],
] as const;
/** "Nr." alone does not say whose number it is. */
export const NUMBER_WORDS: ReadonlySet<string> = new Set(
  names('nr, no, num, n, nummer, number, numero, numer, numarasi, id'),
);

const LABEL_WORDS: ReadonlySet<string> = new Set(['ref', 'reference', 'referencia', 'code', 'codigo', 'kod']);

/** `Bestellnr.`, `Fakturanummer`, `orderid` and `ORDERNUMBER` */
const NUMBER_END = /(?<=\p{L}{3})(?:nr|nummer|no|number|id)$/u;

/** `Total (ARS)`, `金额(元)` and `Сумма, руб.` */
function withoutCurrency(name: string): string {
  return name.replace(/[(（,]\s*([^()（）,]+?)\s*[)）]?$/, (behind, inside: string) =>
    isCurrency(inside) ? '' : behind,
  );
}

const KNOWN: ReadonlyMap<string, Recognised> = new Map([
  ...FIELDS.flatMap((field) =>
    (VAGUE_NAMES[field] ?? []).map((words, place): [string, Recognised] => [
      words,
      { field, how: 'synonym', confidence: CONFIDENCE.vague - (place + 1) / 1_000 },
    ]),
  ),
  ...FIELDS.flatMap((field) =>
    SYNONYMS[field].map((words): [string, Recognised] => [
      words,
      { field, how: 'synonym', confidence: CONFIDENCE.synonym },
    ]),
  ),
  ...FIELDS.map((field): [string, Recognised] => [
    plainWords(field),
    { field, how: 'exact', confidence: CONFIDENCE.exact },
  ]),
]);

/** The share of letters that are equal; 0 if the words are too short or differ too much in length. */
function likeness(one: string, other: string): number {
  const longest = Math.max(one.length, other.length);
  if (Math.min(one.length, other.length) < LEAST_LETTERS) return 0;
  if (Math.abs(one.length - other.length) > longest * (1 - LEAST_LIKENESS)) return 0;
  if (shortWords(one) !== shortWords(other)) return 0;
  return 1 - editDistance(one, other) / longest;
}

/** They have no misspelling: "customer po" is no "customer no", and "amount 2" is no "amount". */
function shortWords(words: string): string {
  return words
    .split(' ')
    .map((word) => (word.length <= SHORT_WORD ? word : word.replace(/\D/g, '')))
    .filter(Boolean)
    .join(' ');
}
