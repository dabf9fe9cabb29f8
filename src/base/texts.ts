/** Texts that come from elsewhere, made fit to be stored and shown. */

/** Text as Postgres can hold it: neither NUL nor half a character. */
export function storable(text: string): string {
  return text.isWellFormed() && !text.includes('\0') ? text : text.replaceAll('\0', '').toWellFormed();
}

/** At most this many UTF-16 units; the last one is an ellipsis if some were left out. No character is cut in half. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** A value as JSON, within a sentence. */
export const shortJson = (value: unknown, most = 60): string => shortened(JSON.stringify(value) ?? '', most);

const MOST_LABEL = 80;

/** The name of a record within a line: a field may have thousands of characters. */
export const shortLabel = (label: string): string => shortened(label, MOST_LABEL);

/** With a full stop, if it ends without one. */
export function ended(sentence: string): string {
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** With its first letter as a capital. */
export function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** E-mails and phones that are shown in part only, such as `a***@example.com`. A regular expression of JavaScript and of Postgres. */
export const MASK = /[*•●]{2}|…/;

const ESCAPES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  '#39': "'",
  '#x27': "'",
};

const ESCAPE = /&(amp|lt|gt|quot|apos|#0*39|#x0*27);/gi;

/**
 * A text that was escaped for HTML, as people read it: `AT&amp;T` is AT&T. A text that was escaped twice stays escaped once, and one with
 * a `<`, a `>` or another `&` was not escaped.
 */
export function unescaped(text: string): string {
  if (!text.includes('&') || /[<>&]/.test(text.replace(ESCAPE, ''))) return text;
  return text.replace(ESCAPE, (whole, name: string) => ESCAPES[name.toLowerCase().replace(/0+/, '')] ?? whole);
}
