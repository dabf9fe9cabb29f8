/**
 * Validates each row offline: returns its values, or everything that is wrong with it. A bad row does not stop the others.
 *
 * Problems have a stable code. Repeated order_ids are found only when the whole file is staged.
 */
import { type AmountForm, unitsOf } from '../base/amount.ts';
import type { CellCode } from '../base/reasons/cells.ts';
import type { Facts } from '../base/reasons/reason.ts';
import { shortened } from '../base/texts.ts';
import { type CellSource, cellFrom, isSameSource } from './cell-source.ts';
import { type CellProblem, type CellReader, cellReaders } from './cells.ts';
import { namelessColumn } from './column-names.ts';
import type { ColumnMapping } from './columns.ts';
import type { DetectedEncoding } from './encoding.ts';
import { CUSTOMER_REFERENCES, type Field, type OrderValues, type Values } from './fields.ts';
import type { Format } from './format.ts';
import { isLaterHeader } from './header.ts';
import type { TextRow } from './read.ts';
import { isFound, isTotals } from './totals-line.ts';

/** `reasons/cells.ts` lists the codes and their facts. */
export interface Problem {
  readonly code: CellCode;
  readonly severity: 'error' | 'warning';
  readonly field: Field | undefined;
  readonly facts: Facts & { readonly line: number };
}

interface SourceLine {
  /** Where it begins. */
  readonly line: number;
  readonly cells: readonly string[];
}

interface ReadRow extends SourceLine {
  /** All lines of an order that has several, the first one included. */
  readonly lines?: readonly SourceLine[];
  /** Those that could be read. */
  readonly values: OrderValues;
}

export type CheckedRow =
  | (ReadRow & {
      readonly status: 'valid';
      readonly warnings: readonly Problem[];
      readonly isUnended?: boolean | undefined;
    })
  | (ReadRow & {
      readonly status: 'invalid';
      /** The order_id that an earlier load gave to a row whose cells cannot be read. */
      readonly label?: string;
      readonly problems: readonly Problem[];
    });

export interface Rules {
  /** The header, or numbered columns. */
  readonly columns: readonly string[];
  readonly format: Pick<Format, 'delimiter'>;
  readonly mapping: ColumnMapping;
  readonly amounts: AmountForm;
  readonly encoding: Pick<DetectedEncoding, 'isExact'>;
}

export class RowValidator {
  readonly #rules: Rules;
  readonly #columns: readonly Column[];
  readonly #names: ReadonlySet<string>;
  /** The line of a header with other columns, until the first header is repeated. */
  #laterHeader: number | undefined;
  readonly #currencies = new Set<string>();
  /** Of the rows so far; `isNumbered`: each has an order_id; `isDecimal`: the amount of each has decimals. */
  readonly #above = { rows: 0, amount: 0n, name: '', isNumbered: true, isDecimal: true };

  constructor(rules: Rules) {
    this.#rules = rules;
    this.#names = new Set(rules.columns);
    const readers = cellReaders(rules.amounts, rules.encoding.isExact);
    const columns: Column[] = [];
    for (const source of rules.mapping.columns) {
      const { field } = source;
      // A column that fills two fields is read once, and its problem is reported once.
      const same = columns.find((column) => isSameSource(column.source, source) && column.read === readers[field]);
      if (same) same.others.push(field);
      else columns.push({ field, others: [], source, name: source.name, read: readers[field] });
    }
    this.#columns = columns;
  }

