import { expect, test } from 'vitest';
import type { Client } from '../../../src/client/call/client.ts';
import { RetryLater } from '../../../src/engine/account/failure.ts';
import { createContinueCheck } from '../../../src/engine/account/same-tenant.ts';
import { resumeRun } from '../../../src/engine/ledger/run-status.ts';
import { keepWitnesses } from '../../../src/engine/ledger/scopes/witnesses.ts';
import { aRun } from '../ledger/fresh-ledger.ts';
import { anAccount } from '../worker/an-account.ts';
import { finish, openRunners, work } from '../worker/open-runners.ts';

const { database, running, ended } = await openRunners();

test.each(['another process has begun it', 'an outage'])(
  'a run continues after %s only if known records are still the same, although the service shows new orders',
  async (after) => {
    const run = await aRun(database);
    const keep = (kind: 'customers' | 'orders', keysOf: (id: string) => Record<string, string>) =>
      keepWitnesses(
        database.pool,
        run.scope,
        kind,
        ['1', '2'].map((id) => ({ id, keys: keysOf(id) })),
      );
    await keep('customers', (id) => ({ email: `c${id}@example.com` }));
    await keep('orders', (id) => ({ order: `9/n-${id}` }));
    const send = () =>
      database.pool.query(`insert into ledger.attempts (run_id, n, outcome, sends) values ($1, 1, 'acked', 1)`, [
        run.id,
      ]);
    let host = 'example.org';
    let asked = 0;
    const open = async (scope: string) => ({
      ...anAccount(async (_operation, { query }) => {
        asked++;
        const content = {
          id: query?.id ?? null,
          email: `c${query?.id}@${host}`,
          client_id: 9,
          order_id: `N-${query?.id}`,
        };
        return { status: 'applied', httpStatus: 200, content };
      }),
      scope,
    });
    let isSent = after !== 'an outage';
    if (isSent) await send();
    const job = work(async (context) => {
      if (isSent) return finish(context);
      isSent = true;
      await send();
      throw new RetryLater('the service is away', 0);
    });
    await running([job], { accounts: { open, reopen: open } });
    expect(await ended(run)).toMatchObject({ status: 'paused', errorCode: 'IDENTITY_UNCLEAR' });
    await resumeRun(database.pool, run.id);
    expect(await ended(run)).toMatchObject({ status: 'paused', errorCode: 'IDENTITY_UNCLEAR' });
    host = 'example.com';
    await resumeRun(database.pool, run.id);
    expect(await ended(run)).toMatchObject({ status: 'done', calls: asked });
    expect(asked).toBeGreaterThan(0);
  },
);

test('while a run sends, a look at two known records every ten seconds shows that another tenant answers', async () => {
  const run = await aRun(database);
  const known = ['1', '2', '3'].map((id) => ({ id, keys: { email: `c${id}@example.com` } }));
  await keepWitnesses(database.pool, run.scope, 'customers', known);
  await database.pool.query(`insert into ledger.attempts (run_id, n, outcome, sends) values ($1, 1, 'acked', 1)`, [
    run.id,
  ]);
  let host = 'example.com';
  let has = true;
  let asked = 0;
  const account = anAccount(async (operation, { query }) => {
    if (operation === 'customers.getall') return { status: 'applied', httpStatus: 200, content: [] };
    asked++;
    if (!has) return { status: 'refused', httpStatus: 404, message: 'Not found' };
    return { status: 'applied', httpStatus: 200, content: { id: query?.id ?? null, email: `c${query?.id}@${host}` } };
  });
  let nowMs = 0;
  const check = createContinueCheck(() => nowMs);
  const askedAt = async (at: number) => {
    nowMs = at;
    const before = asked;
    await check({ pool: database.pool, run, account, signal: new AbortController().signal });
    return asked - before;
  };
  expect([await askedAt(0), await askedAt(9_999), await askedAt(10_000)]).toEqual([3, 0, 2]);
  host = 'example.org';
  await expect(askedAt(20_000)).rejects.toThrow('3 of 3 known records are other records now');
  host = 'example.com';
  expect(await askedAt(30_000)).toBe(3);
  has = false;
  await expect(askedAt(40_000)).rejects.toThrow('no longer shows 3 of 3 customers');
});

test.each<[string, string, readonly string[], readonly string[]]>([
  ['paused', 'the list is empty', [], []],
  ['paused', 'the list has others, which are found by their ids', ['7'], ['7']],
  ['done', 'the list shows one of them', ['7', '2'], ['7']],
  ['done', 'nothing is found by its id', ['7'], []],
])('a run that continues is %s if no known record is found by its id, and %s', async (status, _, listed, found) => {
  const run = await aRun(database);
  const known = ['1', '2', '3'].map((id) => ({ id, keys: { email: `c${id}@example.com` } }));
  await keepWitnesses(database.pool, run.scope, 'customers', known);
  await database.pool.query(`insert into ledger.attempts (run_id, n, outcome, sends) values ($1, 1, 'acked', 1)`, [
    run.id,
  ]);
  const records = listed.map((id) => ({ id }));
  const account = anAccount(async (_operation, { query }) => {
    const id = String(query?.id);
    if (!found.includes(id)) return { status: 'refused', httpStatus: 404, message: 'not found' };
    return { status: 'applied', httpStatus: 200, content: { id } };
  });
  const stream: Client['stream'] = async (_operation, options) => {
    if (options.query === undefined) await options.onRecords(records);
    return { status: 'applied', httpStatus: 200, records: options.query === undefined ? records.length : 0 };
  };
  const open = async (scope: string) => ({ ...account, scope, client: { ...account.client, stream } });
  await running([work(finish)], { accounts: { open, reopen: open } });
  const errorCode = status === 'paused' ? 'SERVICE_WENT_BACK' : undefined;
  expect(await ended(run)).toMatchObject({ status, errorCode });
});
