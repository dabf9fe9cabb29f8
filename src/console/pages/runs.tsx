/** Runs: all of them, filtered, the newest first. */
import type { Child } from 'hono/jsx';
import type { z } from 'zod';
import { plural } from '../../base/counts.ts';
import { withOptions } from '../../base/reasons/template.ts';
import { VERDICTS } from '../../engine/ledger/rows.ts';
import { RUN_STATUSES, type RunStatus } from '../../engine/ledger/runs.ts';
import { type ListedRun, pageOfRuns } from '../../engine/ledger/views/run-list.ts';
import { formatTook } from '../../operator/format.ts';
import type { RunReport } from '../../operator/report.ts';
import { reportRuns } from '../../operator/run-report.ts';
import { runQuery, toRunFilter } from '../api/filters.ts';
import { definePage, type PageContext } from '../page.ts';
import { Check, Days, Field, Select, Submit } from '../parts/inputs.tsx';
import { addressOf, Empty, Link, More, NoMore, Table, Time } from '../parts/parts.tsx';
import { Counts, CountsBar, State } from '../parts/run-counts.tsx';

const PER_PAGE = 50;

export const runs = definePage({
  path: '/runs',
  query: runQuery,
  async show(context, { query }) {
    const { pool, settings, canAct } = context;
    const filter = toRunFilter(query);
    const { entries, next } = await pageOfRuns(pool, filter, { limit: PER_PAGE, after: query.after, fold: !query.all });
    const runs = entries.map(({ run }) => run);
    const reported = new Map((await reportRuns(pool, runs, settings)).map(({ run, report }) => [run.id, report]));
    const reports = entries.flatMap((entry) => {
      const report = reported.get(entry.run.id);
      return report === undefined ? [] : { entry, report };
    });
    const isFiltered = Object.values({ ...query, all: undefined }).some((value) => value !== undefined);
    return {
      title: 'Runs',
      tab: 'runs',
      command: commandOf(query),
      isBusy: reports.some(({ report }) => report.state === 'running' || report.state === 'queued'),
      head: (
        <>
          <h1>Runs</h1>
          <Filters query={query} context={context} titles={runs.map(({ title }) => title)} />
        </>
      ),
      body:
        reports.length === 0 && query.after !== undefined ? (
          <NoMore to={addressOf('/runs', { ...plain(query), after: undefined })} />
        ) : reports.length === 0 ? (
          <Empty title={isFiltered ? 'No run matches' : 'Nothing has run yet'}>
            <p>{isFiltered ? <a href="/runs">Show all runs</a> : <a href="/syncs">Start a sync</a>}</p>
          </Empty>
        ) : (
          <form method="get" action="/confirm">
            {canAct && (
              <div class="bulk">
                <span class="dim">Selected runs:</span>
                <Submit label="Retry" name="action" value="retry" />
                <Submit label="Cancel" name="action" value="cancel" />
              </div>
            )}
            <Table
              columns={[
                canAct && { title: 'Selected', as: 'unseen' },
                'Run',
                { title: 'Started', as: 'nowrap' },
                { title: 'Took', as: 'nowrap' },
                'Status',
                { title: 'Rows', as: 'number', unit: 'row' },
                'Outcome',
              ]}
              rows={reports.map(cellsOf)}
            />
            <More to={next && addressOf('/runs', { ...plain(query), after: next })} />
          </form>
        ),
    };
  },
});

function cellsOf({ entry, report }: { readonly entry: ListedRun; readonly report: RunReport }): readonly Child[] {
  const { run, folded, since } = entry;
  return [
    <input type="checkbox" id={`select-${run.id}`} name="run" value={run.id} aria-label={`Select ${run.id}`} />,
    <>
      <Link id={`run-${run.id}`} to={`/runs/${run.id}`} text={run.title} most={60} />
      <small class="id">
        {run.id}
        {run.dryRun && ' · dry run'}
      </small>
    </>,
    <Time at={run.createdAt} />,
    formatTook(report.durationMs),
    <State report={report} />,
    report.counts.in,
    folded > 1 ? (
      <span class="dim">
        nothing new, nor in {plural(folded - 1, 'run')} before it since <Time at={since} />
      </span>
    ) : (
      <>
        <CountsBar report={report} />
        <Counts report={report} />
      </>
    ),
  ];
}

type RunQuery = z.output<typeof runQuery>;

/** The states that the list shows of runs with this status. */
const ALSO: Partial<Record<RunStatus, string>> = { paused: 'awaiting approval', cancelled: 'not approved' };
const STATUSES = RUN_STATUSES.map((status) => {
  const also = ALSO[status];
  return [status, also === undefined ? status : `${status} or ${also}`] as const;
});

interface FilterProps {
  readonly query: RunQuery;
  readonly context: PageContext;
  /** Of the runs on the page. */
  readonly titles: readonly string[];
}

function Filters({ query, context: { settings }, titles }: FilterProps) {
  return (
    <form class="filters" method="get" action="/runs">
      <Field
        label="Sync or file"
        name="sync"
        value={query.sync ?? ''}
        placeholder="its whole name"
        suggest={[...new Set([...Object.keys(settings.syncs), ...titles])]}
      />
      <Select label="Account" name="account" options={Object.keys(settings.accounts)} value={query.account} />
      <Select label="Status" name="status" options={STATUSES} value={query.status} />
      <Select label="With rows" name="verdict" options={VERDICTS} value={query.verdict} />
      <Days from={query.from} to={query.to} />
      <Check label="List every run, also those that found nothing new" name="all" value="1" checked={query.all} />
      <button type="submit">Filter</button>
    </form>
  );
}

function plain({ all, ...query }: RunQuery): Readonly<Record<string, string | undefined>> {
  return { ...query, all: all ? '1' : undefined };
}

function commandOf({ sync, status, verdict, from, all }: RunQuery): string {
  const command = withOptions('runs', { sync, status, verdict, since: from });
  return all ? `${command} --all` : command;
}
