/** The lines of a load that were not accepted, and a new file made of them with corrected cells. The loaded file stays as it is. */
import path from 'node:path';
import type pg from 'pg';
import { LockstepError } from '../base/errors.ts';
import { PLAIN_HINTS, sentenceFor } from '../base/reasons/reasons.ts';
import { resultsBase } from '../csv/file-names.ts';
import { firstRefused, type RefusedOrder, refusedOrders } from '../engine/ledger/matching/refused-orders.ts';
import { type Load, readLoad } from '../syncs/orders/begin.ts';

export interface BadLine {
  readonly line: number;
  readonly cells: readonly string[];
  /** Why it was not accepted, for people. */
  readonly why: string;
  /** The column of the cell that is wrong, from 0; undefined if it is not one cell of this line. */
  readonly column: number | undefined;
}

/** Replaces a text in all cells of a column; an empty `find` fills the empty cells. */
export interface Replacement {
  /** From 0. */
  readonly column: number;
  readonly find: string;
  readonly put: string;
}

export interface Fixes {
  /** Corrected cells, by line and column (from 0). */
  readonly cells: ReadonlyMap<string, string>;
  readonly replacement: Replacement | undefined;
}

export const cellKey = (line: number, column: number): string => `cell.${line}.${column}`;

/** @throws LockstepError RUN_IS_NO_LOAD */
export async function badFile(
  pool: pg.Pool,
  run: string,
): Promise<{ readonly name: string; readonly columns: readonly string[]; readonly load: Load }> {
  const load = await readLoad(pool, run);
  if (!load) throw new LockstepError('RUN_IS_NO_LOAD', `Run ${run} is not a load of a file.`, { exitCode: 2 });
  return { name: `${resultsBase(path.basename(load.fileName))}.corrected.csv`, columns: load.header, load };
}

export interface BadOrders {
  /** Their lines: an order may have several. */
  readonly lines: readonly BadLine[];
  /** The orders of `lines`, and of all lines. */
  readonly shown: number;
  readonly count: number;
}

/** The first orders that were never applied, in the order of the file. */
export async function badOrders(pool: pg.Pool, run: string, limit: number): Promise<BadOrders> {
  const { orders, count } = await firstRefused(pool, run, limit);
  return { lines: orders.flatMap(badLines), shown: orders.length, count };
}

function badLines({ lines, reason, facts }: RefusedOrder): readonly BadLine[] {
  const why = sentenceFor(reason, facts, PLAIN_HINTS);
  const { line: wrong, columnNumber } = facts ?? {};
  return lines.map(({ line, cells }) => {
    const column = line === wrong && typeof columnNumber === 'number' ? columnNumber - 1 : undefined;
    return { line, cells, why, column };
  });
}

/** The new file, in UTF-8 with commas: the header, and all lines that were not accepted. */
export async function* fixedFile(pool: pg.Pool, run: string, fixes: Fixes): AsyncGenerator<Uint8Array> {
  const { columns } = await badFile(pool, run);
  yield Buffer.from(csv(columns));
  for await (const order of refusedOrders(pool, run))
    for (const bad of badLines(order)) yield Buffer.from(csv(fixed(bad, fixes)));
}

function fixed({ line, cells }: BadLine, { cells: corrected, replacement }: Fixes): readonly string[] {
  return cells.map((cell, column) => {
    const own = corrected.get(cellKey(line, column));
    if (own !== undefined && own !== cell) return own;
    if (replacement?.column !== column) return cell;
    const { find, put } = replacement;
    if (find === '') return cell.trim() === '' ? put : cell;
    return cell.replaceAll(find, () => put);
  });
}

/** Every cell is kept as it is: a file that is loaded needs no guard against formulas. */
function csv(cells: readonly string[]): string {
  return `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\r\n`;
}
