/** Customers that a load needs: one per person, created by a run of their own with exclusive use of the customers. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { OrderValues } from '../../../../src/csv/fields.ts';
import { CONTACT_LINK } from '../../../../src/engine/ledger/matching/contact-links.ts';
import {
  type Creating,
  countMissing,
  createMissing,
  settleNotCreated,
  settleUnclear,
  takeCreated,
} from '../../../../src/engine/ledger/matching/missing-customers.ts';
import { resolveCustomers } from '../../../../src/engine/ledger/matching/order-customers.ts';
import { type Run, readRun } from '../../../../src/engine/ledger/runs.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import { aRun, freshLedger, putRows, rowsOf } from '../fresh-ledger.ts';
import { putRecords, recordsOf } from './contact-worlds.ts';
import { aLoad, end, fateOf, rowsWith } from './load-worlds.ts';

const database = await freshLedger();
beforeEach(() => database.pool.query('truncate ledger.runs, ledger.order_keys cascade'));
afterAll(() => database.close());

const OPTIONS = { importWith: 'create' };
const LONG_AGO = new Date('2026-01-01T00:00:00Z');

/** The customer of a row: `e` e-mail, `p` phone, `n` name, `o` organization. */
interface Who {
  readonly e?: string;
  readonly p?: string;
  readonly n?: string;
  readonly o?: string;
}

function loadFor(named: readonly Who[]): Promise<Run> {
  const values = named.map(({ e, p, n, o }): OrderValues => {
    const who = { customer_email: e, customer_phone: p, customer_name: n, organization: o };
    const given = Object.entries(who).filter(([, value]) => value !== undefined);
    return { amount: '1', ...Object.fromEntries(given) };
  });
  return aLoad(database, rowsWith(values));
}

function create(run: Run, readAt = LONG_AGO): Promise<Creating> {
  return inTransaction(database.pool, (db) => createMissing(db, run, { readAt, settleMs: 0, options: OPTIONS }));
}

async function started(run: Run): Promise<Run> {
  const creating = await create(run);
  if (creating.status !== 'started') throw new Error(creating.status);
  return creating.run;
}

/** The result of the run that creates customers: ids by their names in it, or a verdict. */
async function made(creator: Run, customers: Readonly<Record<string, string>>): Promise<void> {
  for (const [called, became] of Object.entries(customers)) {
    const isMade = /^\d+$/.test(became);
    await database.pool.query(
      `update ledger.rows set state = 'settled', verdict = $3, record_id = $4, reason = $5 where run_id = $1 and source_id = $2`,
      [creator.id, called, isMade ? 'created' : became, isMade ? became : null, isMade ? null : 'WHY'],
    );
  }
}

function takeUp(run: Run, creator: Run): Promise<number> {
  return inTransaction(database.pool, async (db) => {
    await takeCreated(db, run, creator.id);
    await resolveCustomers(db, run, { keepMissing: true, isWhole: true });
    await settleNotCreated(db, run, creator.id);
    return countMissing(db, run);
  });
}

const PHONE = '123456';
const people: readonly {
  readonly name: string;
  readonly rows: readonly Who[];
  readonly customers: readonly string[];
}[] = [
  {
    name: 'rows of one e-mail, however written, are one customer',
    rows: [{ e: 'Ann@x.de' }, { e: ' ann@X.de', n: 'Ann' }, { e: 'ann@x.de', p: PHONE }],
    customers: ['email ann@x.de'],
  },
  {
    name: 'a phone is one customer where no row tells its e-mail',
    rows: [{ p: '12 34-56' }, { p: PHONE, n: 'Ann' }],
    customers: ['phone 123456'],
  },
  {
    name: 'a phone that another row gives with an e-mail is no customer of its own',
    rows: [{ p: PHONE }, { e: 'ann@x.de', p: PHONE }],
    customers: ['email ann@x.de'],
  },
  {
    name: 'a name that another row gives with more is no customer of its own',
    rows: [{ n: 'Ann' }, { e: 'ann@x.de', n: 'ann' }],
    customers: ['email ann@x.de'],
  },
  {
    name: 'a switchboard’s people have an e-mail each',
    rows: [
      { e: 'ann@x.de', p: PHONE },
      { e: 'ben@x.de', p: PHONE },
    ],
    customers: ['email ann@x.de', 'email ben@x.de'],
  },
  {
    name: 'names are told apart by their organizations',
    rows: [
      { n: 'Ann', o: 'Acme' },
      { n: 'ANN', o: 'acme' },
      { n: 'Ann', o: 'Zeta' },
    ],
    customers: ['name ann, acme', 'name ann, zeta'],
  },
];

