/** Text of others in our messages, names and logs: what a terminal would obey, or show as nothing, is shown escaped. */

/** Control characters, line separators, and the marks that reverse the direction of text. */
const UNSEEN = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
/** The same without tabs and line ends. */
const OBEYED = /\r(?!\n)|(?![\t\r\n])[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Lines of text. Such characters are written as in JSON, so that JSON stays the same JSON. */
export function printable(text: string): string {
  return text.replace(OBEYED, escaped);
}

/** One line of text, such as a message. */
export function visible(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** A file's name, of the same letters in any place. */
export function visibleName(name: string): string {
  return name.replace(UNSEEN, encodeURIComponent);
}

function escaped(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
