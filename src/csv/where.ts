/** Which orders of a file are loaded: conditions on its columns, from `--where` or from the `where` of a preset. */
import { type Condition, testOf } from '../base/condition.ts';
import { columnIndex, type Header, refuseDuplicates } from './column-names.ts';
import { cellOf } from './combine.ts';
import type { Where } from './presets.ts';
import type { CheckedRow } from './validate.ts';

export interface ColumnCondition {
  /** From 0. */
  readonly index: number;
  readonly name: string;
  readonly condition: Condition;
}

/** `by`: what names the columns. Throws CSV_UNKNOWN_COLUMN or CSV_DUPLICATE_HEADER. */
export function conditionsOn(header: Header, where: Where, by: string): readonly ColumnCondition[] {
  if (header.isGiven) refuseDuplicates(header, (name) => where.has(name));
  return [...where].map(([column, condition]) => {
    const index = columnIndex(header, `${by} ${column}`, column);
    return { index, name: header.names[index] ?? '', condition };
  });
}

/** Whether all conditions hold for an order. A row that cannot be read is loaded, so that its problem is reported. */
export function selectorOf(conditions: readonly ColumnCondition[]): (row: CheckedRow) => boolean {
  const tests = conditions.map(({ index, condition }) => ({ index, holds: testOf(condition) }));
  return (row) => isUnreadable(row) || tests.every(({ index, holds }) => holds(cellOf(row, index)));
}

function isUnreadable({ status, values }: CheckedRow): boolean {
  return status === 'invalid' && Object.keys(values).length === 0;
}