test.each(people)('$name', async ({ rows, customers }) => {
  const run = await loadFor(rows);
  const creator = await started(run);
  const staged = await rowsOf(database, creator);
  expect(staged.map(({ source_id }) => source_id)).toEqual(customers);
  expect(staged.every(({ state, action }) => state === 'ready' && action === 'create')).toBe(true);
});

test('makes a customer from the row with the most data, and among equals from the first', async () => {
  const creator = await started(
    await loadFor([{ e: 'ann@x.de' }, { e: 'ann@x.de', n: 'Ann Lee', o: 'Acme' }, { e: 'ann@x.de', n: 'A.', o: 'A' }]),
  );
  expect(await rowsOf(database, creator)).toMatchObject([
    { label: 'Ann Lee <ann@x.de>', fields: { email: 'ann@x.de', full_name: 'Ann Lee', organization: 'Acme' } },
  ]);
});

test('the run that makes customers works for its load, and knows the customers that existed before', async () => {
  const run = await loadFor([{ e: 'ann@x.de' }, { e: 'there@x.de' }]);
  await putRecords(database, run, [{ record_id: '7', email: 'there@x.de', phone: null, name: null, org: null }]);
  await inTransaction(database.pool, (db) => resolveCustomers(db, run, { keepMissing: true, isWhole: true }));
  const creator = await readRun(database.pool, (await started(run)).id);
  expect(creator).toMatchObject({
    ...{ partOf: run.id, type: 'customers', resource: 'customers', phase: 'import-customers', status: 'running' },
    ...{ account: run.account, title: `customers for ${run.title}`, rowsSeen: 1, options: OPTIONS },
  });
  expect((await recordsOf(database, creator)).map((one) => [one.record_id, one.first_pass])).toEqual([['7', 0]]);
});

test('while another run writes the account’s customers, none are made', async () => {
  const other = await aRun(database, { account: 'test' });
  const run = await loadFor([{ e: 'ann@x.de' }]);
  expect(await create(run)).toMatchObject({ status: 'busy', run: { id: other.id } });
  await aRun(database, { account: 'another' });
  await end(database, other, 'done');
  const nextRead = new Date(Date.now() + 60_000);
  expect(await create(run, nextRead)).toMatchObject({ status: 'started' });
});

test.each(['done', 'failed', 'cancelled'] as const)(
  'customers that were read before another run was %s are read again',
  async (how) => {
    const run = await loadFor([{ e: 'ann@x.de' }]);
    await end(database, await aRun(database, { account: 'test' }), how);
    const stale = new Error('rolled back');
    const creating = inTransaction(database.pool, async (db) => {
      const { status } = await createMissing(db, run, {
        readAt: new Date(Date.now() - 60_000),
        settleMs: 0,
        options: OPTIONS,
      });
      expect(status).toBe('stale');
      throw stale;
    });
    await expect(creating).rejects.toBe(stale);
    expect(await create(run, new Date(Date.now() + 60_000))).toMatchObject({ status: 'started' });
  },
);

