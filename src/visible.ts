/** Text of others in our messages and names: what a terminal would act on, or show as nothing, is shown escaped. */

/** Control characters, line separators, and the marks that reverse the direction of text. */
const UNSEEN = /[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** One line of text, such as a message. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A file's name, of the same letters in any place. */
export function visibleName(name: string): string {
  return name.replace(UNSEEN, encodeURIComponent);
}
