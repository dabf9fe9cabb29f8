/** Pages of what waits for a person, and the rows of a run grouped by what is wrong with them. */
import { afterAll, expect, test } from 'vitest';
import { decide } from '../../../../src/engine/ledger/decisions.ts';
import { endRun } from '../../../../src/engine/ledger/run-status.ts';
import type { Run } from '../../../../src/engine/ledger/runs.ts';
import { cursorOf, MOST_COUNTED, reviewItems, reviewPage } from '../../../../src/engine/ledger/views/review-items.ts';
import { groupRows } from '../../../../src/engine/ledger/views/row-groups.ts';
import { aRun, asLoad, freshLedger, putRows } from '../fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());

async function reviewed(
  type: 'contacts' | 'orders',
  labels: readonly string[],
  scope?: string,
  sync?: string,
): Promise<Run> {
  const run = await aRun(database, {
    type,
    resource: type,
    ...(scope && { account: scope, scope }),
    ...(sync && { sync }),
  });
  if (type === 'orders') await asLoad(database, run);
  const why = { verdict: 'review', reason: 'AMBIGUOUS_MATCH', facts: { ids: ['7', '8'] } };
  const cells = type === 'orders' ? { cells: ['a cell'] } : {};
  await putRows(
    database,
    run,
    labels.map((label, i) => ({ source_id: String(i + 1), label, ...why, ...cells })),
  );
  await endRun(database.pool, run.id, 'done');
  return run;
}

test('the orders of a duplicate are not shown as customers', async () => {
  const run = await aRun(database, { type: 'orders', resource: 'orders' });
  await asLoad(database, run);
  const why = { verdict: 'review', reason: 'DUPLICATE', facts: { what: 'order', ids: ['2', '3'] } };
  await putRows(database, run, [{ source_id: '1', label: 'A-1', cells: ['a cell'], ...why }]);
  await endRun(database.pool, run.id, 'done');
  const { items } = await reviewPage(database.pool, { account: run.account });
  expect(items.map(({ customers }) => customers)).toEqual([{}]);
  await database.pool.query('truncate ledger.runs cascade');
});

test('a page has the first items, how many wait in all, and of how many accounts', async () => {
  const first = await reviewed('contacts', ['a', 'b']);
  await reviewed('contacts', ['c', 'd', 'e']);
  const page = await reviewPage(database.pool, {}, { limit: 1 });
  expect(page).toMatchObject({ items: [{ label: 'a', customers: { 7: null, 8: null } }], total: 5, accounts: 2 });
  expect(await reviewItems(database.pool)).toHaveLength(5);
  expect(await reviewPage(database.pool, { account: first.account }, { limit: 1 })).toMatchObject({
    total: 2,
    accounts: 1,
  });
  expect(await reviewPage(database.pool, { reason: 'NO_KEY' })).toEqual({
    items: [],
    total: 0,
    accounts: 0,
    groups: {},
    isMore: false,
  });
});

test('contacts wait in the newest run of their sync, for each tenant that it read', async () => {
  await reviewed('contacts', ['old'], 'tenant-1', 'nightly');
  await reviewed('contacts', ['other'], 'tenant-2', 'nightly');
  await reviewed('contacts', ['new'], 'tenant-1', 'nightly');
  const items = await reviewItems(database.pool, { sync: 'nightly' });
  expect(items.map(({ label }) => label)).toEqual(['new', 'other']);
});

test('pages follow one another by the last item, and more rows than are counted are said to be more', async () => {
  const labels = Array.from({ length: MOST_COUNTED + 2 }, (_, i) => `p-${i}`);
  const { account } = await reviewed('orders', labels, 'many');
  await reviewed('orders', ['q-1', 'q-2'], account);
  const all = await reviewItems(database.pool, { account });
  expect(all).toHaveLength(MOST_COUNTED + 4);
  const [first, second] = [all.slice(0, 70), all.slice(70, 140)];
  const after = first.at(-1);
  expect(await reviewPage(database.pool, { account }, { limit: 70 })).toMatchObject({
    items: first,
    total: MOST_COUNTED,
    isMore: true,
    groups: { AMBIGUOUS_MATCH: MOST_COUNTED },
  });
  expect(await reviewItems(database.pool, { account }, { limit: 70, after: after && cursorOf(after) })).toEqual(second);
});

test('rows that a person has decided are passed over until the page is full', async () => {
  const labels = Array.from({ length: 30 }, (_, i) => `d-${i}`);
  const { account } = await reviewed('orders', labels, 'decided');
  await reviewed('orders', ['e-1', 'e-2', 'e-3'], account);
  const items = await reviewItems(database.pool, { account });
  const [some, left] = [items.slice(0, -2), items.slice(-2)];
  await decide(
    database.pool,
    some.map((item) => ({ item, choice: 'use', record: '7', note: undefined })),
    'ann',
  );
  expect(await reviewPage(database.pool, { account }, { limit: 1 })).toMatchObject({
    items: left.slice(0, 1),
    total: 2,
    isMore: false,
  });
});

test('an order that a later load has too waits there only', async () => {
  const { scope } = await reviewed('orders', ['o-1', 'o-2'], 'shop');
  const later = await reviewed('orders', ['o-2'], scope);
  const items = await reviewItems(database.pool, { account: 'shop' });
  expect(items.map(({ label, run }) => [label, run === later.id]).sort()).toEqual([
    ['o-1', false],
    ['o-2', true],
  ]);
});

test('a row without a verdict has the reason of its last attempt, or whether it may have arrived', async () => {
  const run = await aRun(database);
  const rows = { never: [], once: ['acked'], twice: ['unknown', 'unsent'], why: ['unsent', 'unknown'] };
  await putRows(
    database,
    run,
    Object.keys(rows).map((source_id) => ({ source_id })),
  );
  for (const [n, [row, outcomes]] of Object.entries(rows).entries())
    for (const [i, outcome] of outcomes.entries())
      await database.pool.query(
        'insert into ledger.attempts (run_id, n, outcome, sends, reason) values ($1, $2, $3, 1, $4)',
        [run.id, n, outcome, row === 'why' && i === 1 ? 'TIMED_OUT' : null],
      );
  const groups = await groupRows(database.pool, run.id, ['unknown', 'rejected']);
  const found = groups.map(({ reason, examples }) => [reason, examples.map(({ sourceId }) => sourceId)]);
  expect(Object.fromEntries(found)).toEqual({
    NEVER_SENT: ['never'],
    NOT_CONFIRMED: ['once', 'twice'],
    TIMED_OUT: ['why'],
  });
});
