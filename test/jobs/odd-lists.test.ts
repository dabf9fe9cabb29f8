/** Runs against a service whose lists are not as the contract says, or change between two runs. */
import { describe, expect, test } from 'vitest';
import { EMBEDDED } from '../../src/engine/account/account.ts';
import { isCutOff, keepCutOff } from '../../src/engine/account/cut-off-lists.ts';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { ended } from '../support/harness/ended.ts';
import type { Reply } from '../support/http-server.ts';
import { people } from '../support/people.ts';
import { imported, type TinyOptions, type TinyRecord } from '../support/tiny-service.ts';
import { ann, openOddService, refused } from './odd-service.ts';

const { harness, serviceWith, tiny, verdicts } = await openOddService();

describe('customers that name a contact', () => {
  test.each([0, '0', '', null])('that is none (%j) are found by their keys', async (contact_id) => {
    const service = serviceWith({
      onImport(contact, { add }) {
        add({ ...imported(contact), contact_id });
        return { body: '' };
      },
    });
    const run = await harness.runSync();
    expect(await verdicts(run)).toEqual(['created', 'created', 'created']);
    expect(service.customers).toHaveLength(3);
  });
});

test('texts that the lists show escaped for HTML are sent as people wrote them, and an e-mail is found', async () => {
  const escaped = (records: readonly object[]) => ({
    body: JSON.stringify(records).replaceAll('&', '&amp;').replaceAll("'", '&#039;').replaceAll('<', '&lt;'),
  });
  const onList = (path: string, page: number) => {
    if (path.includes('contacts')) return escaped(page === 0 ? tiny.contacts : []);
    return escaped(tiny.customers);
  };
  const neil = { first_name: 'Neil', last_name: "O'Hara", email: "o'hara@example.com", organization: 'Lee & <Co' };
  const service = serviceWith({ contacts: [neil, ann], customers: [{ full_name: 'N', email: neil.email }], onList });
  expect(await verdicts(await harness.runSync())).toEqual(['existing MATCHED', 'created']);
  Object.assign(service.contacts[0] ?? {}, { first_name: 'Nial' });
  expect(await verdicts(await harness.runSync())).toEqual(['updated', 'unchanged']);
  expect(service.customers[0]).toMatchObject({ full_name: "Nial O'Hara", organization: 'Lee & <Co' });
  expect(await verdicts(await harness.runSync())).toEqual(['unchanged', 'unchanged']);
});

describe('a list of customers that comes in pages, although the contract says it is complete,', () => {
  const there = people(23).map((person) => imported({ ...person, id: 0 }));
  test.each([
    ['from 0', { size: 10, first: 0, sized: true }],
    ['from 1', { size: 10, first: 1, sized: true }],
    ['of one size', { size: 5, first: 0, sized: false }],
  ] as const)('%s, is read to its end: who is there already is not made again', async (_how, customerPages) => {
    const service = serviceWith({ contacts: people(40), customers: there, customerPages });
    const run = await harness.runSync();
    expect(await harness.counts(run)).toMatchObject({ in: 40, existing: 23, created: 17, review: 0 });
    const alone = 'created one customer first, to see whether the list of customers shows it'; // it cannot be asked by id
    expect([service.customers.length, run.notes]).toEqual([40, [expect.stringContaining('came in pages'), alone]]);
    expect(await harness.counts(await harness.runSync())).toMatchObject({ in: 40, unchanged: 40 });
  });

  test('and is complete although its length is round, is read once, and the run says what to check', async () => {
    serviceWith({ contacts: people(20), customers: people(20).map((person) => imported({ ...person, id: 0 })) });
    const run = await harness.runSync();
    const toCheck = [expect.stringContaining('20 records, which looks like a page size')];
    expect([await harness.counts(run), run.notes]).toMatchObject([{ existing: 20 }, toCheck]);
  });

  test('is named once in a run, also if it has grown by then to the next usual size of a page', async () => {
    const customers = people(10).map((person) => imported({ ...person, id: 0 }));
    serviceWith({ contacts: people(10, 100), customers });
    const run = await harness.runSync();
    const toCheck = run.notes.filter((note) => note.includes('which looks like a page size'));
    expect([await harness.counts(run), toCheck]).toMatchObject([{ created: 10 }, [expect.stringContaining('has 10 ')]]);
  });
});

