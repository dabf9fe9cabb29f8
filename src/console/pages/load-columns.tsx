/** Which column of a file fills which field, each with its first cells; another column can be chosen. */
import type { Child } from 'hono/jsx';
import { shortened } from '../../base/texts.ts';
import { visible } from '../../base/visible.ts';
import { cellFrom, type MappedColumn } from '../../csv/cell-source.ts';
import { columnNotes } from '../../csv/column-notes.ts';
import { CUSTOMER_REFERENCES, FIELDS, type Field } from '../../csv/fields.ts';
import { columnLabel, columnWords, fitWords, howWords, unusedWords } from '../../operator/sheet-words.ts';
import type { Preview } from '../../syncs/orders/preview-load.ts';
import type { LineProblem } from '../loads/fixes.ts';
import { columnOf, columnValue, type LoadForm, NO_COLUMN } from '../loads/load-form.ts';
import { Remedy } from '../parts/inputs.tsx';
import { Foreign, Head, Section } from '../parts/parts.tsx';
import { Words } from '../parts/words.tsx';

const SHOWN_CELLS = 3;

const toFind = (field: Field) => CUSTOMER_REFERENCES.some((one) => one === field);
const firstToFind = FIELDS.findIndex(toFind);
const GROUPS: readonly { readonly title: string; readonly fields: readonly Field[] }[] = [
  { title: 'The order', fields: FIELDS.slice(0, firstToFind) },
  { title: 'Which customer it is for: one column is enough', fields: CUSTOMER_REFERENCES },
  {
    title: 'Customers that are created, if you choose to create missing customers',
    fields: FIELDS.slice(firstToFind).filter((field) => !toFind(field)),
  },
];

export function Columns({ preview, form }: { readonly preview: Preview; readonly form: LoadForm }) {
  const unused = preview.sheet?.mapping.unmapped ?? [];
  return (
    <Section title="Columns">
      <table class="list load-columns" id="columns">
        <Head columns={['Field', 'Column', 'First cells', 'Detected by']} />
        {GROUPS.map(({ title, fields }) => (
          <tbody>
            <tr>
              <th scope="rowgroup" colspan={4} class="dim">
                {title}
              </th>
            </tr>
            {fields.map((field) => (
              <FieldRow
                field={field}
                column={preview.columns.find((one) => one.field === field)}
                preview={preview}
                chosen={form[columnOf(field)]}
              />
            ))}
          </tbody>
        ))}
      </table>
      {unused.length > 0 && (
        <p class="dim">
          Not used: <Foreign text={unused.map(unusedWords).join(', ')} most={400} />
        </p>
      )}
      {preview.sheet &&
        columnNotes(preview.sheet, (field, what) =>
          what === 'none' ? `choose no column above for ${field}` : `choose it above for ${field}`,
        ).map((note) => (
          <p class="notice warn">
            <Words text={`Note: ${note}.`} />
          </p>
        ))}
    </Section>
  );
}

interface FieldRowProps {
  readonly field: Field;
  readonly column: MappedColumn | undefined;
  readonly preview: Preview;
  readonly chosen: string | undefined;
}

function FieldRow({ field, column, preview: { table, firstRows, sheet }, chosen }: FieldRowProps) {
  const none = sheet ? 'none, detected' : 'detect it';
  const detected = column ? short(`${columnWords(column, table.columns)}, detected`) : none;
  const cells = column ? firstRows.slice(0, SHOWN_CELLS).map((row) => cellFrom(row, column)) : [];
  return (
    <tr>
      <th scope="row">{field}</th>
      <td>
        <select name={columnOf(field)} aria-label={`Column of ${field}`}>
          <option value="">{chosen === undefined ? detected : 'detect it'}</option>
          <option value={NO_COLUMN} selected={chosen === NO_COLUMN}>
            no column
          </option>
          {table.columns.map((_, index) => (
            <option value={columnValue(index, table.columns)} selected={chosen === columnValue(index, table.columns)}>
              {short(table.format.hasHeader ? columnLabel(index, table.columns) : `column ${index + 1}`)}
            </option>
          ))}
        </select>
      </td>
      <td>
        <Foreign text={cells.filter((cell) => cell !== '').join(' · ')} most={90} />
      </td>
      <td class="dim">{column && `${howWords(column)}; ${fitWords(column.fits)}`}</td>
    </tr>
  );
}

function short(name: string): string {
  return shortened(visible(name), 50);
}

interface SheetProps {
  readonly label: string;
  /** The titles of its columns. */
  readonly titles: Child;
  /** The table of cells to correct, or that of rows of a file. */
  readonly as?: 'load-fix' | 'load-rows';
  readonly children: Child;
}

/** A table that shows cells of a file, and is scrolled. */
export function SheetTable({ label, titles, as = 'load-rows', children }: SheetProps) {
  return (
    <section class={`wide ${as}`} aria-label={label} tabindex={0}>
      <table>
        <thead>
          <tr>{titles}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** The titles of a table that shows cells of a file. */
export function ColumnNames({ names }: { readonly names: readonly string[] }) {
  return (
    <>
      {names.map((name) => (
        <th scope="col">
          <Foreign text={name} most={40} />
        </th>
      ))}
    </>
  );
}

/** The same in a table of lines that have a problem each. */
export function ProblemColumns({ names }: { readonly names: readonly string[] }) {
  return (
    <>
      <th scope="col">Line</th>
      <th scope="col">Problem</th>
      <ColumnNames names={names} />
    </>
  );
}

/** The cells of a row in these columns (from 0). */
export function Cells({ columns, cells }: { readonly columns: readonly number[]; readonly cells: readonly string[] }) {
  return (
    <>
      {columns.map((column) => (
        <td>
          <Foreign text={cells[column] ?? ''} most={60} />
        </td>
      ))}
    </>
  );
}

interface ProblemsProps {
  readonly of: readonly LineProblem[];
  /** The remedies of the lines before, so that each is said once. */
  readonly said: Set<string>;
}

/** What is wrong with a line, and what to do about it. */
export function Problems({ of, said }: ProblemsProps) {
  return (
    <>
      {of.map(({ why, remedy }) => {
        const isNew = remedy !== undefined && !said.has(remedy);
        if (isNew) said.add(remedy);
        return (
          <>
            <p>
              <Words text={why} most={300} />
            </p>
            {isNew && <Remedy text={remedy} most={300} />}
          </>
        );
      })}
    </>
  );
}
