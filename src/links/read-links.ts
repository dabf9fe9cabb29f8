/** The rows of a CSV as links, each checked by itself: which task, and which item of the target. */
import type { TextRow } from '../csv/read.ts';
import type { CellCode } from '../reasons/cells.ts';
import type { LinkCode } from '../reasons/links.ts';
import type { Facts } from '../reasons/reason.ts';
import type { LinkColumn, LinkColumns } from './columns.ts';
import { type ItemNaming, itemIdIn } from './item-ids.ts';
import { type Source, sourceIdOf } from './item-links.ts';

export type LinkRow =
  | { readonly status: 'good'; readonly line: number; readonly source: string; readonly itemId: string }
  | { readonly status: 'bad'; readonly line: number; readonly code: CellCode | LinkCode; readonly facts: Facts };

export interface LinkReader {
  readonly width: number;
  readonly columns: LinkColumns;
  readonly naming: ItemNaming;
}

export const SOURCE_WORDS = '12, task:12, subtask:12 or card:7';

const KINDS: readonly string[] = ['task', 'subtask', 'card'] satisfies Source['kind'][];
const MAX_CHARS = 255;
/** Nothing that a task's id could hold and nobody would see. */
const UNSEEN = /[\p{C}\p{Z}]/u;

/** `task:12` of `12`, `task:12`, `subtask:12` and `card:7`; undefined where it names no task. */
export function parseSource(text: string): string | undefined {
  const [, kind, id] = /^(?:([a-z]+):)?(.+)$/i.exec(text) ?? [];
  if (id === undefined || id.length > MAX_CHARS || UNSEEN.test(id)) return undefined;
  if (kind === undefined) return id.includes(':') ? undefined : sourceIdOf({ kind: 'task', id });
  return KINDS.includes(kind.toLowerCase()) ? `${kind.toLowerCase()}:${id}` : undefined;
}

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
