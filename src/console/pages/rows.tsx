/** The rows of a run, searched and filtered. */
import type { Child } from 'hono/jsx';
import { z } from 'zod';
import { formatCount, plural } from '../../base/counts.ts';
import { statementFor } from '../../base/reasons/reasons.ts';
import { shellWord } from '../../base/reasons/template.ts';
import { VERDICTS } from '../../engine/ledger/rows.ts';
import { type Run, readRun } from '../../engine/ledger/runs.ts';
import { reasonsOf } from '../../engine/ledger/views/row-groups.ts';
import { type NumberedRow, pageOfRows } from '../../engine/ledger/views/row-pages.ts';
import { watchesFolder } from '../../operator/phase-words.ts';
import { verdictWords } from '../../operator/run-words.ts';
import { rowQuery, toRowFilter } from '../api/filters.ts';
import { definePage } from '../page.ts';
import { Field, Select } from '../parts/inputs.tsx';
import { addressOf, Crumbs, Empty, Foreign, Link, More, NoMore, Table } from '../parts/parts.tsx';
import { Words } from '../parts/words.tsx';

const PER_PAGE = 100;

export const rows = definePage({
  path: '/runs/:run/rows',
  params: z.object({ run: z.string() }),
  query: rowQuery,
  async show({ pool }, { params, query }) {
    const run = await readRun(pool, params.run);
    const [page, counts] = await Promise.all([
      pageOfRows(pool, run.id, toRowFilter(query, run), { limit: PER_PAGE, after: query.after }),
      reasonsOf(pool, run.id),
    ]);
    const reasons = [...new Set(counts.map(({ reason }) => reason))].sort();
    const path = `/runs/${run.id}/rows`;
    const next = page.next === undefined ? undefined : addressOf(path, { ...query, after: page.next });
    const verdict = query.verdict === undefined ? '' : ` --verdict ${query.verdict}`;
    return {
      title: `Rows of ${run.id}`,
      tab: 'runs',
      assets: ['drawer.js'],
      // No command exports the rows of several verdicts.
      command:
        query.verdict === 'problem' ? `runs show ${run.id}` : `runs export ${shellWord(run.id)}${verdict} --out -`,
      head: (
        <>
          <Crumbs to={{ '/runs': 'Runs', [`/runs/${run.id}`]: run.id }} />
          <h1>
            Rows of <Foreign text={run.title} most={80} />
          </h1>
          <Filters query={query} path={path} reasons={reasons} />
        </>
      ),
      continuesAt: page.rows.length === 0 ? next : undefined,
      body:
        page.rows.length === 0 && next === undefined && query.after !== undefined ? (
          <NoMore to={addressOf(path, { ...query, after: undefined })} />
        ) : page.rows.length === 0 && next === undefined ? (
          <Empty title="No row matches">
            <p>
              <a href={path}>Show all rows of the run</a>
            </p>
          </Empty>
        ) : (
          <>
            {page.rows.length > 0 && (
              <Table
                columns={[
                  'Row',
                  { title: 'Verdict', as: 'nowrap' },
                  'Reason',
                  'Record',
                  { title: 'Sends', as: 'number', unit: 'send' },
                ]}
                rows={page.rows.map((row) => cellsOf(run, row))}
              />
            )}
            {page.searchedTo !== undefined && (
              <p class="dim">
                {page.rows.length > 0 && `${plural(page.rows.length, 'row matches', 'rows match')} on this page. `}
                The search has reached row {formatCount(page.searchedTo)}.
              </p>
            )}
            <More to={next} label={page.searchedTo === undefined ? 'More rows' : 'Search further'} />
          </>
        ),
    };
  },
});

interface FilterProps {
  readonly query: z.output<typeof rowQuery>;
  readonly path: string;
  readonly reasons: readonly string[];
}

function Filters({ query: { text = '', verdict, reason = '' }, path, reasons }: FilterProps) {
  const verdicts = [['problem', 'any problem'], ...VERDICTS] as const;
  return (
    <form class="filters" method="get" action={path}>
      <Field grows label="Search" type="search" name="text" value={text} placeholder="id, e-mail, name, any cell" />
      <Select label="Verdict" name="verdict" options={verdicts} value={verdict} />
      <Field label="Reason" name="reason" value={reason} suggest={reasons} />
      <button type="submit">Filter</button>
    </form>
  );
}

function cellsOf(run: Run, row: NumberedRow): readonly Child[] {
  const { n, sourceId, label, verdict, reason, facts, recordId, sends } = row;
  return [
    <>
      <Link to={`/runs/${run.id}/rows/${n}`} text={label || sourceId} most={80} drawer />
      <small class="id">
        {run.type === 'orders' && !watchesFolder(run) && (/^\d+$/.test(sourceId) ? 'line ' : 'lines ')}
        <Foreign text={sourceId} most={40} />
      </small>
    </>,
    <>
      <i class={`dot of-${verdict}`} />
      {verdictWords(verdict, run)}
    </>,
    <>
      {reason !== null && <code>{reason}</code>} <Words text={statementFor(reason, facts)} most={200} />
    </>,
    recordId !== null && <Foreign text={recordId} most={40} />,
    sends,
  ];
}
