/** Review: the rows that wait for a person, by reason. */
import type { z } from 'zod';
import { plural } from '../../base/counts.ts';
import { meaningOf } from '../../base/reasons/reasons.ts';
import { withOptions } from '../../base/reasons/template.ts';
import { cursorOf, type ReviewItem, type ReviewPage, reviewPage } from '../../engine/ledger/views/review-items.ts';
import { groupCount, longId, recordsFor, reviewStatement, waitWords } from '../../operator/review.ts';
import { reviewQuery } from '../api/filters.ts';
import { pageOf } from '../api/shapes.ts';
import { definePage, type PageContext } from '../page.ts';
import { Button, Field, Select } from '../parts/inputs.tsx';
import { addressOf, Chip, Empty, Foreign, Link, More, NoMore, Section } from '../parts/parts.tsx';
import { Words } from '../parts/words.tsx';
import { groupAddress, itemAddress } from './review-parts.tsx';

const PER_PAGE = 50;

type Query = z.output<typeof reviewQuery>;

export const review = definePage({
  path: '/review',
  query: reviewQuery,
  async show(context, { query }) {
    const { after, ...filter } = query;
    const page = await reviewPage(context.pool, filter, { limit: PER_PAGE + 1, after });
    const { shown: items, next } = pageOf(page.items, PER_PAGE, (last) => JSON.stringify(cursorOf(last)));
    return {
      title: 'Review',
      tab: 'review',
      command: withOptions('review', filter),
      head: (
        <>
          <div class="headline">
            <h1>Review</h1>
            <a href="/review/decisions">Decisions</a>
          </div>
          <Filters query={query} context={context} page={page} />
        </>
      ),
      body:
        items.length === 0 && query.after !== undefined ? (
          <NoMore to={addressOf('/review', filter)} />
        ) : items.length === 0 ? (
          <Nothing isFiltered={Object.values(query).some((value) => value !== undefined)} />
        ) : (
          <>
            <p>
              {waitWords(page)} The next run of the sync applies decisions about contacts, and a retry of the load
              applies decisions about orders.
            </p>
            <Overview groups={page.groups} query={query} />
            {Object.keys(page.groups)
              .filter((reason) => items.some((item) => item.reason === reason))
              .map((reason) => (
                <ReasonGroup reason={reason} items={items} page={page} query={query} context={context} />
              ))}
            <More to={next && addressOf('/review', { ...filter, after: next })} />
          </>
        ),
    };
  },
});

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No row in review matches">
        <p>
          <a href="/review">Show all rows in review</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No row waits for a decision">
      <p>
        Rows that Lockstep cannot decide alone are listed here once their run has ended, with the evidence side by side.
      </p>
    </Empty>
  );
}

/** Each reason with its number of rows, if there are several. */
function Overview({ groups, query }: { readonly groups: ReviewPage['groups']; readonly query: Query }) {
  const { account, sync } = query;
  if (Object.keys(groups).length < 2) return null;
  return (
    <ul class="reasons">
      {Object.entries(groups).map(([reason, count]) => (
        <li>
          <a id={`only-${reason}`} href={addressOf('/review', { account, sync, reason })}>
            {reason}
          </a>{' '}
          {groupCount(count)}
        </li>
      ))}
    </ul>
  );
}

interface GroupProps {
  readonly reason: string;
  readonly items: readonly ReviewItem[];
  readonly page: ReviewPage;
  readonly query: Query;
  readonly context: PageContext;
}

function ReasonGroup({ reason, items, page, query: { account, sync }, context: { canAct, hint } }: GroupProps) {
  const bulk = (['ignore', 'later'] as const).map((choice) => (
    <Button
      id={`${choice}-${reason}`}
      to={groupAddress({ reason, account, sync }, choice)}
      label={choice === 'ignore' ? 'Ignore all' : 'All for later'}
    />
  ));
  const title = (
    <>
      {reason} <span class="dim">{groupCount(page.groups[reason] ?? 0)}</span>
    </>
  );
  return (
    <Section title={title} side={canAct && <span class="acts">{bulk}</span>}>
      <p class="dim">{meaningOf(reason)}</p>
      <div class="wide">
        <table class="list">
          <tbody>
            {items
              .filter((item) => item.reason === reason)
              .map((item) => (
                <ItemRow item={item} hint={hint} />
              ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function ItemRow({ item, hint }: { readonly item: ReviewItem; readonly hint: PageContext['hint'] }) {
  const { label, subject, isLater, sync, run } = item;
  const id = longId(item);
  return (
    <tr>
      <td>
        <Link id={`item-${id}`} to={itemAddress(id)} text={label || subject} most={80} />
        <small class="id">
          <Foreign text={id} most={60} />
        </small>
      </td>
      <td>
        <Found item={item} hint={hint} />
      </td>
      <td class="nowrap">
        <Link id={`of-${id}`} to={`/runs/${run}`} text={sync} most={40} />
      </td>
      <td>{isLater && <Chip tone="warn">later</Chip>}</td>
    </tr>
  );
}

/** What the run found; if that is what every row of the reason has, the records that it may be. */
function Found({ item, hint }: { readonly item: ReviewItem; readonly hint: PageContext['hint'] }) {
  const statement = reviewStatement(item, hint);
  if (statement !== meaningOf(item.reason)) return <Words text={statement} most={200} />;
  const records = recordsFor(item);
  if (records.length === 0) return null;
  return <Foreign text={`${plural(records.length, 'candidate')}: ${records.join(', ')}`} most={200} />;
}

type FilterProps = { readonly query: Query; readonly context: PageContext; readonly page: ReviewPage };

function Filters({ query, context: { settings }, page: { groups, items } }: FilterProps) {
  const reasons = [...new Set([...Object.keys(groups), ...(query.reason === undefined ? [] : [query.reason])])];
  return (
    <form class="filters" method="get" action="/review">
      <Select label="Reason" name="reason" options={reasons} value={query.reason} />
      <Select label="Account" name="account" options={Object.keys(settings.accounts)} value={query.account} />
      <Field
        label="Sync or file"
        name="sync"
        value={query.sync ?? ''}
        placeholder="its whole name"
        suggest={[...new Set([...Object.keys(settings.syncs), ...items.map(({ sync }) => sync)])]}
      />
      <button type="submit">Filter</button>
    </form>
  );
}
