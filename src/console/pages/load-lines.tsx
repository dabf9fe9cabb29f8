/** The first lines of a file as they are, and its first rows in columns. */
import { plural } from '../../base/counts.ts';
import { indexesOf } from '../../csv/cell-source.ts';
import type { Preview } from '../../syncs/orders/preview-load.ts';
import type { LoadForm } from '../loads/load-form.ts';
import { columnsToShow } from '../loads/shown-columns.ts';
import type { Upload } from '../loads/uploads.ts';
import { addressOf, Foreign, Section } from '../parts/parts.tsx';
import { Cells, ColumnNames, SheetTable } from './load-columns.tsx';

const SHOWN_ROWS = 5;

interface FirstLinesProps {
  readonly upload: Upload;
  readonly form: LoadForm;
  readonly lines: readonly string[];
  readonly at?: Pick<Preview['table'], 'format' | 'headerLine'>;
}

/** A click on a line makes it the header. */
export function FirstLines({ upload, form: { headless: _, ...form }, lines, at }: FirstLinesProps) {
  if (lines.length === 0) return null;
  return (
    <Section title="First lines" side={<span class="dim">click the one that is the header</span>}>
      <ol class="load-lines">
        {lines.map((text, index) => (
          <li>
            <a
              href={addressOf(`/load/${upload.id}`, { ...form, header: index + 1 })}
              aria-current={at?.format.hasHeader && at.headerLine === index + 1 ? 'true' : undefined}
            >
              <Foreign text={text || '(empty)'} most={200} />
            </a>
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** The columns (from 0) of a preview that its page shows. */
export function columnsIn({ table, columns }: Pick<Preview, 'table' | 'columns'>): readonly number[] {
  return columnsToShow(columns.flatMap(indexesOf)).filter((column) => column < table.columns.length);
}

export function FirstRows({ preview }: { preview: Preview }) {
  const { table, firstRows } = preview;
  const shown = columnsIn(preview);
  const hidden = table.columns.length - shown.length;
  return (
    <Section title="First rows" side={hidden > 0 && <span class="dim">{plural(hidden, 'more column')}</span>}>
      <SheetTable
        label="First rows"
        titles={<ColumnNames names={shown.map((column) => table.columns[column] ?? '')} />}
      >
        {firstRows.slice(0, SHOWN_ROWS).map((row) => (
          <tr>
            <Cells columns={shown} cells={row} />
          </tr>
        ))}
      </SheetTable>
    </Section>
  );
}
