/**
 * Loads of orders against our own service in every way that it can answer about customers and orders, with the long tests
 * any two of them together, with no client settings. One worker and one database for all; each case has a service and a tenant.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { countRows } from '../../src/engine/ledger/rows.ts';
import type { Run } from '../../src/engine/ledger/runs.ts';
import type { BehaviourOptions } from '../../src/service/testbed/behaviour.ts';
import type { OrdersOptions } from '../../src/syncs/orders/options.ts';
import { nameOf, openCases } from '../support/harness/cases.ts';
import { ended } from '../support/harness/ended.ts';
import { csvOf, receiveFile } from '../support/harness/orders.ts';
import { allPairs, allValues } from '../support/pairwise.ts';
import { byLength } from '../support/property-runs.ts';

vi.setConfig({ maxConcurrency: 11 }); // they wait more than they work

const TOKEN = 'a-token-of-the-test';
const limit = { requestsPerSecond: 100, burst: 10 };

/** The options visible in customers and orders; the contact sync's tests cover contacts and tasks. */
const options = {
  idField: ['id', 'kind_id', { customer: 'client_id', order: 'orderId' }],
  idType: ['number', 'string'],
  listShape: ['bare', 'content', { path: 'content.data.items' }, { path: 'payload.page.entries' }],
  order: ['oldest', 'newest', 'unstable'],
  createAnswers: ['nothing', 'envelope', 'id', 'record'],
  errors: ['status', 'envelope200', 'html', 'empty'],
  amountsAsStrings: [false, true],
  prefixes: [['/api/v1'], ['/v1']],
  readLagMs: [0, 40],
  rateLimit: [undefined, { ...limit, retryAfter: 'seconds' }, { ...limit, retryAfter: 'none' }],
  faults: [undefined, { seed: 9, rate: 0.1, kinds: ['reset-after', '5xx-before', 'truncate'] }],
  requiredAuthorization: [undefined, { scheme: 'Token', token: TOKEN }],
} as const;

const cases = byLength({ few: allValues, all: allPairs })(options).map((one, n) => [n, one] as const);

const account = 'dialect: auto, budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 150ms }';
const at = await openCases(
  cases.map(([, one]) => behaviourOf(one)),
  { account },
);
afterAll(() => at.close());

const HEADER = 'order_id,customer_email,customer_name,amount,status,description';
const ROWS = Array.from(
  { length: 11 },
  (_, i) => `Z-${i},ann${i % 4}@example.com,Ann ${i % 4},${i + 1}.5,new,Order ${i}`,
);

test.concurrent.each(cases)(
  'case %i: every order once, updated once, and the same file again sends nothing: %o',
  async (n) => {
    const tenant = await at.addTenant(n);
    const first = await load(n, csvOf(HEADER, ROWS), { createCustomers: true });
    expect([first.status, first.error]).toEqual(['done', undefined]);
    expect(await countRows(at.database.pool, first.id)).toMatchObject({ in: 11, created: 11 });
    expect(await made(tenant)).toEqual(
      Array.from({ length: 11 }, (_, i) => `Z-${i} ann${i % 4}@example.com ${i + 1}.5`).sort(),
    );

    const changed = csvOf(HEADER, [
      ...ROWS.slice(0, 10),
      `${ROWS[10]?.replace('new', 'paid')}`,
      `Z-11,who@example.com,,1,,`,
    ]);
    const second = await load(n, changed, { existing: 'update' });
    expect(await countRows(at.database.pool, second.id)).toMatchObject({
      in: 12,
      existing: 10,
      updated: 1,
      rejected: 1,
    });
    expect(await made(tenant)).toHaveLength(11);
    const third = await load(n, csvOf(HEADER, [...ROWS].reverse()), {});
    // One was updated by the second load, and exists with another status.
    expect(await countRows(at.database.pool, third.id)).toMatchObject({ in: 11, existing: 10, review: 1 });
  },
);

async function load(n: number, csv: string, options: Partial<OrdersOptions>): Promise<Run> {
  const source = path.join(at.dataDir, `${nameOf(n)}-${csv.length}-${Object.keys(options).join('')}.csv`);
  await writeFile(source, csv);
  const { begun } = await receiveFile(at.workspace, nameOf(n), source, options);
  await (await at.workspace.work()).attend(begun.run);
  return ended(at.database, begun.run.id);
}

/** Every order that was created, by the service's own commit log, with its customer and amount. */
async function made(tenantId: number): Promise<readonly string[]> {
  const found = await at.database.pool.query<{ said: string }>(
    `select concat_ws(' ', m.natural_key, c.fields->>'email', o.fields->>'amount') as said
     from service.commits m left join service.orders o on o.tenant_id = m.tenant_id and o.id = m.record_id
       left join service.customers c on c.tenant_id = o.tenant_id and c.id = o.client_id
     where m.tenant_id = $1 and m.operation = 'orders.create'`,
    [tenantId],
  );
  return found.rows.map(({ said }) => said).sort();
}

function behaviourOf({
  prefixes,
  rateLimit,
  requiredAuthorization,
  faults,
  ...rest
}: (typeof cases)[number][1]): BehaviourOptions {
  return {
    ...rest,
    prefixes: [...prefixes],
    ...(rateLimit && { rateLimit }),
    ...(requiredAuthorization && { requiredAuthorization }),
    ...(faults && { faults: { ...faults, kinds: [...faults.kinds] } }),
  };
}
