/** Which field a column's name means: the field's own name, a synonym, or a name that resembles one of these. */
import { editDistance } from '../base/edit-distance.ts';
import { FIELDS, type Field, SYNONYMS } from './fields.ts';

export interface Recognised {
  readonly field: Field;
  readonly how: 'exact' | 'synonym' | 'fuzzy';
  readonly confidence: number;
}

/** The field of a header: by its exact name, a synonym, or a similar name of at least five letters. */
export function recognise(name: string): Recognised | undefined {
  const words = plainWords(name);
  const known = KNOWN.get(words);
  if (known) return known;
  const qualified = KNOWN.get(withoutCurrency(words)); // net or gross: not the exact name
  if (qualified) return { ...qualified, how: 'synonym', confidence: CONFIDENCE.synonym };
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

/** At most one letter in seven may differ: "customer note" is not a customer number, and "sender" is not a gender. */
const LEAST_LIKENESS = 0.85;
const LEAST_LETTERS = 5;
const CONFIDENCE = { exact: 1, synonym: 0.95 };

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

/** `amount (EUR)`, `Betrag in €` and `gross amount` are amounts. */
function withoutCurrency(words: string): string {
  return words
    .replace(/\b(in )?(eur|usd|gbp|chf|euro|dollar|gross|net|brutto|netto|ttc|ht|inkl mwst|incl vat)\b/g, '')
    .replace(/ +/g, ' ')
    .replace(/ in$/, '') // of "in €"
    .trim();
}

const KNOWN: ReadonlyMap<string, Recognised> = new Map([
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
  return 1 - editDistance(one, other) / longest;
}
