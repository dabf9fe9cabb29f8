/**
 * Everything the command line writes, and the only file that touches the streams: text for people on stdout, one JSON
 * object as the last line of stdout with --json (and then no text for people), complaints and logs on stderr.
 */
import type { Logger } from 'pino';
import { LockstepError } from '../../base/errors.ts';
import { styled } from './colour.ts';
import type { Screen } from './screen.ts';

/** The error code if the reader of stdout has gone, as in `lockstep runs export … --out - | head`. */
export const OUTPUT_CLOSED = 'OUTPUT_CLOSED';

export interface Output {
  /** Whether the caller asked for JSON. */
  readonly isJson: boolean;
  /** Whether `live` rewrites a line; otherwise it shows nothing. */
  readonly isLive: boolean;
  /** Columns of the terminal; undefined without a terminal. */
  readonly columns: number | undefined;
  /** Rows under their titles, as `table` makes them, to fit the terminal. */
  table(titles: readonly string[], rows: readonly (readonly string[])[], how?: TableOptions): void;
  /** Lines for people; silent with --json. */
  say(...lines: readonly string[]): void;
  /** Replaces the line at the bottom of a terminal; '' removes it. */
  live(line: string): void;
  /** The final object, with --json only. */
  result(value: object): void;
  /** Requested content, such as a CSV; resolves once it is written. @throws LockstepError OUTPUT_CLOSED */
  content(text: string): Promise<void>;
  /** A line on stderr. */
  complain(line: string): void;
  /** From now on, lines for people and complaints are entries of this log: for a process that runs for long. */
  useLog(log: Pick<Logger, 'info' | 'warn'>): void;
}

const CLEAR_LINE = '\r\u001b[2K';
const DEFAULT_COLUMNS = 80;

/**
 * `complete` adds to a command in a text what this process was started with: messages are kept in the ledger, and written by
 * one process for another. Commands are in backticks.
 */
export function createOutput(
  stdout: Screen,
  stderr: Screen,
  {
    isJson,
    complete = (command) => `lockstep ${command}`,
  }: { isJson: boolean; complete?: (command: string) => string },
): Output {
  const completed = (text: string) => text.replace(/`lockstep ([^`]+)`/g, (_, command) => `\`${complete(command)}\``);
  const isLive = stdout.isTTY === true && !isJson;
  let shown = '';
  let log: Pick<Logger, 'info' | 'warn'> | undefined;
  const live = (line: string): void => {
    if (!isLive || line === shown) return;
    shown = line;
    const columns = stdout.columns || DEFAULT_COLUMNS; // some terminals say 0
    stdout.writeRaw(CLEAR_LINE);
    stdout.write(cut(line, columns));
  };
  const columns = stdout.isTTY === true ? stdout.columns || DEFAULT_COLUMNS : undefined; // some terminals say 0
  const say = (...lines: readonly string[]): void => {
    live('');
    if (log) for (const line of lines) log.info(completed(line));
    else if (!isJson) for (const line of lines) stdout.write(`${completed(line)}\n`);
  };
  return {
    isJson,
    isLive,
    columns,
    live,
    say,
    table: (titles, rows, how) => say(...table(titles, rows, { ...how, columns })),
    result(value) {
      if (isJson)
        stdout.write(`${JSON.stringify(value, (_, one) => (typeof one === 'string' ? completed(one) : one))}\n`);
    },
    content(text) {
      live('');
      const write = stdout.isTTY === true ? stdout.write : stdout.writeRaw;
      return new Promise((resolve, reject) => {
        write(text, (error) => (error ? reject(closed(error)) : resolve()));
      });
    },
    complain(line) {
      live('');
      if (log) log.warn(completed(line).replace(/^lockstep: /, ''));
      else stderr.write(`${completed(line)}\n`);
    },
    useLog(chosen) {
      log = chosen;
    },
  };
}

function closed(cause: Error): LockstepError {
  return new LockstepError(OUTPUT_CLOSED, 'The reader of the output has closed it.', { cause });
}

export interface TableOptions {
  /** Columns of numbers, aligned right. */
  readonly right?: readonly number[];
  /** The text if there are no rows. */
  readonly none?: string;
}

/** Rows under their titles, columns aligned. Cells that do not fit into `columns` go to indented lines below. */
export function table(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  {
    right = [],
    none,
    columns = Number.POSITIVE_INFINITY,
  }: TableOptions & { readonly columns?: number | undefined } = {},
): readonly string[] {
  if (rows.length === 0 && none !== undefined) return [none];
  const widths = titles.map((title, column) =>
    Math.max(...[title, ...rows.map((row) => row[column] ?? '')].map(width)),
  );
  const fitting = countFitting(widths, columns);
  const lines = (cells: readonly string[]): readonly string[] => {
    const aligned = cells.slice(0, fitting).map((cell, column) => {
      const gap = ' '.repeat(Math.max(0, (widths[column] ?? 0) - width(cell)));
      return right.includes(column) ? gap + cell : cell + gap;
    });
    const rest = cells.slice(fitting).filter((cell) => cell !== '');
    return [aligned.join('  ').trimEnd(), ...packed(rest, columns)];
  };
  const [head = '', ...more] = lines(titles);
  return [styled('dim', head), ...more.map((line) => styled('dim', line)), ...rows.flatMap(lines)];
}

/** The line, or as much of it as leaves the last column of the terminal free: some terminals break the line there. */
function cut(line: string, columns: number): string {
  if (width(line) < columns) return line;
  let shown = '';
  for (const letter of line) {
    if (width(shown + letter) > columns - 2) break;
    shown += letter;
  }
  return `${shown}…`;
}

/** Indented lines, each with as many cells as fit into `columns`. */
function packed(cells: readonly string[], columns: number): readonly string[] {
  const lines: string[] = [];
  for (const cell of cells) {
    const joined = `${lines.at(-1)}  ${cell}`;
    if (lines.length > 0 && width(joined) <= columns) lines.splice(-1, 1, joined);
    else lines.push(`    ${cell}`);
  }
  return lines;
}

/** How many of the first columns fit side by side; at least one. */
function countFitting(widths: readonly number[], columns: number): number {
  let used = -2;
  const first = widths.findIndex((one) => {
    used += one + 2;
    return used > columns;
  });
  return first === -1 ? widths.length : Math.max(1, first);
}

/** The width of a text in a terminal: East Asian letters take two columns, combining marks none. */
function width(text: string): number {
  let columns = 0;
  for (const letter of text) {
    if (/[\p{M}\ufdd0-\ufdd5]/u.test(letter)) continue; // marks of styled texts, too
    columns += /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/.test(letter) ? 2 : 1;
  }
  return columns;
}
