/** Escapes or removes characters in foreign text that a terminal would interpret or not show, for messages, names and logs. */

/** Control characters, line separators, and the marks that reverse the direction of text. */
const UNSEEN = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
/** The same without tabs and line ends. */
const OBEYED = /\r(?!\n)|(?![\t\r\n])[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** For text of several lines. The characters are escaped as in JSON, so JSON keeps its meaning. */
export function printable(text: string): string {
  return text.replace(OBEYED, escaped);
}

/** For one line of text, such as a message. */
export function visible(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** For a cell or a line of a file on a page: line breaks and tabs are common there, so they get signs that people know. */
export function inOneLine(text: string): string {
  return visible(text.replace(/\r\n|[\r\n]/g, ' ⏎ ').replaceAll('\t', ' → '));
}

/** For a file's name: the result is itself usable as a file name. */
export function visibleName(name: string): string {
  return name.replace(UNSEEN, encodeURIComponent);
}

/** Marks that web pages and phones put around names and numbers; without those that join letters of a script. */
const MARKS = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export function withoutMarks(text: string): string {
  return text.replace(MARKS, '');
}

function escaped(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
