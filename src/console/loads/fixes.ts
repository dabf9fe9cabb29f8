/**
 * The lines of a load that were not accepted, and a new file made of them with corrected cells. Before a load is approved, the new
 * file also has all other lines that are not written. The loaded file stays as it is.
 */
import path from 'node:path';
import type pg from 'pg';
import { wrongUse } from '../../base/errors.ts';
import { causesOf, PLAIN_HINTS, remedyFor, statementFor } from '../../base/reasons/reasons.ts';
import { resultsBase } from '../../csv/file-names.ts';
import { guarded } from '../../csv/formulas.ts';
import { LABEL_COLUMN } from '../../csv/result-files.ts';
import { awaitsApproval, NOT_APPROVED } from '../../engine/ledger/approval.ts';
import { firstRefused, type RefusedOrder, unappliedOrders } from '../../engine/ledger/matching/refused-orders.ts';
import { isUnfinished, type Run, readRun } from '../../engine/ledger/runs.ts';
import { type Load, loadOf } from '../../syncs/orders/begin-load.ts';
import { readAs } from '../../syncs/orders/remembered-columns.ts';
import { columnsToShow } from './shown-columns.ts';

export interface BadLine {
  readonly line: number;
  readonly cells: readonly string[];
  /** Everything why it was not accepted. */
  readonly problems: readonly LineProblem[];
  readonly reason: string | null;
  /** The order_id of its order, or the one that Lockstep gave it. */
  readonly label: string;
  /** The columns of the cells of this line that are wrong, from 0; empty if it is not single cells. */
  readonly wrong: readonly number[];
}

/** For people. */
export interface LineProblem {
  readonly why: string;
  readonly remedy: string | undefined;
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

/** Longer cells are shown and not edited. */
const LONGEST_CELL = 300;

/** The columns (from 0) that the page shows. */
export function shownColumns(load: Load): readonly number[] {
  return columnsToShow(Object.values(readAs(load).columns).map((name) => load.header.indexOf(name)));
}

/** Whether a field of a form can hold its text. */
export function isEditable(cell: string): boolean {
  return cell.length <= LONGEST_CELL && !/[\r\n]/.test(cell);
}

export const cellKey = (line: number, column: number): string => `cell.${line}.${column}`;

/** Whether no more lines of it are refused, so that a new file has all that are. */
export function isCorrectable(run: Pick<Run, 'status' | 'errorCode'>): boolean {
  return awaitsApproval(run) || !isUnfinished(run);
}

/** Whether nothing more of it is written, so that the new file has its other lines too. */
export function isPlanDropped(run: Pick<Run, 'status' | 'errorCode'>): boolean {
  return awaitsApproval(run) || run.errorCode === NOT_APPROVED;
}

/** @throws LockstepError RUN_IS_NO_LOAD, LOAD_NOT_ENDED */
export async function badFile(
  pool: pg.Pool,
  run: string,
): Promise<{ readonly name: string; readonly columns: readonly string[]; readonly load: Load }> {
  const load = await loadOf(pool, run);
  if (!isCorrectable(await readRun(pool, run))) {
    const message = `Load ${run} has not ended, and more of its lines may be refused. Correct them all once it has ended.`;
    throw wrongUse(message, 'LOAD_NOT_ENDED');
  }
  return { name: `${resultsBase(path.basename(load.fileName))}.corrected.csv`, columns: load.header, load };
}

export interface BadOrders {
  /** Their lines: an order may have several. */
  readonly lines: readonly BadLine[];
  /** The orders of `lines`, and of all lines. */
  readonly shown: number;
  readonly count: number;
  /** The row at which the next orders begin; undefined after the last. */
  readonly nextFrom: number | undefined;
}

/** The first orders that were never applied from row `from` on, in the order of the file. */
export async function badOrders(
  pool: pg.Pool,
  run: string,
  { limit, from }: { readonly limit: number; readonly from: number },
): Promise<BadOrders> {
  const { orders: found, count } = await firstRefused(pool, run, { limit: limit + 1, from });
  const orders = found.slice(0, limit);
  return { lines: orders.flatMap(badLines), shown: orders.length, count, nextFrom: found[limit]?.n };
}

function badLines({ lines, label, reason, facts }: RefusedOrder): readonly BadLine[] {
  const causes = causesOf(reason, facts);
  const problems = causes.map((cause) => ({
    why: statementFor(cause.reason, cause.facts, PLAIN_HINTS),
    remedy: remedyFor(cause.reason, cause.facts, PLAIN_HINTS),
  }));
  return lines.map(({ line, cells }) => {
    const wrong = causes.flatMap(({ facts: { line: at, columnNumber } }) =>
      at === line && typeof columnNumber === 'number' ? [columnNumber - 1] : [],
    );
    return { line, cells, label: label ?? '', problems, reason, wrong };
  });
}

/**
 * The new file, in UTF-8 with commas: the header, and all lines that were not accepted, or not written, without those whose cells were all emptied. It is read as a file of
 * results: each order keeps its identity, so an order is created once however often it is corrected.
 */
export async function* fixedFile(pool: pg.Pool, run: string, fixes: Fixes): AsyncGenerator<Uint8Array> {
  const { columns, load } = await badFile(pool, run);
  const shown = shownColumns(load);
  yield Buffer.from(csv([LABEL_COLUMN, ...columns]));
  const which = isPlanDropped(await readRun(pool, run)) ? 'unwritten' : 'refused';
  for await (const order of unappliedOrders(pool, run, which))
    for (const bad of badLines(order))
      if (!isEmptied(bad, fixes, shown)) yield Buffer.from(csv([bad.label, ...fixed(bad, fixes, shown)]));
}

/** Cells that cannot be edited stay as they are, and do not keep a line. */
function isEmptied(line: BadLine, { cells }: Fixes, shown: readonly number[]): boolean {
  const after = fixed(line, { cells, replacement: undefined }, shown);
  const editable = shown.filter((column) => isEditable(line.cells[column] ?? ''));
  const isFilled = (all: readonly string[]) => editable.some((column) => (all[column] ?? '').trim() !== '');
  return isFilled(line.cells) && !isFilled(after);
}

/** A line that lacks cells gets those that are filled in, and the ones before them. */
function fixed(
  { line, cells }: BadLine,
  { cells: corrected, replacement }: Fixes,
  shown: readonly number[],
): readonly string[] {
  let width = (shown.at(-1) ?? 0) + 1;
  while (width > cells.length && !corrected.get(cellKey(line, width - 1))) width -= 1;
  const all = Array.from({ length: Math.max(width, cells.length) }, (_, column) => cells[column] ?? '');
  return all.map((cell, column) => {
    const own = corrected.get(cellKey(line, column));
    if (own !== undefined && own !== cell) return own;
    if (replacement?.column !== column) return cell;
    const { find, put } = replacement;
    if (find === '') return cell.trim() === '' ? put : cell;
    return cell.replaceAll(find, () => put);
  });
}

function csv(cells: readonly string[]): string {
  return `${cells.map((cell) => `"${guarded(cell).replaceAll('"', '""')}"`).join(',')}\r\n`;
}
