/** The columns that fill fields, and the cells of a file's first rows, which show what a column holds. */
import { type CellSource, cellFrom, type MappedColumn } from './cell-source.ts';
import { type Header, namelessColumn } from './column-names.ts';
import type { Field } from './fields.ts';
import { fitsOf, MOST_LOOKED_AT } from './fits.ts';

/** Two columns, each with its cell of one row. */
export type Difference = readonly { readonly name: string; readonly cell: string }[];

interface Choices {
  readonly firstRows?: readonly (readonly string[])[];
  /** The rows were chosen by what is wrong with them, so bad cells say nothing about their column. */
  readonly isSelection?: boolean;
  readonly delimiter?: string | undefined;
}

/** The cells of a file's first rows, by column. */
export class FirstCells {
  readonly header: Header;
  readonly isSelection: boolean;
  readonly delimiter: string | undefined;
  readonly #rows: readonly (readonly string[])[];
  readonly #orderRows: readonly (readonly string[])[];

  constructor(header: Header, { firstRows = [], isSelection = false, delimiter }: Choices) {
    this.header = header;
    this.isSelection = isSelection;
    this.delimiter = delimiter;
    this.#rows = firstRows.slice(0, MOST_LOOKED_AT);
    const filled = this.#rows.map((row) => row.filter((cell) => cell !== '').length);
    const most = filled.reduce((one, other) => Math.max(one, other), 0);
    this.#orderRows = this.#rows.filter((_, row) => (filled[row] ?? 0) * 2 >= most); // headings and totals have fewer
  }

  get hasRows(): boolean {
    return this.#rows.length > 0;
  }

  /** Without spaces around them. */
  cells(source: CellSource): readonly string[] {
    return this.#rows.map((row) => cellFrom(row, source));
  }

  /** The same without the headings and totals of a report. */
  orderCells(source: CellSource): readonly string[] {
    return this.#orderRows.map((row) => cellFrom(row, source));
  }

  /** Cells of a column without a name that are alone in their rows: a report groups the lines below them. */
  get headings(): readonly string[] {
    if (this.header.names[0] !== namelessColumn(0)) return [];
    const filled = this.#rows.map((row) => row.map((cell) => cell.trim()));
    return filled.flatMap(([first = '', ...others]) =>
      first !== '' && others.every((cell) => cell === '') ? [first] : [],
    );
  }

  /** The first cells in which two columns differ, by column in the order of the file; undefined if they say the same. */
  difference(one: MappedColumn, other: MappedColumn): Difference | undefined {
    const columns = [one, other].sort((left, right) => left.index - right.index);
    const rows = this.#rows.map((row) => columns.map((column) => ({ name: column.name, cell: cellFrom(row, column) })));
    return rows.find(([left, right]) => left?.cell !== right?.cell);
  }

  column(field: Field, source: CellSource, by: Pick<MappedColumn, 'how' | 'confidence'>): MappedColumn {
    const name = this.header.names[source.index] ?? '';
    return { ...source, ...by, field, name, fits: fitsOf(field, this.cells(source)) };
  }
}
