/** The rows of a CSV as links, each checked by itself: which task, and which item of the target. */
import type { CellCode } from '../../base/reasons/cells.ts';
import type { LinkCode } from '../../base/reasons/links.ts';
import type { Facts } from '../../base/reasons/reason.ts';
import { TASK_KINDS } from '../../contract/target.ts';
import type { TextRow } from '../../csv/read.ts';
import type { ItemNaming } from '../targets/items/item-naming.ts';
import { sourceIdOf } from './item-links.ts';
import type { LinkColumn, LinkColumns } from './link-columns.ts';

export type LinkRow =
  | { readonly status: 'good'; readonly line: number; readonly source: string; readonly itemId: string }
  | { readonly status: 'bad'; readonly line: number; readonly code: CellCode | LinkCode; readonly facts: Facts };

export interface LinkReader {
  readonly width: number;
  readonly columns: LinkColumns;
  readonly naming: ItemNaming;
}

export const SOURCE_WORDS = '12, task:12, subtask:12 or card:7';

const MAX_CHARS = 255;
/** Invisible characters, which no task's id contains. */
const UNSEEN = /[\p{C}\p{Z}]/u;

/** `task:12` from `12` or `task:12`, and also `subtask:12` and `card:7`; undefined if the text does not name a task. */
export function parseSource(text: string): string | undefined {
  const [, kind, id] = /^(?:([a-z]+):)?(.+)$/i.exec(text) ?? [];
  if (id === undefined || id.length > MAX_CHARS || UNSEEN.test(id)) return undefined;
  if (kind === undefined) return id.includes(':') ? undefined : sourceIdOf({ kind: 'task', id });
  const known = TASK_KINDS.find((one) => one === kind.toLowerCase());
  return known && sourceIdOf({ kind: known, id });
}

/** A row of a CSV as a link, checked alone: which task, and which item of the target. */
export function readLink(row: TextRow, { width, columns, naming }: LinkReader): LinkRow {
  const { line, cells, fault } = row;
  const bad = (code: CellCode | LinkCode, facts: Facts): LinkRow => ({
    status: 'bad',
    line,
    code,
    facts: { line, ...facts },
  });
  if (fault) return bad(fault.code, fault.facts);
  if (cells.length < width || cells.slice(width).some((cell) => cell.trim() !== '')) {
    return bad('RAGGED', { cells: cells.length, header: width });
  }
  const of = ({ index, name }: LinkColumn) => ({ cell: (cells[index] ?? '').trim(), name });
  const task = of(columns.task_id);
  const item = of(columns.item_id);
  if (task.cell === '') return bad('TASK_EMPTY', { column: task.name });
  if (item.cell === '') return bad('ITEM_EMPTY', { column: item.name });
  if (/^\d[.,]\d+E\+\d+$/i.test(task.cell)) return bad('TASK_CUT_SHORT', { cell: task.cell });
  const source = parseSource(task.cell);
  if (source === undefined) return bad('TASK_INVALID', { cell: task.cell });
  const itemId = itemIdIn(item.cell, naming);
  if (itemId !== undefined) return { status: 'good', line, source, itemId };
  return bad('ITEM_INVALID', { cell: item.cell, example: naming.example });
}

/** The one item that the cell names, by the target's own naming; undefined if it names no item, or contains anything else. */
export function itemIdIn(cell: string, { itemsIn, isItemId, sign, prefix }: ItemNaming): string | undefined {
  const isAddress = /^https?:\/\/\S+$/i.test(cell);
  const bare = cell.replace(new RegExp(`^${sign}:\\s*`), '');
  // The settings' own repository may be left out: #12, or only 12.
  const isAllOf = (itemId: string) =>
    itemId.toLowerCase() === bare.toLowerCase() || itemId.endsWith(`#${bare.replace(/^#/, '')}`);
  const [itemId, ...others] = isAddress ? itemsIn(cell) : itemsIn(`${prefix}${bare}`).filter(isAllOf);
  return others.length === 0 && itemId !== undefined && isItemId(itemId) ? itemId : undefined;
}
