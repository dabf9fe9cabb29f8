/** The lines of a load that were not accepted, to correct: by cell, or all at once. They become a new file. */
import { z } from 'zod';
import { plural } from '../../base/counts.ts';
import { namelessColumn } from '../../csv/column-names.ts';
import { correctionOf } from '../../engine/ledger/matching/corrections.ts';
import { type Run, readRun } from '../../engine/ledger/runs.ts';
import type { Load } from '../../syncs/orders/begin-load.ts';
import { ordersRunOptions } from '../../syncs/orders/options.ts';
import { optionsOf } from '../../syncs/orders/remembered-columns.ts';
import { requireOperator } from '../access/guard.ts';
import {
  type BadOrders,
  badFile,
  badOrders,
  cellKey,
  isEditable,
  isPlanDropped,
  shownColumns,
} from '../loads/fixes.ts';
import { commandOf, formOfLoad, loadForm } from '../loads/load-form.ts';
import { definePage } from '../page.ts';
import { Button, Check, Field, Select, Submit } from '../parts/inputs.tsx';
import { Crumbs, Empty, Foreign, Section } from '../parts/parts.tsx';
import { ProblemColumns, Problems, SheetTable } from './load-columns.tsx';

const SHOWN_ORDERS = 50;
/** Cells of these columns are seen with the problem. */
const NEAR_COLUMNS = 4;

/** Loads the same file as it was loaded. */
function againCommand({ title: name, account, options }: Run, load: Load): string {
  const form = loadForm.parse(formOfLoad(load, ordersRunOptions.parse(options)));
  return commandOf(form, { name, account }, optionsOf(load));
}

export const fix = definePage({
  path: '/runs/:run/fix',
  params: z.object({ run: z.string() }),
  query: z.object({ from: z.coerce.number().int().min(0).prefault(0) }),
  async show({ pool, person }, { params, query: { from } }) {
    requireOperator(person);
    const run = await readRun(pool, params.run);
    const [{ name, columns, load }, bad, correction] = await Promise.all([
      badFile(pool, run.id),
      badOrders(pool, run.id, { limit: SHOWN_ORDERS, from }),
      correctionOf(pool, run.id),
    ]);
    const page = { title: 'Correct lines', tab: 'runs', isStill: true } as const;
    if (bad.count === 0 || correction !== undefined) {
      return {
        ...page,
        body: (
          <Empty title={bad.count === 0 ? 'No line was refused' : 'The lines were corrected already'} isPage>
            <p>
              {bad.count > 0 && (
                <>
                  <a href={`/runs/${correction}`}>Run {correction}</a> has them. Lines that it refused are corrected
                  there.{' '}
                </>
              )}
              <a href={`/runs/${run.id}`}>Back to the run</a>
            </p>
          </Empty>
        ),
      };
    }
    return {
      ...page,
      command: `${againCommand(run, load)} --results results/`,
      body: (
        <>
          <Crumbs to={{ [`/runs/${run.id}`]: run.title }} />
          <h1>Correct {plural(bad.count, 'row')}</h1>
          <p class="dim">
            They become a new file, <Foreign text={name} most={120} />, which you then look at and load.{' '}
            {isPlanDropped(run)
              ? 'The file also has the other lines that are not written yet. The plan of this run can then no longer be approved.'
              : 'The loaded file and its run stay as they are.'}{' '}
            Empty all cells of a line to leave it out. The next page keeps the columns and options of this load.
          </p>
          <form class="load" method="post" action={`/runs/${run.id}/fix`}>
            <Lines {...bad} columns={columns} shownColumns={shownColumns(load)} />
            <Replace columns={columns} />
            {bad.lines.some(({ reason }) => reason === 'CUSTOMER_UNKNOWN') && run.options.createCustomers !== true && (
              <Check label="Create the customers that are missing" name="customers" />
            )}
            <div class="acts">
              <Submit label="Make the new file" primary />
              <Button to={`/runs/${run.id}`} label="Back" />
            </div>
          </form>
        </>
      ),
    };
  },
});

interface LinesProps extends BadOrders {
  readonly columns: readonly string[];
  readonly shownColumns: readonly number[];
}

function Lines({ lines, shown, count, columns, shownColumns }: LinesProps) {
  const width = Math.max(columns.length, ...lines.map(({ cells }) => cells.length));
  const these = shownColumns.filter((column) => column < width);
  const nameOf = (column: number) => columns[column] ?? namelessColumn(column);
  const remedies = new Set<string>();
  return (
    <Section title="Cells" side={<span class="dim">{hiddenWords(count - shown, width - these.length)}</span>}>
      <SheetTable label="Cells" as="load-fix" titles={<ProblemColumns names={these.map(nameOf)} />}>
        {lines.map(({ line, cells, problems, wrong }) => (
          <tr>
            <th scope="row">{line}</th>
            <td class="problem">
              <Problems of={problems} said={remedies} />
              {wrong
                .filter((column) => these.indexOf(column) >= NEAR_COLUMNS)
                .map((column) => (
                  <>
                    {' '}
                    <a href={`#${cellKey(line, column)}`}>Go to the cell</a>
                  </>
                ))}
            </td>
            {these.map((column) =>
              column < Math.max(columns.length, cells.length) ? (
                <td data-label={nameOf(column)}>
                  <Cell
                    text={cells[column] ?? ''}
                    canEdit={isEditable(cells[column] ?? '')}
                    name={cellKey(line, column)}
                    label={`${nameOf(column)}, line ${line}`}
                    isWrong={wrong.includes(column)}
                  />
                </td>
              ) : (
                <td />
              ),
            )}
          </tr>
        ))}
      </SheetTable>
    </Section>
  );
}

function hiddenWords(rows: number, columns: number): string {
  const hidden = [...(rows > 0 ? [plural(rows, 'more row')] : []), ...(columns > 0 ? [plural(columns, 'column')] : [])];
  return hidden.length === 0 ? '' : `${hidden.join(' and ')} in the new file, not shown here`;
}

interface CellProps {
  readonly text: string;
  readonly canEdit: boolean;
  readonly name: string;
  readonly label: string;
  readonly isWrong: boolean;
}

function Cell({ text, canEdit, name, label, isWrong }: CellProps) {
  if (!canEdit) return <Foreign text={text} most={60} />;
  return (
    <input
      id={isWrong ? name : undefined}
      name={name}
      value={text}
      aria-label={label.slice(0, 100)}
      aria-invalid={isWrong ? 'true' : undefined}
    />
  );
}

function Replace({ columns }: { readonly columns: readonly string[] }) {
  const options = columns.map((name, i) => [String(i), name.slice(0, 60) || `column ${i + 1}`] as const);
  return (
    <Section title="Replace in all lines of the new file">
      <div class="filters">
        <Select label="Column" name="column" options={options} value={undefined} none="none" />
        <Field label="Replace" name="find" maxlength={200} placeholder="empty: fills empty cells" />
        <Field label="with" name="put" maxlength={200} />
      </div>
    </Section>
  );
}