describe('a list in which two records have one id', () => {
  const many = (count: number) => people(count).map((person) => imported({ ...person, id: 0 }));
  test.each<[string, TinyOptions]>([
    ['far apart in one answer', { customers: many(2_500) }],
    ['on different pages', { customers: many(40), customerPages: { size: 10, first: 0, sized: true } }],
    ['on different pages of one size', { customers: many(40), customerPages: { size: 10, first: 0, sized: false } }],
  ])('%s, causes no write', async (_how, options) => {
    const service = serviceWith({ contacts: people(3), ...options });
    service.customers.push({ id: 2, full_name: 'Another Person', email: 'else@example.com' });
    const begun = await harness.beginSync();
    const run = await ended(harness.database, begun.id);
    expect(run).toMatchObject({ status: 'failed', errorCode: 'ID_NOT_UNIQUE' });
    expect(run.error).toMatch(/have the same id 2 but differ/);
    expect(service.sent('/customers/import')).toEqual([]);
  });

  test('of contacts, on different pages, causes no write', async () => {
    const service = serviceWith({ contacts: people(1_200) });
    service.contacts.push({ id: 2, first_name: 'Another', email: 'else@example.com' });
    const begun = await harness.beginSync();
    const run = await ended(harness.database, begun.id);
    expect(run).toMatchObject({ status: 'failed', errorCode: 'ID_NOT_UNIQUE' });
    expect(service.sent('/customers/import')).toEqual([]);
  });

  test('because two replicas do not agree yet about a customer that was edited, is read again after settle', async () => {
    const asked: (string | null | undefined)[] = [];
    const onList = (path: string, _page: number, query?: URLSearchParams): Reply | undefined => {
      if (!path.includes('customers')) return undefined;
      const edited = { ...service.customers[14], full_name: 'Edited Person' };
      const others = service.customers.filter(({ id }) => id !== 15);
      const agree = asked.join().includes('0,1,0,1,0'); // both pages, and both again
      const rows = agree || asked.length % 2 === 0 ? [edited, ...others] : service.customers; // those updated last come first
      asked.push(query?.get('page'));
      const from = Number(query?.get('page') ?? 0) * 10;
      return { body: { status: 'success', content: rows.slice(from, from + 10) } };
    };
    const service = serviceWith({ contacts: people(40), customers: many(40), onList });
    const run = await harness.runSync();
    expect(await harness.counts(run)).toMatchObject({ in: 40, existing: 40 });
    expect(run.notes).toContain('read a list again, because two of its pages showed record 15 differently');
  });
});

describe('a list of contacts in pages of one size', () => {
  const listed = (content: unknown): Reply => ({ body: { status: 'success', content } });
  const all = people(20).map((person, i) => ({ ...person, id: i + 1 }));

  test.each([
    ['counted from 1, of which page 0 is the first, too', 1, listed([])],
    ['counted from 0, with 404 past the end', 0, refused(404, 'page not found')],
    ['counted from 1, with 404 past the end', 1, refused(404, 'page not found')],
  ])('%s, is read to its end', async (_how, first, pastEnd) => {
    const onList = (path: string, page: number) => {
      const from = 5 * Math.max(0, page - first);
      if (path.includes('contacts')) return from < 20 ? listed(all.slice(from, from + 5)) : pastEnd;
      return undefined;
    };
    const service = serviceWith({ contacts: people(20), onList });
    expect(await harness.counts(await harness.runSync())).toMatchObject({ in: 20, created: 20 });
    expect(service.customers).toHaveLength(20);
  });
});

describe('a list whose answer says that it is only a part', () => {
  const listOf = (content: readonly unknown[], beside: Record<string, unknown>): Reply => ({
    body: { status: 'success', content, message: 'OK', ...beside },
  });

  test('of contacts, without a way to the others: the scan is unproven, and the run says why', async () => {
    const contacts = people(20);
    const shown = contacts.map((person, i) => ({ ...person, id: i + 1 }));
    serviceWith({ contacts, onList: (path) => (path.includes('contacts') ? listOf(shown, { total: 50 }) : undefined) });
    const run = await harness.runSync();
    expect([run.status, run.scan, (await harness.counts(run)).created]).toEqual(['done', 'unproven', 20]);
    expect(run.notes.join()).toMatch(/the service reports a total of 50, and its pages have 20/);
  });

  test.each([{ total: 12 }, { has_more: true }])('of customers (%j): no customer is created', async (beside) => {
    const there = [{ ...imported({ ...ann, id: 0 }), id: 1 }];
    const onList = (path: string) => (path.includes('customers') ? listOf(there, beside) : undefined);
    const service = serviceWith({ onList });
    expect(await verdicts(await harness.runSync())).toEqual([
      'existing MATCHED',
      'review LIST_PARTIAL',
      'review LIST_PARTIAL',
    ]);
    expect(service.sent('/customers/import')).toEqual([]);
  });
});

