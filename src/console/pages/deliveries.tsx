/** Deliveries: how each target is, and what is on its way to it. */
import type { z } from 'zod';
import { withOptions } from '../../base/reasons/template.ts';
import { lagOf } from '../../mirror/outbox/delays.ts';
import { DELIVERY_STATES, type ListedDelivery, listDeliveries } from '../../mirror/outbox/deliveries.ts';
import { countOutbox, type Hold, targetHolds, unserved } from '../../operator/deliveries.ts';
import { deliveryQuery, toDeliveryFilter } from '../api/filters.ts';
import { pageOf } from '../api/shapes.ts';
import { definePage } from '../page.ts';
import { Lags } from '../parts/charts.tsx';
import { Button, Days, Select } from '../parts/inputs.tsx';
import { addressOf, Chip, Empty, Foreign, Link, More, NoMore, Section, Table, Time } from '../parts/parts.tsx';
import { healthOf, NoWorker, Targets } from './target-parts.tsx';

const PER_PAGE = 50;

export const deliveries = definePage({
  path: '/deliveries',
  query: deliveryQuery,
  async show({ pool, settings, canAct, hint }, { query }) {
    const { after, ...filter } = query;
    const isFiltered = Object.values(query).some((value) => value !== undefined);
    const wanted = toDeliveryFilter(query);
    const [found, counts, lags] = await Promise.all([
      listDeliveries(pool, wanted, PER_PAGE + 1, after),
      countOutbox(pool, settings),
      isFiltered ? [] : lagOf(pool),
    ]);
    const { shown, next } = pageOf(found, PER_PAGE, ({ id }) => id);
    const names = counts.map(({ target }) => target);
    const targets = isFiltered ? counts.filter(({ target }) => target === query.target) : counts;
    const health = await healthOf(pool, isFiltered ? names.filter((name) => name === query.target) : names);
    const holdOf = await targetHolds(pool, settings);
    return {
      title: 'Deliveries',
      tab: 'deliveries',
      command: withOptions('deliveries', {
        target: query.target,
        verdict: query.verdict,
        since: query.from,
        until: wanted.until?.toISOString().slice(0, 10),
      }),
      head: (
        <>
          <h1>Deliveries</h1>
          <Filters query={query} names={names} />
        </>
      ),
      body: (
        <>
          <NoWorker targets={unserved(shown, holdOf)} hint={hint} />
          {targets.length > 0 && <Targets counts={targets} {...{ health, settings }} />}
          <Lags of={lags} />
          <Section
            title={isFiltered ? 'Found' : 'Newest'}
            side={canAct && isFiltered && <SendAgain filter={filter} shown={shown} />}
          >
            {shown.length === 0 && query.after !== undefined ? (
              <NoMore to={addressOf('/deliveries', filter)} />
            ) : shown.length === 0 ? (
              <Nothing isFiltered={isFiltered} />
            ) : (
              <>
                <List shown={shown} holdOf={holdOf} />
                <More to={next && addressOf('/deliveries', { ...filter, after: next })} />
              </>
            )}
          </Section>
        </>
      ),
    };
  },
});

type Query = z.output<typeof deliveryQuery>;

interface SendAgainProps {
  readonly filter: Omit<Query, 'after'>;
  readonly shown: readonly ListedDelivery[];
}

function SendAgain({ filter, shown }: SendAgainProps) {
  const isWaiting = filter.verdict === 'waiting';
  if (!shown.some(({ state }) => state === (isWaiting ? 'waiting' : 'ended'))) return null;
  const label = isWaiting ? 'Try all of these now' : 'Send all of these again';
  return <Button id="replay" to={addressOf('/deliveries/confirm', filter)} label={label} />;
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  return (
    <Empty title={isFiltered ? 'No delivery matches' : 'No deliveries yet'}>
      <p>
        {isFiltered ? (
          <a id="all-deliveries" href="/deliveries">
            Show all deliveries
          </a>
        ) : (
          'Changes of tasks on their way to a target are listed here, and alerts on their way to a channel.'
        )}
      </p>
    </Empty>
  );
}

function Filters({ query, names }: { readonly query: Query; readonly names: readonly string[] }) {
  return (
    <form class="filters" method="get" action="/deliveries">
      <Select label="Target" name="target" options={names} value={query.target} />
      <Select label="State" name="verdict" options={DELIVERY_STATES} value={query.verdict} />
      <Days from={query.from} to={query.to} />
      <button type="submit">Filter</button>
    </form>
  );
}

interface ListProps {
  readonly shown: readonly ListedDelivery[];
  readonly holdOf: (target: string) => Hold | undefined;
}

function List({ shown, holdOf }: ListProps) {
  return (
    <Table
      columns={[
        'Delivery',
        'Target',
        { title: 'Event', as: 'nowrap' },
        { title: 'Queued', as: 'nowrap' },
        { title: 'Attempts', as: 'number', unit: 'attempt' },
        'State',
      ]}
      rows={shown.map((delivery) => [
        <>
          <Link
            id={delivery.id}
            to={`/deliveries/${encodeURIComponent(delivery.id)}`}
            text={delivery.title || delivery.source}
            most={80}
          />
          <small class="id">
            <Foreign text={`${delivery.source} #${delivery.sequence}`} most={60} />
          </small>
        </>,
        delivery.target,
        delivery.event,
        <Time at={delivery.createdAt} />,
        delivery.attempts,
        <DeliveryState of={delivery} hold={holdOf(delivery.target)} />,
      ])}
    />
  );
}

type Stated = Pick<ListedDelivery, 'state' | 'verdict' | 'reason' | 'dueAt' | 'heldBy'>;

interface DeliveryStateProps {
  readonly of: Stated;
  readonly hold: Hold | undefined;
}

const HELD: Readonly<Record<Hold, string>> = {
  disabled: 'until its target is enabled',
  'not in the settings': 'until the settings have its target again',
  'without a worker': 'for a worker',
};

/** The verdict, or when it is tried next. */
export function DeliveryState({ of: { state, verdict, reason, dueAt, heldBy }, hold }: DeliveryStateProps) {
  const why = reason !== null && reason !== verdict?.toUpperCase() && <code>{reason}</code>;
  if (verdict !== null) {
    return (
      <>
        <Chip tone={verdict === 'dead' ? 'bad' : 'good'}>{verdict}</Chip> {why}
      </>
    );
  }
  return (
    <>
      <Chip tone="busy">{state}</Chip> {why}{' '}
      {heldBy !== null && (
        <>
          for <a href={`/deliveries/${encodeURIComponent(heldBy)}`}>an older one</a>
          {dueAt === null ? ', which is being sent' : ', '}
        </>
      )}
      {state === 'waiting' && hold !== undefined && <span class="dim">{HELD[hold]}</span>}
      {state === 'waiting' && hold === undefined && dueAt !== null && (
        <span class="dim">
          {dueAt.getTime() <= Date.now() ? 'due since' : 'next try'} <Time at={dueAt} />
        </span>
      )}
    </>
  );
}
