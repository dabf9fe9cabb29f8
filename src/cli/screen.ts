/**
 * What reaches a screen or a log, cleaned in one place: file names, records and answers of other systems may hold
 * characters that a terminal obeys, such as the escape sequences that move its cursor, rename it or type into it.
 */

import { printable } from '../visible.ts';

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
