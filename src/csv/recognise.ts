/** Which field a column's name means: the field's own name, a synonym, or a name that resembles one of these. */
import { editDistance } from '../base/closest.ts';
import {
  COMPANY_PARTS,
  CUSTOMER_PARTS,
  FIELDS,
  type Field,
  ORDER_PARTS,
  PERSON_PARTS,
  SHARED,
  SYNONYMS,
  VAGUE_NAMES,
} from './fields.ts';

export interface Recognised {
  readonly field: Field;
  readonly how: 'exact' | 'synonym' | 'content' | 'fuzzy';
  readonly confidence: number;
}

/** The field of a header: by its exact name, a synonym, or a similar name of at least five letters. */
export function recognise(name: string): Recognised | undefined {
  const words = plainWords(name.replace(/#\s*$/, ' number')).replace(NUMBER_END, ' nr');
  return named(words) ?? amountIn(words) ?? amountIn(plainWords(name.replace(CODE, ''))) ?? similar(words);
}

function named(words: string): Recognised | undefined {
  return KNOWN.get(words) ?? ofCustomer(words) ?? ofOrder(words);
}

/** `Buyer e-mail` and `telefono del cliente` */
function ofCustomer(words: string): Recognised | undefined {
  for (const [parts, confidence] of CUSTOMER_NAMES) {
    for (const part of parts) {
      const { field } = KNOWN.get(withoutFirst(part, words) ?? withoutLast(part, words) ?? '') ?? {};
      const [reference] = SHARED.find(([, creation]) => creation === field) ?? [];
      if (reference) return { field: reference, how: 'synonym', confidence };
    }
  }
  return undefined;
}

/** `Order total`, `Deal - Stage` and `Invoice No.` */
function ofOrder(words: string): Recognised | undefined {
  for (const part of ORDER_PARTS) {
    const rest = withoutFirst(part, words);
    if (rest === undefined) continue;
    // An invoice has a number for people, and may have an id for programs too.
    if (NUMBER_WORDS.has(rest))
      return { field: 'order_id', how: 'synonym', confidence: CONFIDENCE.vague - (rest === 'id' ? 0.0005 : 0) };
    const known = KNOWN.get(rest);
    if (known && ['amount', 'description', 'status'].includes(known.field))
      return { ...known, how: 'synonym', confidence: Math.min(known.confidence, CONFIDENCE.synonym) };
  }
  return undefined;
}

/** `amount (EUR)`, `Betrag in €`, `gross amount` and `Bruttobetrag` are amounts. */
function amountIn(words: string): Recognised | undefined {
  const known = named(
    words
      .replace(
        /\b(in )?(eur|usd|gbp|chf|pln|sek|euro|dollar|gross|net|ttc|ht|inkl mwst|inkl moms|incl vat)\b|\b(brutto|netto)/g,
        '',
      )
      .replace(/ +/g, ' ')
      .replace(/ in$/, '') // of "in €"
      .trim(),
  );
  // Net or gross: not the exact name.
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

function withoutFirst(part: string, words: string): string | undefined {
  return words.startsWith(`${part} `) ? words.slice(part.length + 1) : undefined;
}

function withoutLast(part: string, words: string): string | undefined {
  return words.endsWith(` ${part}`) ? words.slice(0, -part.length - 1) : undefined;
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
/** "Nr." alone does not say whose number it is. */
export const NUMBER_WORDS: ReadonlySet<string> = new Set(['nr', 'no', 'num', 'nummer', 'number', 'numero', 'id']);

/** `Bestellnr.` and `Ordernr` */
const NUMBER_END = /(?<=\p{L}{3})nr$/u;

/** `Total (ARS)` */
const CODE = /\([A-Z]{3}\)/;

/** `KundenName`, `Kunden_name` and `kunden-name ` become the same words; accents and punctuation are ignored. */
export function plainWords(name: string): string {
  return name
    .slice(0, 200)
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
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

/** They have no misspelling: "customer po" is no "customer no". */
function shortWords(words: string): string {
  return words
    .split(' ')
    .filter((word) => word.length <= SHORT_WORD)
    .join(' ');
}