  /** The currencies of the amounts; an order has no currency, so the caller warns if there is more than one. */
  get currencies(): readonly string[] {
    return [...this.#currencies];
  }

  check(row: TextRow): CheckedRow {
    const { line } = row;
    const cells = this.#fitted(row.cells);
    const header = this.#rules.columns.length;
    const fault =
      row.fault ??
      (cells.length === header
        ? undefined
        : ({
            code: 'RAGGED',
            facts: { line, cells: cells.length, header, ...(row.isUnended && { isEnd: true }) },
          } as const)) ??
      (this.#isHeader(cells) ? ({ code: 'HEADER_REPEATED', facts: { line } } as const) : undefined);
    if (!fault) return this.#read(row, cells);
    if (fault.code === 'HEADER_REPEATED') this.#laterHeader = undefined;
    const problems = [rowProblem(fault.code, fault.facts)];
    return { status: 'invalid', line, cells, label: row.label, values: {}, problems };
  }

  #read(row: TextRow, cells: readonly string[]): CheckedRow {
    const { line, label } = row;
    const values: Values = {};
    const problems: Problem[] = [];
    for (const column of this.#columns) {
      const cell = cellFrom(cells, column.source);
      if (cell !== '') {
        this.#readCell(cell, column, row, values, problems);
      } else if (column.field === 'amount') {
        const written = (cells[column.source.index] ?? '').trim();
        problems.push(cellProblem(NO_AMOUNT, column, line, written));
      }
    }
    const isDoubtful = problems.length > 0 || values.amount === undefined;
    const isHeader = isDoubtful && isLaterHeader(cells, this.#rules.mapping, this.#names);
    if (isHeader) this.#laterHeader = line;
    const header = this.#laterHeader;
    if (header !== undefined)
      return this.#withProblems(line, cells, values, [rowProblem('HEADER_CHANGED', { line, header, isHeader })]);
    if (label !== undefined) values.order_id ??= label;
    if (isTotals(values, cells, this.#above.name) || this.#isSum(values))
      problems.push(rowProblem('TOTALS_ROW', { line }));
    if (problems.length > 0 || !hasCustomer(values)) return this.#withProblems(line, cells, values, problems);
    return { status: 'valid', line, cells, values, warnings: NONE, isUnended: row.isUnended };
  }

  #readCell(cell: string, column: Column, { line, isUnended }: TextRow, values: Values, problems: Problem[]): void {
    const { value, problem, currency } = column.read(cell);
    if (value !== undefined) {
      values[column.field] = value;
      for (const other of column.others) values[other] = value;
    }
    const isCutOff = column.field === 'amount' && this.#isCutOff(column, cell, isUnended);
    if (isCutOff) problems.push(cellProblem(CUT_OFF, column, line, cell));
    if (problem) problems.push(cellProblem(problem, column, line, cell));
    if (currency !== undefined && this.#currencies.size < MOST_CURRENCIES) this.#currencies.add(currency);
  }

  /** Whether the file may end in the middle of the amount: only this one has no decimals. */
  #isCutOff({ source }: Column, cell: string, isUnended = false): boolean {
    const above = this.#above;
    if (!above.isDecimal) return false;
    const hasDecimals = /[.,]\d\d\D*$/.test(cell);
    if (isUnended && above.rows > 1 && source.index === this.#rules.columns.length - 1) return !hasDecimals;
    above.isDecimal = hasDecimals;
    return false;
  }

  /**
   * Whether the row has no order_id, all rows above have one, and its amount is the sum of theirs: totals in any language. A sum of
   * nothing is also the amount of a free order.
   */
  #isSum(values: OrderValues): boolean {
    const { rows, isNumbered, amount: sum } = this.#above;
    const units = values.amount === undefined ? 0n : unitsOf(values.amount);
    const isNumberless = values.order_id === undefined && isNumbered && rows > 1 && !isFound(values);
    if (isNumberless && sum !== 0n && units === sum) return true;
    this.#above.rows += 1;
    this.#above.amount += units;
    this.#above.name = values.customer_name ?? this.#above.name;
    this.#above.isNumbered &&= values.order_id !== undefined;
    return false;
  }

  #withProblems(line: number, cells: readonly string[], values: OrderValues, found: readonly Problem[]): CheckedRow {
    const names = this.#columns.filter(({ field }) => isReference(field)).map(({ name }) => name);
    const isRefused = found.some(
      ({ code, field, severity }) =>
        code === 'TOTALS_ROW' || code === 'HEADER_CHANGED' || (severity === 'error' && isReference(field)),
    );
    const problems =
      hasCustomer(values) || isRefused
        ? found
        : [...found, rowProblem('NO_CUSTOMER', { line, columns: [...new Set(names)] })];
    if (problems.some(({ severity }) => severity === 'error'))
      return { status: 'invalid', line, cells, values, problems };
    return { status: 'valid', line, cells, values, warnings: problems };
  }

  /** Reports of several pages, and files that were joined, repeat the header. */
  #isHeader(cells: readonly string[]): boolean {
    const { columns } = this.#rules;
    return cells.every((cell, index) => (cell.trim() || namelessColumn(index)) === columns[index]);
  }

  /** Removes empty cells beyond the header: some programs end their lines with them. */
  #fitted(cells: readonly string[]): readonly string[] {
    const width = this.#rules.columns.length;
    let end = cells.length;
    while (end > width && (cells[end - 1] ?? '').trim() === '') end -= 1;
    return end === cells.length || this.#isAmountCut(cells) ? cells : cells.slice(0, end);
  }

  /** Whether the row has more cells because its amount, such as 12,50, has no quotes. */
  #isAmountCut(cells: readonly string[]): boolean {
    const { mapping, format } = this.#rules;
    const { index } = mapping.columns.find(({ field }) => field === 'amount') ?? {};
    if (index === undefined || format.delimiter !== ',') return false;
    return /\d$/.test(cells[index] ?? '') && /^(?:\d\d|\d{3}(?:\.\d+)?)$/.test(cells[index + 1] ?? '');
  }
}

interface Column {
  readonly field: Field;
  readonly others: Field[];
  readonly source: CellSource;
  readonly name: string;
  readonly read: CellReader;
}

const NONE: readonly Problem[] = [];
const MOST_CURRENCIES = 10;
/** A message shows this many characters of a cell. */
const MOST_SHOWN = 40;
const CUT_OFF = { code: 'AMOUNT_CUT_OFF', severity: 'error' } as const;
const NO_AMOUNT = { code: 'AMOUNT_EMPTY', severity: 'error' } as const;

const isReference = (field: Field | undefined) => CUSTOMER_REFERENCES.some((reference) => reference === field);

function hasCustomer(values: OrderValues): boolean {
  return CUSTOMER_REFERENCES.some((field) => values[field] !== undefined);
}

function cellProblem(
  { code, severity, facts }: CellProblem,
  { field, name, source }: Column,
  line: number,
  cell: string,
): Problem {
  const columnNumber = source.index + 1;
  return { code, severity, field, facts: { line, columnNumber, column: name, cell: shownCell(cell), ...facts } };
}

export function shownCell(cell: string): string {
  return shortened(cell, MOST_SHOWN);
}

function rowProblem(code: CellCode, facts: Problem['facts']): Problem {
  return { code, severity: 'error', field: undefined, facts };
}
