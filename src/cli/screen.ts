/**
 * What reaches a screen or a log, cleaned in one place: file names, records and answers of other systems may hold
 * characters that a terminal obeys, such as the escape sequences that move its cursor, rename it or type into it.
 */

/** What is needed of a stream; process.stdout and process.stderr are such. */
export interface TextStream {
  write(text: string, done?: (error?: Error | null) => void): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** A stream that shows control characters instead of sending them. */
export interface Screen extends TextStream {
  /** As it is: for our own control characters, and for content that another program reads. */
  writeRaw(text: string, done?: (error?: Error | null) => void): void;
}

export function screenOf(stream: TextStream): Screen {
  return {
    write: (text, done) => stream.write(printable(text), done),
    writeRaw: (text, done) => void stream.write(text, done),
    get isTTY() {
      return stream.isTTY;
    },
    get columns() {
      return stream.columns; // changes with the window
    },
  };
}

/** Control characters but tabs and line ends, and those that reverse the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OBEYED = /\r(?!\n)|[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g;

/** Written as JSON writes them, so that JSON stays the same JSON. */
export function printable(text: string): string {
  return text.replace(OBEYED, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
