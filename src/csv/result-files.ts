/**
 * Writes a load's results as CSVs: one with every line of the file in its order, and one per verdict. They have the
 * encoding, byte order mark, delimiter, quotes and line ends of the source.
 *
 * The added columns come first, so the cells of a row with too few or too many cells keep their order. The files may be
 * corrected and loaded again without other changes: `addedColumnsOf` knows them by their header, and the guard against
 * formulas is undone. Each file appears whole or not at all, and only its owner may read it: it is written under an
 * unused name, synced and renamed. A link with the name of a file is replaced, not followed.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { codeOf, LockstepError } from '../base/errors.ts';
import { makeDirectory } from '../base/make-directory.ts';
import { type Folder, openFolder, reasonOf } from '../base/open-folder.ts';
import { type Encoding, encodeText } from './encoding.ts';
import { guarded } from './formulas.ts';

/** `results` has every line, and the others have those of a verdict. */
export const RESULT_KINDS = [
  'results',
  'created',
  'updated',
  'existing',
  'invalid',
  'rejected',
  'review',
  'unknown',
  'unprocessed',
] as const;
export type ResultKind = (typeof RESULT_KINDS)[number];

/** `lockstep_id`: the order at the service. `lockstep_order_id`: its label, also where the file gives none. */
const ADDED = [
  ...['lockstep_line', 'lockstep_verdict', 'lockstep_reason', 'lockstep_detail'],
  ...['lockstep_id', 'lockstep_order_id'],
] as const;
const NAMES: ReadonlySet<string> = new Set(ADDED);
/** An order without an `order_id` keeps its identity in this column. */
export const LABEL_COLUMN = 'lockstep_order_id' satisfies (typeof ADDED)[number];

export interface ResultRow {
  readonly line: number;
  readonly verdict: string;
  /** The code of the reason. */
  readonly reason: string;
  readonly detail: string;
  /** The service's id. */
  readonly id?: string;
  readonly orderId?: string;
  /** The cells as they were read. */
  readonly cells: readonly string[];
}

export interface ResultForm {
  /** The directory; created if it is missing. */
  readonly dir: string;
  /** The same directory if it is already open; the caller closes it. */
  readonly folder?: Folder;
  /** The files are `<base>.<kind>.csv`. */
  readonly base: string;
  /** The rows above the header; written to `results` only. */
  readonly title: readonly (readonly string[])[];
  /** The original header. */
  readonly columns: readonly string[];
  /** As in the original, so the same options can read the results. */
  readonly delimiter: string;
  readonly quote: string;
  readonly lineEnd: 'LF' | 'CRLF' | 'CR';
  readonly encoding: Encoding;
  readonly withBom: boolean;
  /** Default: `fs.open`. Tests pass their own. */
  readonly open?: (file: string) => Promise<fs.FileHandle>;
}

export interface WrittenResult {
  readonly path: string;
  readonly rows: number;
}

/** Where a header has columns that Lockstep added, in any order: a person may move or delete columns. None in any other file. */
export function addedColumnsOf(header: readonly string[]): readonly number[] {
  return header.flatMap((cell, index) => (NAMES.has(cell.trim()) ? [index] : []));
}

/** All its methods throw DISK_FULL or RESULTS_NOT_WRITTEN; after that, `abort`. */
export class ResultFiles {
  readonly #form: ResultForm;
  readonly #files = new Map<ResultKind, OpenFile>();
  #folder: Folder | undefined;

  constructor(form: ResultForm) {
    this.#form = form;
  }

  /** To the file with every line, and to the file of the kind. */
  async write(kind: Exclude<ResultKind, 'results'>, row: ResultRow): Promise<void> {
    const { line, verdict, reason, detail, id = '', orderId = '', cells } = row;
    const text = this.#line([String(line), verdict, reason, detail, id, orderId, ...cells]);
    for (const one of ['results', kind] as const) {
      const file = this.#files.get(one) ?? (await this.#guard(() => this.#begin(one)));
      file.pending += text;
      file.rows += 1;
      if (file.pending.length >= BUFFER_CHARS) await this.#guard(() => this.#flush(file));
    }
  }

