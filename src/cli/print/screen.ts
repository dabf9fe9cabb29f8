/**
 * Escapes everything that reaches a screen or a log, in one module: file names, records and answers of other systems may
 * contain characters that a terminal interprets, such as escape sequences that move its cursor or type into it.
 */
import { printable } from '../../base/visible.ts';
import { paint, wantsColour } from './colour.ts';

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

/** `env` says whether colours are wanted; without it there are none. */
export function screenOf(
  stream: TextStream,
  env: Readonly<Record<string, string | undefined>> = { NO_COLOR: '1' },
): Screen {
  const isColour = wantsColour(stream.isTTY === true, env);
  return {
    write: (text, done) => stream.write(paint(printable(text), isColour), done),
    writeRaw: (text, done) => void stream.write(text, done),
    get isTTY() {
      return stream.isTTY;
    },
    get columns() {
      return stream.columns; // changes with the window
    },
  };
}