test('rows find the customers that were made, including rows that only hinted at one', async () => {
  const run = await loadFor([{ p: PHONE }, { e: 'ann@x.de', p: PHONE, n: 'Ann' }, { n: 'ann' }, { e: 'ben@x.de' }]);
  expect(await countMissing(database.pool, run)).toBe(4);
  const creator = await started(run);
  await made(creator, { 'email ann@x.de': '11', 'email ben@x.de': '12' });
  expect(await takeUp(run, creator)).toBe(0);
  expect((await rowsOf(database, run)).map(({ client_id }) => client_id)).toEqual(['11', '11', '11', '12']);
});

test.each([
  ['rejected', 'settled rejected CUSTOMER_NOT_CREATED'],
  ['review', 'settled review CUSTOMER_NOT_CREATED'],
  ['unknown', 'settled review CUSTOMER_NOT_CREATED'],
] as const)('an order whose customer ended as %s is not sent', async (verdict, becomes) => {
  const run = await loadFor([{ e: 'ann@x.de' }, { e: 'ben@x.de' }]);
  const creator = await started(run);
  await made(creator, { 'email ann@x.de': verdict, 'email ben@x.de': '12' });
  expect(await takeUp(run, creator)).toBe(0);
  const rows = await rowsOf(database, run);
  expect(rows.map(fateOf)).toEqual([becomes, 'staged']);
  expect(rows[0]?.facts).toMatchObject({ creator: creator.id });
});

test('a row that hinted at a refused customer is a customer of its own the next time', async () => {
  const run = await loadFor([{ p: PHONE }, { e: 'ann@x.de', p: PHONE }]);
  const creator = await started(run);
  await made(creator, { 'email ann@x.de': 'rejected' });
  expect(await takeUp(run, creator)).toBe(1);
  await end(database, creator, 'done');
  const next = await inTransaction(database.pool, (db) =>
    createMissing(db, run, { readAt: new Date(Date.now() + 60_000), settleMs: 0, options: OPTIONS }),
  );
  const rows = next.status === 'started' ? await rowsOf(database, next.run) : [];
  expect(rows.map(({ source_id }) => source_id)).toEqual([`phone ${PHONE}`]);
});

describe('a customer that a contact sync has sent, and that no list shows as its own', () => {
  const sent = { email: 'ann@x.de', phone: PHONE, name: 'ann', org: 'acme', verdict: 'review', reason: 'NOT_IN_LIST' };

  test.each<readonly [string, Who, string]>([
    ['by its e-mail', { e: 'Ann@x.de', n: 'Other' }, 'settled review CUSTOMER_UNCLEAR'],
    ['by its phone', { p: PHONE }, 'settled review CUSTOMER_UNCLEAR'],
    ['by its name', { n: 'Ann' }, 'settled review CUSTOMER_UNCLEAR'],
    ['by its name and organization', { n: 'Ann', o: 'Acme' }, 'settled review CUSTOMER_UNCLEAR'],
    ['by nothing of it', { e: 'ben@x.de' }, 'staged'],
  ])('is not created for a load that names it %s', async (_how, who, fate) => {
    const sync = await aRun(database, { account: 'test', scope: 'test' });
    await putRows(database, sync, [{ source_id: '17', ...sent }]);
    const run = await loadFor([who]);
    const settled = await inTransaction(database.pool, (db) => settleUnclear(db, run));
    const [row = {}] = await rowsOf(database, run);
    expect([settled, fateOf(row)]).toEqual([fate === 'staged' ? 0 : 1, fate]);
    if (settled > 0) expect(row.facts).toMatchObject({ creator: sync.id, because: { code: 'NOT_IN_LIST' } });
  });

  test('has its customer once the contact is linked', async () => {
    const sync = await aRun(database, { account: 'test', scope: 'test' });
    await putRows(database, sync, [{ source_id: '17', ...sent }]);
    await database.pool.query(
      `insert into ledger.links (scope, kind, source_id, record_id, hash, run_id) values ('test', $1, '17', '7', 'h', $2)`,
      [CONTACT_LINK, sync.id],
    );
    const run = await loadFor([{ e: 'ann@x.de' }]);
    expect(await inTransaction(database.pool, (db) => settleUnclear(db, run))).toBe(0);
  });
});