  /** Gives the files their final names. A kind without rows has no file, and an earlier file of that name is deleted. */
  async close(): Promise<ReadonlyMap<ResultKind, WrittenResult>> {
    return this.#guard(async () => {
      for (const file of this.#files.values()) {
        await this.#flush(file);
        await file.handle.sync();
        await file.handle.close();
      }
      const folder = await this.#open();
      const written = new Map<ResultKind, WrittenResult>();
      for (const kind of RESULT_KINDS) {
        const [file, name] = [this.#files.get(kind), this.#name(kind)];
        if (file) await fs.rename(folder.at(file.aside), folder.at(name));
        else await fs.rm(folder.at(name), { force: true });
        if (file) written.set(kind, { path: path.join(folder.path, name), rows: file.rows });
      }
      this.#files.clear();
      await this.#closeFolder();
      return written;
    });
  }

  /** Closes everything, and deletes what was written as far as that is possible: the caller reports why it gave up. */
  async abort(): Promise<void> {
    for (const { handle, aside } of this.#files.values()) {
      await handle.close().catch(() => {}); // already closed, or failing for the same reason
      const removed = this.#open().then((folder) => fs.rm(folder.at(aside), { force: true }));
      await removed.catch(() => {});
    }
    this.#files.clear();
    await this.#closeFolder();
  }

  async #begin(kind: ResultKind): Promise<OpenFile> {
    const { title, columns, withBom, open = (file: string) => fs.open(file, 'wx', 0o600) } = this.#form;
    const folder = await this.#open();
    const aside = `.lockstep-${kind}-${randomUUID()}`;
    const above = kind === 'results' ? title.map((row) => this.#line(row)) : [];
    const header = [...above, this.#line([...ADDED, ...columns])].join('');
    const handle = await open(folder.at(aside));
    const file = { handle, aside, pending: withBom ? `\ufeff${header}` : header, rows: 0 };
    this.#files.set(kind, file);
    return file;
  }

  async #open(): Promise<Folder> {
    const { dir, folder } = this.#form;
    if (folder) return folder;
    if (!this.#folder) await makeDirectory(dir, { mode: 0o700 });
    this.#folder ??= await openFolder(dir);
    return this.#folder;
  }

  async #closeFolder(): Promise<void> {
    const folder = this.#folder;
    this.#folder = undefined;
    await folder?.close();
  }

  #name(kind: ResultKind): string {
    return `${this.#form.base}.${kind}.csv`;
  }

  #line(cells: readonly string[]): string {
    const { delimiter, quote, lineEnd } = this.#form;
    return cells.map((cell) => quoted(guarded(cell), delimiter, quote)).join(delimiter) + LINE_ENDS[lineEnd];
  }

  async #flush(file: OpenFile): Promise<void> {
    const bytes = encodeText(file.pending, this.#form.encoding);
    file.pending = '';
    await file.handle.appendFile(bytes);
  }

  async #guard<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      const { dir } = this.#form;
      const isFull = codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT';
      const what = isFull ? `There is no space left in ${dir} for the results` : `Cannot write the results to ${dir}`;
      const remedy = isFull
        ? 'Free some space'
        : 'Check the directory and its permissions, or name another with --results';
      const message = `${what}: ${reasonOf(error)}. The ledger still has all results. ${remedy}, then run the same command again; a watched folder tries again by itself.`;
      throw new LockstepError(isFull ? 'DISK_FULL' : 'RESULTS_NOT_WRITTEN', message, { cause: error });
    }
  }
}

interface OpenFile {
  readonly handle: fs.FileHandle;
  /** Its name until it is complete. */
  readonly aside: string;
  pending: string;
  rows: number;
}

const BUFFER_CHARS = 64 * 1024;
const LINE_ENDS = { LF: '\n', CRLF: '\r\n', CR: '\r' } as const;
const TO_QUOTE = /["\r\n]|^[\s']|[,;\t|]'|\s$/;

/**
 * The apostrophe is quoted too, so it cannot be read as the file's quote. If it is the file's quote, every cell is quoted, so
 * that the file is recognised again.
 */
function quoted(cell: string, delimiter: string, quote: string): string {
  const isToQuote = quote !== '"' || TO_QUOTE.test(cell) || cell.includes(delimiter);
  return isToQuote ? `${quote}${cell.replaceAll(quote, quote + quote)}${quote}` : cell;
}
