/**
 * Escapes everything that reaches a screen or a log, in one module: file names, records and answers of other systems may
 * contain characters that a terminal interprets, such as escape sequences that move its cursor or type into it.
 */

import { printable } from '../base/visible.ts';

/** The part of a stream that is needed here; process.stdout and process.stderr have it. */
export interface TextStream {
  write(text: string, done?: (error?: Error | null) => void): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** A stream that shows control characters instead of sending them. */
export interface Screen extends TextStream {
  /** Writes unescaped: for our own control characters, and for content that another program reads. */
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
