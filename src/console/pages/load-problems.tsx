/** The first rows of a file that would not be loaded, before all rows are checked. */
import { formatCount, plural } from '../../base/counts.ts';
import { remedyFor, statementFor } from '../../base/reasons/reasons.ts';
import type { FirstCheck, Preview } from '../../syncs/orders/preview-load.ts';
import { Section } from '../parts/parts.tsx';
import { Cells, ProblemColumns, Problems, SheetTable } from './load-columns.tsx';
import { columnsIn } from './load-lines.tsx';

const SHOWN = 20;

export function FirstProblems({ preview, checked }: { readonly preview: Preview; readonly checked: FirstCheck }) {
  const { rows, invalid } = checked;
  if (invalid.length === 0) return null;
  const shown = columnsIn(preview);
  const names = shown.map((column) => preview.table.columns[column] ?? '');
  const said = new Set<string>();
  return (
    <Section
      title={`${formatCount(invalid.length)} of the first ${plural(rows, 'row')} ${invalid.length === 1 ? 'is' : 'are'} not valid`}
      side={invalid.length > SHOWN && <span class="dim">the first {SHOWN} of them</span>}
    >
      <p class="dim">
        “Check and plan” checks all rows. You can then correct those that are not valid, before anything is written.
      </p>
      <SheetTable label="Rows that are not valid" titles={<ProblemColumns names={names} />}>
        {invalid.slice(0, SHOWN).map(({ line, cells, problems }) => (
          <tr>
            <th scope="row">{line}</th>
            <td class="problem">
              <Problems
                of={problems
                  .filter(({ severity }) => severity === 'error')
                  .map(({ code, facts }) => ({ why: statementFor(code, facts), remedy: remedyFor(code, facts) }))}
                said={said}
              />
            </td>
            <Cells columns={shown} cells={cells} />
          </tr>
        ))}
      </SheetTable>
    </Section>
  );
}