describe('a service that changes its shape between two runs', () => {
  const customersAs = (body: (customers: readonly TinyRecord[]) => unknown) => (path: string) =>
    path.includes('customers') ? { body: body(tiny.customers) } : undefined;
  const contactsInRows = (path: string, page: number) =>
    path.includes('contacts') ? { body: { data: { rows: page === 0 ? tiny.contacts : [] } } } : undefined;
  const renamed = ({ id, ...rest }: TinyRecord) => ({ client_id: id, ...rest });

  test.each<[string, TinyOptions['onList'], RegExp]>([
    ['id', customersAs((all) => all.map(renamed)), /customers.*the id is in "client_id", formerly "id"/],
    ['path', customersAs((all) => ({ data: { rows: all } })), /customers.*is at "data.rows", formerly "content"/],
    ['path of contacts', contactsInRows, /contacts.*is at "rows", formerly "\$"/],
  ])('(its %s) pauses the run, which reports what has changed and how to resume', async (_what, onList, words) => {
    serviceWith();
    await harness.runSync();
    serviceWith({ customers: [...tiny.customers], onList });
    const begun = await harness.beginSync();
    const run = await ended(harness.database, begun.id);
    expect(run).toMatchObject({ status: 'paused', errorCode: 'DIALECT_DRIFTED', error: expect.stringMatching(words) });
    expect([tiny.sent('/customers/import'), tiny.sent('/customers/update')]).toEqual([[], []]);
    expect(run.error).toContain(`lockstep runs resume ${run.id}`);
  });

  test('to an empty list has none, and is not treated as another', async () => {
    serviceWith();
    await harness.runSync();
    serviceWith({ contacts: [], customers: [...tiny.customers] });
    expect((await harness.runSync()).status).toBe('done');
  });
});

test('a list that the doctor found cut off proves no absence: nothing is created, and the run says why', async () => {
  const service = serviceWith({ contacts: [ann] });
  await keepCutOff(harness.database.pool, 'test', 'customers', 'cut off: the list has 2 records');
  const run = await harness.runSync();
  expect(await verdicts(run)).toEqual(['review LIST_PARTIAL']);
  expect([service.customers.length, run.notes.join()]).toEqual([0, expect.stringContaining('the doctor found')]);
  await keepCutOff(harness.database.pool, 'test', 'customers');
  expect(await verdicts(await harness.runSync())).toEqual(['created']);
});

test.each([
  ['', () => ({})],
  [', and counts the records of the page', (total: number) => ({ total })],
])(
  'a list that was only seen with as many records as a page, without numbers as ids%s, proves no absence',
  async (_, beside) => {
    const there = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ id: `c-${n}`, full_name: `Person ${n}`, email: `p${n}@example.com` }));
    let shown = there(50);
    const onList = (path: string) =>
      path.includes('customers')
        ? { body: { content: [...shown, ...tiny.customers], ...beside(shown.length + tiny.customers.length) } }
        : undefined;
    const service = serviceWith({ contacts: [ann], onList });
    for (const _run of [1, 2]) {
      const run = await harness.runSync();
      expect(await verdicts(run)).toEqual(['review LIST_PARTIAL']);
      expect(run.notes.join()).toContain(
        'the list of customers has 50 records, which looks like a page size: nothing shows',
      );
    }
    shown = there(51);
    expect(await verdicts(await harness.runSync())).toEqual(['created']);
    expect(service.customers).toHaveLength(1);
  },
);

test('a list with as many records as a page, and random ids, proves absence if its answer says that no more follow', async () => {
  const there = Array.from({ length: 50 }, (_, n) => ({ id: `c-${n}`, email: `p${n}@example.com` }));
  const onList = (path: string) =>
    path.includes('customers')
      ? { body: { data: [...there, ...service.customers], links: { next: null } } }
      : undefined;
  const service = serviceWith({ contacts: [ann], onList });
  expect(await verdicts(await harness.runSync())).toEqual(['created']);
});

test('a list with as many records as a page has is named in the notes, unless it is of the embedded service', async () => {
  serviceWith({ contacts: [ann], customers: Array.from({ length: 10 }, (_, n) => ({ full_name: `Person ${n}` })) });
  const run = await harness.runSync();
  expect(run.notes.join()).toContain('the list of customers has 10 records, which looks like a page size');
  const { pool } = harness.database;
  const seen = { records: 20, hasEnd: false, highestId: undefined };
  const account = { ...(await harness.workspace.accounts.open('test')), service: EMBEDDED };
  await isCutOff({ pool, run, account, signal: new AbortController().signal }, 'customers', seen);
  expect((await readRun(pool, run.id)).notes).toEqual(run.notes);
});
