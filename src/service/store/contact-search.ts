/**
 * The text by which a contact is found: the contract's four fields, folded when they are written, so that a search does
 * not depend on the database's locale (the embedded database knows only ASCII letters and words).
 */
import type { Filter } from './lists.ts';

const SEARCHED = ['first_name', 'last_name', 'email', 'phone'] as const;

/**
 * This many characters of a term are looked up in the index. Each further character takes longer and seldom excludes
 * more. Digits, such as in phone numbers, exclude more than letters.
 */
const LETTERS = 12;
const DIGITS = 7;

/**
 * In lower case and composed form (é as one character), so that a search ignores both; accents are kept. Each non-ASCII
 * character becomes X and its code point in six letters A to P, which is ASCII and matches nothing else.
 */
function fold(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^ -~]/gu, asLetters);
}

function asLetters(character: string): string {
  const digits = (character.codePointAt(0) ?? 0).toString(16).padStart(6, '0');
  return `X${digits.replace(/./g, (digit) => 'ABCDEFGHIJKLMNOP'.charAt(Number.parseInt(digit, 16)))}`;
}

/** The searched fields among `fields`, folded; a null (no phone) stays null. */
export function foldedContact(fields: Readonly<Record<string, unknown>>): Record<string, string | null> {
  const folded: Record<string, string | null> = {};
  for (const name of SEARCHED) {
    const value = fields[name];
    if (typeof value === 'string') folded[name] = fold(value);
    else if (value === null) folded[name] = null;
  }
  return folded;
}

/** Contacts with `term` in a field, or in first and last name together. The index returns candidates, which are then compared. */
export function containing(term: string): Filter {
  const folded = fold(term);
  const at = folded.indexOf('@'); // many addresses share the part after it
  const telling = at === -1 ? folded : folded.slice(0, Math.max(at, LETTERS));
  const tail = telling.slice(-DIGITS);
  const lookedUp = /\d/.test(tail) ? tail : telling.slice(-LETTERS);
  return {
    sql: (pattern, whole) => `r.searched like ${pattern} and strpos(r.searched, ${whole}) > 0`,
    values: [`%${lookedUp.replace(/[\\%_]/g, '\\$&')}%`, folded],
  };
}
