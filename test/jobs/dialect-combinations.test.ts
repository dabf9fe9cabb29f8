/**
 * The contact sync against our own service in every way that it can answer, with the long tests any two of them together,
 * with no client settings except `dialect: auto`. One worker and one database for all; each case has a service, an account and a tenant.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import type { OperationName } from '../../src/contract/operations.ts';
import { countRows } from '../../src/engine/ledger/rows.ts';
import type { Run } from '../../src/engine/ledger/runs.ts';
import type { BehaviourOptions } from '../../src/service/testbed/behaviour.ts';
import { callService } from '../support/harness/call-service.ts';
import { keyOf, nameOf, openCases } from '../support/harness/cases.ts';
import { ended } from '../support/harness/ended.ts';
import { allPairs, allValues, type Options } from '../support/pairwise.ts';
import { people } from '../support/people.ts';
import { byLength } from '../support/property-runs.ts';

const CONTACTS = 17;
const TOKEN = 'a-token-of-the-test';
/** Less than the calls that a run sends at once, so that it meets the limit on a slow machine too. */
const limit = { requestsPerSecond: 20, burst: 5 };

const options = {
  idField: [
    'id',
    'kind_id',
    { contact: 'contactId', customer: 'client_id', order: 'orderId', task: 'taskId', subtask: 'item_id' },
  ],
  idType: ['number', 'string'],
  listShape: ['bare', 'content', { path: 'content.data.items' }, { path: 'payload.page.entries' }],
  order: ['oldest', 'newest'],
  maxRowsPerPage: [7, 1_000],
  defaultRowsPerPage: [5, 100],
  // Ignoring only page numbers is not a case: no client can read what is behind the first page.
  paging: [{}, { ignoreRowsPerPage: true }, { ignoreRowsPerPage: true, ignorePaging: true }],
  tasksFirstPage: [0, 1],
  createAnswers: ['nothing', 'envelope', 'id', 'record'],
  errors: ['status', 'envelope200', 'html', 'empty'],
  booleans01: [false, true],
  amountsAsStrings: [false, true],
  prefixes: [['/api/v1'], ['/v1'], ['/api/v1', '/v1']],
  completeMethods: [['GET'], ['PUT'], ['GET', 'PUT']],
  importBody: ['contact_id', 'id', 'contact_ids', 'refused-400', 'refused-404', 'refused-405'],
  importTwice: ['create', 'refuse'],
  customersCarryContactId: [true, false],
  readLagMs: [0, 40],
  rateLimit: [
    undefined,
    { ...limit, retryAfter: 'seconds' },
    { ...limit, retryAfter: 'date' },
    { ...limit, retryAfter: 'none' },
  ],
  rateLimitHeaders: [false, true],
  requiredAuthorization: [undefined, { scheme: 'Token', token: TOKEN }],
} as const;

const pairs = allPairs(options);
const cases = byLength({ few: allValues(options), all: pairs }).map((one, n) => [n, one] as const);

const behaviours = cases.map(([, one]) => behaviourOf(one));
const account = 'dialect: auto, budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 300ms }';
const at = await openCases(behaviours, { account, sync: 'options: { rowsPerPage: 10 }' });
const plain = await at.anotherService({});
afterAll(() => at.close());

describe('the cases', () => {
  const worlds: readonly [string, Options][] = [
    ['of the service', options],
    ['of two options', { a: [1, 2, 3], b: [true, false] }],
    ['of one value each', { a: [1], b: [2], c: [3] }],
    ['of odd values', { a: [undefined, null], b: ['', 0, null], c: [[], {}, []] }],
  ];
  test.each(worlds)(
    '%s hold every pair of values of any two options, the few ones every value, and are the same every time',
    (_whose, of) => {
      const made = allPairs(of);
      expect(allPairs(of)).toEqual(made);
      const meet = ([a, b]: Pair) => made.some((one) => one[a.name] === a.value && one[b.name] === b.value);
      expect(pairsOf(of).filter((pair) => !meet(pair))).toEqual([]);
      const sampled = allValues(of).map((one) => Object.entries(one));
      const values = Object.entries(of).flatMap(([name, all]) => all.map((value) => [name, value]));
      expect(sampled.flat()).toEqual(expect.arrayContaining(values));
    },
  );

  test('are a few out of thousands of millions', () => expect(pairs.length).toBeLessThan(40));
});

