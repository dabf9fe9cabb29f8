/** What a run would write, before it is approved: the plan on the page of the run, and all of its writes on a page of their own. */
import { z } from 'zod';
import { formatCount, plural } from '../../base/counts.ts';
import { capital } from '../../base/texts.ts';
import { changesIn, pageOfShown, type ShownWrite } from '../../engine/ledger/matching/shown-writes.ts';
import { VERDICTS } from '../../engine/ledger/rows.ts';
import { type Run, readRun } from '../../engine/ledger/runs.ts';
import { formatAmount, formatTook } from '../../operator/format.ts';
import { type RunPlan, writesOf } from '../../operator/run-plan.ts';
import { verdictWords } from '../../operator/run-words.ts';
import { ARE_UPDATES, planQuery } from '../api/filters.ts';
import { pageOf } from '../api/shapes.ts';
import { definePage, type PageContext } from '../page.ts';
import { addressOf, Crumbs, Empty, Fact, Foreign, Items, Link, More, NoMore, Section, Table } from '../parts/parts.tsx';

const PAGE = 50;
const SAMPLES = 5;

type Samples = readonly [created: readonly ShownWrite[], updated: readonly ShownWrite[]];

export function samplesOf({ pool }: PageContext, run: Run): Promise<Samples> {
  const first = (areUpdates: boolean) => pageOfShown(pool, run.id, { areUpdates, limit: SAMPLES });
  return Promise.all([first(false), first(true)]);
}

interface PlanProps {
  readonly run: Run;
  readonly plan: RunPlan;
  readonly samples?: Samples;
}

export function Plan({ run, plan, samples: [created, updated] = [[], []] }: PlanProps) {
  const { creates, updates, customers, calls, leastMs, counts } = plan;
  const what = run.type === 'orders' ? 'order' : 'customer';
  const written = counts.created + counts.updated;
  const others = VERDICTS.filter((verdict) => counts[verdict] > 0 && verdict !== 'created' && verdict !== 'updated');
  return (
    <Section title="The plan">
      <dl class="facts">
        <Fact name="Create">
          {plural(creates, what)}
          {customers > 0 && `, and ${plural(customers, 'customer')} first`}
        </Fact>
        {updates > 0 && <Fact name="Update">{plural(updates, what)}</Fact>}
        {written > 0 && <Fact name="Written already">{plural(written, what)}</Fact>}
        {others.length > 0 && (
          <Fact name="Not written">
            <Items
              as="inline"
              of={others.map((verdict) => (
                <a href={addressOf(`/runs/${run.id}/rows`, { verdict })}>
                  {formatCount(counts[verdict])} {verdictWords(verdict, run)}
                </a>
              ))}
            />
          </Fact>
        )}
        {writesOf(plan) > 0 && (
          <Fact name="Calls">
            about {formatCount(calls)}
            {leastMs !== undefined &&
              leastMs >= 1_000 &&
              `; with this budget they take at least ${formatTook(leastMs)}`}
          </Fact>
        )}
      </dl>
      <Sample run={run} writes={created} of={creates} kind="new" />
      <Sample run={run} writes={updated} of={updates} kind="updates" />
    </Section>
  );
}

interface SampleProps {
  readonly run: Run;
  readonly writes: readonly ShownWrite[];
  readonly of: number;
  readonly kind: 'new' | 'updates';
}

function Sample({ run, writes, of, kind }: SampleProps) {
  if (writes.length === 0) return null;
  const words = kind === 'new' ? 'to create' : 'to update';
  return (
    <>
      <h3>
        {writes.length < of ? `The first ${writes.length} ${words}` : capital(words)}
        {writes.length < of && (
          <>
            {' · '}
            <a id={`plan-${kind}`} href={addressOf(`/runs/${run.id}/plan`, { kind })}>
              all {formatCount(of)}
            </a>
          </>
        )}
      </h3>
      <Writes run={run} writes={writes} />
    </>
  );
}

