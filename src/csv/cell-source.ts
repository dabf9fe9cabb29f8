/** Where a row has the value of a field: in one cell, in several that are joined, or in a part of a cell. */
import type { Field } from './fields.ts';
import type { Fits } from './fits.ts';

export interface CellSource {
  /** From 0. */
  readonly index: number;
  /** More cells, appended with a space between them. */
  readonly also?: readonly number[];
  /** The part of a cell such as `Ann Lee (ann@example.com)`. */
  readonly take?: 'email' | 'name';
  /** Where the cell is if the amount in column `amount` is negative: who pays a refund is not the customer. */
  readonly ifNegative?: { readonly amount: number; readonly index: number };
}

/** The value, without spaces around it; empty where the row has none. */
export function cellFrom(cells: readonly string[], { index, also, take, ifNegative }: CellSource): string {
  const isElsewhere = ifNegative !== undefined && NEGATIVE.test(cells[ifNegative.amount] ?? '');
  const cell = trimmed(cells[isElsewhere ? ifNegative.index : index] ?? '');
  if (also) return [cell, ...also.map((one) => trimmed(cells[one] ?? ''))].filter((part) => part !== '').join(' ');
  return take === undefined ? cell : partOf(cell, take);
}

/** All columns that it reads. */
export function indexesOf({ index, also = [], ifNegative }: CellSource): readonly number[] {
  return [index, ...also, ...(ifNegative ? [ifNegative.index] : [])];
}

export function isSameSource(one: CellSource, other: CellSource): boolean {
  return one.take === other.take && String(indexesOf(one)) === String(indexesOf(other));
}

const NEGATIVE = /^\D*[-−(]/;

const NAME_AND_EMAIL = /^([^@]*?)\s*[(<]([^\s()<>@]+@[^\s()<>@]+)[)>]$/;

/** A cell with several addresses is returned whole as an e-mail, and then refused: which one is meant is not clear. */
function partOf(cell: string, take: 'email' | 'name'): string {
  const [, name = '', email = ''] = NAME_AND_EMAIL.exec(cell) ?? [];
  if (email !== '') return take === 'email' ? email : name;
  return cell.includes('@') === (take === 'email') ? cell : '';
}

/** Without spaces around it. Most cells have none and are not copied. */
function trimmed(cell: string): string {
  const { length } = cell;
  if (length === 0) return cell;
  const isTrimmed = isVisible(cell.charCodeAt(0)) && isVisible(cell.charCodeAt(length - 1));
  const text = isTrimmed ? cell : cell.trim();
  if (text.startsWith('="')) return withoutFormula(text);
  return NULLS.test(text) ? '' : text;
}

/** What databases and people write where there is no value. */
const NULLS = /^(?:\\N|NULL|null|\(null\)|<null>|\[NULL\]|[-–—]+|[?.]+|n\/a|N\/A|n\.a\.)$/;

/** `="00123"` is how a program makes a spreadsheet show a text as it is. */
function withoutFormula(text: string): string {
  const [, inside] = /^="((?:[^"]|"")*)"$/.exec(text) ?? [];
  return inside === undefined ? text : inside.replaceAll('""', '"').trim();
}

const isVisible = (code: number) => code > 0x20 && code < 0x7f;

/** A column that fills a field. */
export interface MappedColumn extends CellSource {
  readonly field: Field;
  readonly name: string;
  readonly how: 'told' | 'remembered' | 'preset' | 'exact' | 'synonym' | 'content' | 'fuzzy' | 'shared';
  /** Of the name, from 0 to 1. */
  readonly confidence: number;
  /** Of the cells that were looked at. */
  readonly fits: Fits;
}