describe('every way of answering', () => {
  test.concurrent.each(cases)('case %i: %o', async (n, one) => {
    const tenant = await tenantWithContacts(n);
    await delay(one.readLagMs);
    const first = await runSync(n);
    const proof = 'ignoreRowsPerPage' in one.paging ? 'weak' : 'proven';
    expect([first.status, first.error, first.scan]).toEqual(['done', undefined, proof]);
    expect(await countRows(at.database.pool, first.id)).toMatchObject({ in: CONTACTS, created: CONTACTS });
    expect(await imports(tenant)).toEqual(await contactIds(tenant));
    const before = await customers(tenant);

    const second = await runSync(n);
    expect(await countRows(at.database.pool, second.id)).toMatchObject({ in: CONTACTS, unchanged: CONTACTS });
    expect([await customers(tenant), await writes(tenant)]).toEqual([before, CONTACTS]);

    const edited = await editOne(tenant);
    const third = await countRows(at.database.pool, (await runSync(n)).id);
    expect(third).toMatchObject({ in: CONTACTS, unchanged: CONTACTS - 1, updated: 1 });
    const after = before.map((customer) =>
      customer.name === edited.was ? { ...customer, name: edited.is } : customer,
    );
    expect([await customers(tenant), await writes(tenant)]).toEqual([after, CONTACTS + 1]);
  });

  test('some of them rate-limited the worker, in each of the three ways', () => {
    for (const form of ['seconds', 'date', 'none']) {
      const limited = cases.map(([n, { rateLimit }]) =>
        rateLimit?.retryAfter === form ? (at.services[n]?.traffic.limited() ?? 0) : 0,
      );
      expect(Math.max(...limited), form).toBeGreaterThan(0);
    }
  });
});

interface Chosen {
  readonly name: string;
  readonly value: unknown;
}
type Pair = readonly [Chosen, Chosen];

function pairsOf(of: Options): readonly Pair[] {
  const all = Object.entries(of).flatMap(([name, values]) => values.map((value): Chosen => ({ name, value })));
  return all.flatMap((a) => all.flatMap((b): Pair[] => (a.name < b.name ? [[a, b]] : [])));
}

interface Tenant {
  readonly id: number;
  call(operation: OperationName, body: unknown, pathId?: number): Promise<unknown>;
}

interface Customer {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
}

/** Written directly through our own service, in its default behaviour. */
async function tenantWithContacts(n: number): Promise<Tenant> {
  const tenant: Tenant = {
    id: await at.addTenant(n),
    call: (operation, body, pathId = 0) => callService({ url: plain.url, key: keyOf(n) }, operation, pathId, body),
  };
  await Promise.all(people(CONTACTS).map((contact) => tenant.call('contacts.create', contact)));
  return tenant;
}

async function runSync(n: number): Promise<Run> {
  const begun = await at.workspace.startSync(nameOf(n), { lane: 'batch', dryRun: false });
  expect(begun.status).toBe('started');
  await (await at.workspace.work()).attend(begun.run);
  return ended(at.database, begun.run.id);
}

/** Gives one contact another name; returns its customer's name before and after. */
async function editOne(tenant: Tenant): Promise<{ readonly was: string; readonly is: string }> {
  const [contact] = await rows<{ id: string; name: string }>(
    `select id, concat_ws(' ', fields->>'first_name', fields->>'last_name') as name
     from service.contacts where tenant_id = $1 order by id offset 3 limit 1`,
    tenant,
  );
  await tenant.call('contacts.update', { first_name: 'Another', last_name: 'Person' }, Number(contact?.id));
  return { was: contact?.name ?? '', is: 'Another Person' };
}

async function contactIds(tenant: Tenant): Promise<readonly string[]> {
  const found = await rows<{ id: string }>('select id from service.contacts where tenant_id = $1 order by id', tenant);
  return found.map(({ id }) => id);
}

/** The contacts that were imported, by the service's own commit log; one entry for each time. */
async function imports(tenant: Tenant): Promise<readonly string[]> {
  const found = await rows<{ id: string }>(
    `select c.id from service.commits m left join service.contacts c on c.tenant_id = m.tenant_id
       and m.natural_key = case m.operation when 'customers.import' then c.id::text else
         coalesce(nullif(c.fields->>'email', ''), nullif(c.fields->>'phone', ''),
           concat_ws(' ', c.fields->>'first_name', c.fields->>'last_name')) end
     where m.tenant_id = $1 and m.operation in ('customers.import', 'customers.create') order by c.id`,
    tenant,
  );
  return found.map(({ id }) => id);
}

async function customers(tenant: Tenant): Promise<readonly Customer[]> {
  return rows<Customer>(
    `select id, fields->>'full_name' as name, fields->>'email' as email
     from service.customers where tenant_id = $1 order by id`,
    tenant,
  );
}

/** Everything that was ever written to customers. */
async function writes(tenant: Tenant): Promise<number> {
  const found = await rows('select seq from service.commits where tenant_id = $1 and kind = $$customer$$', tenant);
  return found.length;
}

async function rows<R extends pg.QueryResultRow>(sql: string, { id }: Tenant): Promise<R[]> {
  return (await at.database.pool.query<R>(sql, [id])).rows;
}

function behaviourOf(one: (typeof cases)[number][1]): BehaviourOptions {
  const { paging, rateLimit, requiredAuthorization, prefixes, completeMethods, ...rest } = one;
  return {
    ...rest,
    ...paging,
    prefixes: [...prefixes],
    completeMethods: [...completeMethods],
    ...(rateLimit && { rateLimit }),
    ...(requiredAuthorization && { requiredAuthorization }),
  };
}