function Writes({ run, writes }: Pick<SampleProps, 'run' | 'writes'>) {
  const isLoad = run.type === 'orders';
  return (
    <Table
      columns={[isLoad ? 'Order' : 'Contact', 'Customer', 'Writes']}
      rows={writes.map((write) => [
        <>
          <Link to={`/runs/${run.id}/rows/${write.n}`} text={write.label ?? write.source} most={80} />
          {isLoad && <small class="id">line {write.source}</small>}
        </>,
        isLoad ? (
          <Customer of={write} />
        ) : (
          <Foreign text={write.record ?? (write.was ? nameOf(write.was) : 'new')} most={80} />
        ),
        <Changes of={write} />,
      ])}
    />
  );
}

function Customer({ of: { customer, customerName } }: { readonly of: ShownWrite }) {
  const name = customerName ?? '';
  return (
    <>
      <Foreign text={typeof customer === 'string' && name === '' ? customer : name} most={60} />
      {typeof customer !== 'string' && <small class="id">is created first</small>}
      {typeof customer === 'string' && name !== '' && <small class="id">customer {customer}</small>}
    </>
  );
}

/** `amount 5 → 7` of an update, `amount 7` of a new record. */
function Changes({ of }: { readonly of: ShownWrite }) {
  return (
    <ul class="changes">
      {changesIn(of).map(({ field, from, to }) => (
        <li>
          <span class="dim">{field}</span>{' '}
          {of.was !== null && (
            <>
              <del>
                <Foreign text={textOf(field, from)} most={120} />
              </del>
              <span aria-hidden="true"> → </span>
              <span class="unseen">becomes</span>
            </>
          )}
          <ins>
            <Foreign text={textOf(field, to)} most={120} />
          </ins>
        </li>
      ))}
    </ul>
  );
}

/** The record that a contact is matched with. */
function nameOf({ full_name, email }: Readonly<Record<string, unknown>>): string {
  return [full_name, email].filter((one) => typeof one === 'string' && one !== '').join(', ');
}

function textOf(field: string, value: unknown): string {
  if (value === undefined || value === null || value === '') return '(none)';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return field === 'amount' ? formatAmount(text) : text;
}

const KINDS = { all: 'All', new: 'New', updates: 'Updates' } as const;

export const plan = definePage({
  path: '/runs/:run/plan',
  params: z.object({ run: z.string() }),
  query: planQuery,
  async show({ pool }, { params, query: { kind, after } }) {
    const run = await readRun(pool, params.run);
    const path = `/runs/${run.id}/plan`;
    const found = await pageOfShown(pool, run.id, { areUpdates: ARE_UPDATES[kind], after, limit: PAGE + 1 });
    const { shown: writes, next } = pageOf(found, PAGE, ({ n }) => String(n));
    const isStored = writes.length > 0 || (await pageOfShown(pool, run.id, { limit: 1 })).length > 0;
    return {
      title: `The plan of ${run.id}`,
      tab: 'runs',
      command: `runs export ${run.id} --out plan.csv`,
      head: (
        <>
          <Crumbs to={{ '/runs': 'Runs', [`/runs/${run.id}`]: run.id }} here="plan" />
          <h1>
            What <Foreign text={run.title} most={80} /> writes
          </h1>
          <p class="dim">
            {isStored
              ? 'As it was shown for its approval. A row whose content or record changes afterwards is left out.'
              : 'A plan is stored until its run has ended.'}
          </p>
          <nav class="ranges" aria-label="Writes that are shown">
            {Object.entries(KINDS).map(([name, title]) => (
              <a href={addressOf(path, { kind: name })} aria-current={name === kind ? 'page' : undefined}>
                {title}
              </a>
            ))}
          </nav>
        </>
      ),
      body:
        writes.length === 0 && after !== undefined ? (
          <NoMore to={addressOf(path, { kind })} />
        ) : writes.length === 0 ? (
          <Empty title={isStored ? 'No such write' : 'No plan is stored'}>
            <p>
              <a href={`/runs/${run.id}/rows`}>Look at the rows</a>
            </p>
          </Empty>
        ) : (
          <>
            <Writes run={run} writes={writes} />
            <More to={next && addressOf(path, { kind, after: next })} label="More" />
          </>
        ),
    };
  },
});
