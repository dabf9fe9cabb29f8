/** Runs against a service that refuses, loses, changes or misreports the data it is given. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { EMBEDDED } from '../../src/engine/account/account.ts';
import { isCutOff, keepCutOff } from '../../src/engine/account/cut-off-lists.ts';
import { type Run, readRun } from '../../src/engine/ledger/runs.ts';
import { reviewItems } from '../../src/engine/ledger/views/review-items.ts';
import { openContactsHarness } from '../support/harness/contacts.ts';
import { ended } from '../support/harness/ended.ts';
import type { Reply } from '../support/http-server.ts';
import { people } from '../support/people.ts';
import { imported, startTinyService, type TinyOptions, type TinyRecord } from '../support/tiny-service.ts';

const SETTLE_MS = 100;
const QUICK = `budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: ${SETTLE_MS}ms }`;

const tiny = await startTinyService();
const harness = await openContactsHarness({ account: QUICK, serviceUrl: tiny.url });
beforeEach(() => harness.reset());
afterAll(async () => {
  await harness.close();
  await tiny.close();
});

const serviceWith = (options: TinyOptions = {}) => tiny.begin({ contacts: [ann, ben, cy], ...options });

const ann = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' };
const ben = { first_name: 'Ben', last_name: 'Lee', phone: '+49 30 5550000' };
const cy = { first_name: 'Cy', last_name: 'Lee', organization: 'Lee & Co' };
const refused = (status: number, message: string): Reply => ({ status, body: { status: 'error', message } });

/** The result of each contact, by ids 1, 2, …; a contact without a row has not changed. */
async function verdicts(run: Run): Promise<readonly string[]> {
  const rows = new Map((await harness.rows(run)).map((row) => [row.sourceId, row]));
  return Array.from({ length: (await harness.counts(run)).in }, (_, i) => {
    const { verdict, reason } = rows.get(String(i + 1)) ?? { verdict: 'unchanged', reason: null };
    return reason === null ? verdict : `${verdict} ${reason}`;
  });
}

test('a contact that the list shows as deleted makes no customer, and does not empty the one that it has', async () => {
  const service = serviceWith({ contacts: [ann, { ...ben, deleted_at: '2026-01-01' }, { isDeleted: 'yes' }] });
  const run = await harness.runSync();
  expect(await harness.tally(run)).toEqual({ in: 1, created: 1 });
  expect(service.customers.map(({ full_name }) => full_name)).toEqual(['Ann Lee']);
  expect((await readRun(harness.database.pool, run.id)).notes.join()).toContain(
    'marked as deleted: they were left out',
  );
  Object.assign(service.contacts[0] ?? {}, { first_name: 'Deleted', last_name: '', email: null, deleted: true });
  Object.assign(service.contacts[1] ?? {}, { deleted_at: null });
  expect(await harness.tally(await harness.runSync())).toEqual({ in: 1, created: 1 });
  expect(service.customers.map(({ full_name }) => full_name)).toEqual(['Ann Lee', 'Ben Lee']);
});

describe('a service that renames the fields of its customers', () => {
  const there = [{ full_name: 'Ann Lee', email: 'ann@example.com' }];

  test('in another letter case, gets no contact imported a second time', async () => {
    const renamed = {
      body: { status: 'success', content: [{ id: 1, FullName: 'Ann Lee', Email: 'ann@example.com' }] },
    };
    const service = serviceWith({
      contacts: [ann],
      customers: there,
      onList: (path) => (path.includes('customers') ? renamed : undefined),
    });
    expect(await verdicts(await harness.runSync())).toEqual(['existing MATCHED']);
    expect(service.customers).toHaveLength(1);
  });

  test('to names that Lockstep does not know, is sent nothing', async () => {
    const renamed = { body: { status: 'success', content: [{ id: 1, who: 'Ann Lee', reach: 'ann@example.com' }] } };
    const service = serviceWith({
      contacts: [ann],
      customers: there,
      onList: (path) => (path.includes('customers') ? renamed : undefined),
    });
    const run = await harness.runSync();
    expect([run.status, run.errorCode]).toEqual(['failed', 'SERVICE_UNREADABLE']);
    expect(run.error).toContain('"reach" holds an e-mail address');
    expect(service.customers).toHaveLength(1);
  });
});

describe('a service whose people have known names, and their e-mails elsewhere,', () => {
  const elsewhere = ['ann@example.com', 'bo@example.com'].map((mail, n) => ({
    id: n + 101,
    name: `Person ${n}`,
    login: { at: mail },
    owner: { mail: 'boss@example.com' },
  }));
  const listing = (records: readonly object[]) => (path: string) =>
    path.includes('customers') ? { body: { content: records } } : undefined;

  test('is sent nothing', async () => {
    const service = serviceWith({ contacts: [ann], onList: listing(elsewhere) });
    const run = await harness.runSync();
    expect([run.status, run.errorCode, service.customers]).toEqual(['failed', 'SERVICE_UNREADABLE', []]);
    expect(run.error).toContain('lists customers without an e-mail under a name');
    expect(run.error).toContain('"login.at" holds an e-mail address');
  });

  test('is sent nothing, also if a list of e-mails has them in members that Lockstep does not know', async () => {
    const unread = elsewhere.map(({ login, ...others }) => ({ ...others, EMAIL: [{ KIND: 'work', AT: login.at }] }));
    const service = serviceWith({ contacts: [ann], onList: listing(unread) });
    const run = await harness.runSync();
    expect([run.status, run.errorCode, service.customers]).toEqual(['failed', 'SERVICE_UNREADABLE', []]);
    expect(run.error).toContain('"EMAIL.0.AT" holds an e-mail address');
  });

  test.each([
    ['have the same owner', elsewhere.map(({ login, ...others }) => others)],
    ['have no e-mail, and say so', elsewhere.map((one) => ({ ...one, email: null }))],
  ])('or whose customers %s, has the contact created', async (_, records) => {
    const onList = (path: string) => listing([...records, ...service.customers])(path);
    const service = serviceWith({ contacts: [ann], onList });
    expect(await verdicts(await harness.runSync())).toEqual(['created']);
  });
});

test('a service that shows e-mails and phones in lists has no customer created again', async () => {
  const shown = {
    id: 7,
    name: 'Ann Lee',
    email: [
      { value: 'old@example.com', primary: false },
      { value: 'ann@example.com', primary: true },
    ],
    phones: [],
  };
  const onList = (path: string) => (path.includes('customers') ? { body: { data: [shown] } } : undefined);
  const service = serviceWith({ contacts: [ann], onList });
  expect(await verdicts(await harness.runSync())).toEqual(['existing MATCHED']);
  expect(service.customers).toEqual([]);
});

test('a first list of customers that is empty by mistake is read again, and no customer that exists is imported again', async () => {
  let reads = 0;
  const onList = (path: string) => (path.includes('customers') && ++reads === 1 ? { body: { data: [] } } : undefined);
  const service = serviceWith({ customers: [ann, ben].map((person) => imported({ ...person, id: 0 })), onList });
  expect(await verdicts(await harness.runSync())).toEqual(['existing MATCHED', 'existing MATCHED', 'created']);
  expect(service.sent('/customers/import')).toHaveLength(1);
});

test('a service whose contacts have names that Lockstep does not know is sent nothing, and the error says which', async () => {
  const renamed = {
    body: { status: 'success', content: [{ id: 1, who: 'Ann Lee', reach: { at: 'ann@example.com' } }] },
  };
  const service = serviceWith({ onList: (path) => (path.includes('contacts') ? renamed : undefined) });
  const run = await harness.runSync();
  expect([run.status, run.errorCode, service.customers]).toEqual(['failed', 'SERVICE_UNREADABLE', []]);
  expect(run.error).toMatch(
    /lists contacts without .* but "reach\.at" holds an e-mail address\. Set accounts\.\w+\.dialect\.members\.contacts\.email to reach\.at/,
  );
});

describe('a service whose contacts have their names in an object that Lockstep does not know,', () => {
  const without = { first_name: undefined, last_name: undefined };
  const within = ({ first_name, last_name, ...others }: Record<string, unknown>) => ({
    ...others,
    person: { givenName: first_name, familyName: last_name },
  });

  test('is sent nothing, and the error says which', async () => {
    const service = serviceWith({ contacts: [ann, ben].map(within) });
    const run = await harness.runSync();
    expect([run.status, run.errorCode, service.customers]).toEqual(['failed', 'SERVICE_UNREADABLE', []]);
    expect(run.error).toMatch(
      /but "person\.givenName" holds a name\. Set accounts\.\w+\.dialect\.members\.contacts\.first_name to person\.givenName,/,
    );
  });

  test.each([
    ['one of them has a name', [within(ann), ben]],
    [
      'the object has the name of their owner',
      [ann, ben].map((one) => ({ ...one, ...without, owner: { first_name: 'Zoe' } })),
    ],
    ['none has a name at all', [ann, ben].map((one) => ({ ...one, ...without }))],
  ])('is served where %s', async (_, contacts) => {
    serviceWith({ contacts });
    expect(await harness.tally(await harness.runSync())).toEqual({ in: 2, created: 2 });
  });
});

describe('a service that refuses to import', () => {
  test.each([
    ['as unknown', refused(404, 'no such operation')],
    ['as a method', { status: 405 }],
    ['as bad', refused(400, 'not supported')],
    ['in an envelope', { body: { status: 'error', content: null, message: 'not supported' } }],
  ])('%s has customers created, each once, and the next run tries importing again', async (_how, refusal) => {
    let isRefusing = true;
    const service = serviceWith({ onImport: () => (isRefusing ? refusal : undefined) });
    expect(await verdicts(await harness.runSync())).toEqual(['created', 'created', 'created']);
    expect(service.customers).toHaveLength(3);
    isRefusing = false;
    service.contacts.push({ first_name: 'Dot', email: 'dot@example.com', id: 4 });
    expect(await verdicts(await harness.runSync())).toEqual(['unchanged', 'unchanged', 'unchanged', 'created']);
    expect([service.sent('/customers/import').at(-1), service.customers.length]).toEqual([{ contact_id: 4 }, 4]);
  });

  test('is not asked for every contact of a run', async () => {
    const service = serviceWith({ contacts: people(60), onImport: () => refused(400, 'not supported') });
    expect((await harness.counts(await harness.runSync())).created).toBe(60);
    expect([service.customers.length, service.sent('/customers/import').length < 30]).toEqual([60, true]);
  });
});

describe('a contact that the service will not take', () => {
  test('is rejected with the service’s message and retried by the next run, while the others continue', async () => {
    let isMended = false;
    const onImport = ({ id }: TinyRecord) => (id === 2 && !isMended ? refused(422, 'phone: not a number') : undefined);
    const service = serviceWith({ contacts: [ann], onImport });
    await harness.runSync(); // from here on importing is known to work
    service.contacts.push({ ...ben, id: 2 }, { ...cy, id: 3 });
    const run = await harness.runSync();
    expect(await verdicts(run)).toEqual(['unchanged', 'rejected REFUSED_BY_SERVICE', 'created']);
    expect((await harness.rows(run))[0]?.detail).toContain('phone: not a number');
    expect(await verdicts(await harness.runSync())).toEqual(['unchanged', 'rejected REFUSED_BY_SERVICE', 'unchanged']);
    isMended = true;
    expect(await verdicts(await harness.runSync())).toEqual(['unchanged', 'created', 'unchanged']);
    expect(
      service
        .sent('/customers/import')
        .map((body) => body.contact_id)
        .toSorted(),
    ).toEqual([1, 2, 2, 2, 3]);
  });

  test('as the first of many, before any is accepted, does not turn importing off for the others or later runs', async () => {
    const onImport = ({ id }: TinyRecord) => (id <= 6 ? refused(422, `contact ${id} has no consent`) : undefined);
    const service = serviceWith({ contacts: people(30), onImport });
    const run = await harness.runSync();
    expect(await harness.counts(run)).toMatchObject({ in: 30, created: 24, rejected: 6 });
    expect((await harness.rows(run))[0]?.detail).toContain('contact 1 has no consent');
    expect([service.sent('/customers/create'), service.customers.length]).toEqual([[], 24]);
  });

  test('in an envelope, but accepts all the same, has one customer', async () => {
    const service = serviceWith({
      onImport(contact, { add }) {
        if (contact.id !== 1) return undefined;
        add(imported(contact));
        return { body: { status: 'error', content: null, message: 'mail was not sent' } };
      },
    });
    expect(await verdicts(await harness.runSync())).toEqual(['created', 'created', 'created']);
    expect([service.customers.length, service.sent('/customers/create')]).toEqual([3, []]);
  });

  test('because it exists already is found by the read-back', async () => {
    const service = serviceWith({
      onImport(contact, { add }) {
        if (contact.id !== 1) return undefined;
        add(imported(contact)); // another client was quicker
        return refused(409, 'it is a customer already');
      },
    });
    expect(await verdicts(await harness.runSync())).toEqual(['created', 'created', 'created']);
    expect(service.sent('/customers/import')).toHaveLength(3);
  });

  test('by a 500 is given up after five tries, with its words, and the others continue', async () => {
    const failed = { status: 500, body: { error: 'name overflows' } };
    const service = serviceWith({ onImport: ({ id }) => (id === 1 ? failed : undefined) });
    const run = await harness.runSync();
    const answer = expect.stringMatching(/answers HTTP 500: name overflows$/);
    expect((await harness.rows(run))[0]).toMatchObject({ facts: { sends: 5, answer } });
    expect(await verdicts(run)).toEqual(['review GAVE_UP', 'created', 'created']);
    expect(service.sent('/customers/import').filter((body) => body.contact_id === 1)).toHaveLength(5);
    expect((await harness.counts(run)).in).toBe(3);
  });
});

test.each([
  ['a phone', { phone: '+49 30 5550000' }, { phone: '+49 30 5551111' }, { phone_number: '+49 30 5551111' }],
  ['letters that are not Latin', { organization: 'Азбука' }, { organization: 'Буква' }, { organization: 'Буква' }],
])(
  'an update of %s that the service accepts and does not store is reported, and sent again',
  async (_, was, is, shown) => {
    let isIgnoring = true;
    const service = serviceWith({
      onUpdate: () => (isIgnoring ? { body: { message: 'Validation failed: phone' } } : undefined),
    });
    Object.assign(service.contacts[0] ?? {}, was);
    await harness.runSync();
    Object.assign(service.contacts[0] ?? {}, is);
    for (const _night of [1, 2])
      expect(await verdicts(await harness.runSync())).toEqual(['review UPDATE_IGNORED', 'unchanged', 'unchanged']);
    isIgnoring = false;
    expect(await verdicts(await harness.runSync())).toEqual(['updated', 'unchanged', 'unchanged']);
    expect(service.customers[0]).toMatchObject(shown);
    expect(await verdicts(await harness.runSync())).toEqual(['unchanged', 'unchanged', 'unchanged']);
  },
);

describe('a customer that the service accepted', () => {
  test('and lost is for a person, who may have it imported again', async () => {
    let lost = 0;
    const service = serviceWith({ onImport: ({ id }) => (id === 1 && ++lost === 1 ? { body: '' } : undefined) });
    expect(await verdicts(await harness.runSync())).toEqual(['review NOT_IN_LIST', 'created', 'created']);
    expect(service.sent('/customers/import')).toHaveLength(3);
  });

  test('is not imported again, that night or the next, where the list shows nothing of what was sent', async () => {
    const service = serviceWith({ onImport: () => ({ body: '' }) });
    for (const _night of [1, 2]) {
      expect(await verdicts(await harness.runSync())).toEqual(Array(3).fill('review NOT_IN_LIST'));
    }
    expect(service.sent('/customers/import')).toHaveLength(3);
    Object.assign(service.contacts[0] ?? {}, { last_name: 'Óg' }); // a person has edited it
    expect(await verdicts(await harness.runSync())).toEqual(Array(3).fill('review NOT_IN_LIST'));
    expect(service.sent('/customers/import')).toHaveLength(3);
  });

  test('and shows with other data is not created again, that night or the next', async () => {
    const service = serviceWith({
      onImport({ id }, { add }) {
        if (id !== 1) return undefined;
        add({ full_name: '#1', email: '(hidden)' });
        return { body: '' };
      },
    });
    expect(await verdicts(await harness.runSync())).toEqual(['review NOT_RECOGNISED', 'created', 'created']);
    const stranger = String(service.customers.find(({ full_name }) => full_name === '#1')?.id);
    for (const _night of [2, 3]) {
      expect(await verdicts(await harness.runSync())).toEqual(['review NOT_RECOGNISED', 'unchanged', 'unchanged']);
      const [item] = await reviewItems(harness.database.pool);
      expect(Object.keys(item?.customers ?? {})).toEqual([stranger]);
    }
    expect(service.customers).toHaveLength(3);
    Object.assign(service.customers.find(({ full_name }) => full_name === '#1') ?? {}, { email: ann.email });
    expect(await verdicts(await harness.runSync())).toEqual(['existing MATCHED', 'unchanged', 'unchanged']);
  });

  test('and created twice is reported with both ids, by the run that created it', async () => {
    serviceWith({
      onImport(contact, { add }) {
        add(imported(contact));
        return contact.id === 1 ? undefined : { body: '' }; // the first one is added a second time
      },
    });
    const run = await harness.runSync();
    expect(await verdicts(run)).toEqual(['review DUPLICATE', 'created', 'created']);
    expect((await harness.rows(run))[0]?.detail).toMatch(/\d(,| and) \d/);
  });

  test('and whose id a stranger has been given since is reported until a person decides; a corrected name is not', async () => {
    const service = serviceWith({ contacts: [ann, ben, cy, ...people(12)] });
    expect(await verdicts(await harness.runSync())).toEqual(Array(15).fill('created'));
    const stranger = { full_name: 'Some Stranger', email: 'stranger@example.com', contact_id: null };
    Object.assign(service.customers[0] ?? {}, stranger);
    Object.assign(service.customers[2] ?? {}, { full_name: 'Cyrus Lee' });
    for (const _night of [2, 3])
      expect(await verdicts(await harness.runSync())).toEqual([
        'review LINK_DISAGREES',
        ...Array(14).fill('unchanged'),
      ]);
    expect(service.customers[0]).toMatchObject(stranger);
  });

  test.each([
    ['with an e-mail', 1],
    ['with a phone only', 2],
    ['with a name only', 3],
  ])('twice, the second time long after the run, is reported by the next one: a contact %s', async (_which, id) => {
    const service = serviceWith();
    expect(await verdicts(await harness.runSync())).toEqual(['created', 'created', 'created']);
    const contact = service.contacts[id - 1];
    const late = service.add(contact ? imported(contact) : {});
    const run = await harness.runSync();
    const expected = ['unchanged', 'unchanged', 'unchanged'].with(id - 1, 'review DUPLICATE');
    expect(await verdicts(run)).toEqual(expected);
    expect((await harness.rows(run))[0]?.detail).toMatch(new RegExp(`(,| and) ${late.id}\\b`));
    service.customers.splice(service.customers.indexOf(late), 1);
    expect(await verdicts(await harness.runSync())).toEqual(['unchanged', 'unchanged', 'unchanged']);
  });
});

describe('a customer that is updated', () => {
  test('is sent whole: fields that only customers have are kept, and cleared fields are cleared', async () => {
    const service = serviceWith({
      contacts: [{ ...ann, phone: '+1 555 010 0001' }],
      customers: [{ full_name: 'Annie', email: ann.email, gender: 'female', tenant_id: 't-7', phone_number: '1' }],
    });
    await harness.runSync();
    Object.assign(service.contacts[0] ?? {}, { last_name: 'Óg', phone: null });
    expect(await verdicts(await harness.runSync())).toEqual(['updated']);
    expect(service.sent('/customers/update')).toEqual([
      { id: 1, tenant_id: 't-7', full_name: 'Ann Óg', email: ann.email, gender: 'female', phone_number: '' },
    ]);
  });

  test('is sent again where the answer was lost, and postponed to the next run where it is refused', async () => {
    let answers: readonly Reply[] = [{ status: 502 }, { status: 504 }];
    const service = serviceWith({
      onUpdate() {
        const [next, ...rest] = answers;
        answers = rest;
        return next;
      },
    });
    await harness.runSync();
    Object.assign(service.contacts[0] ?? {}, { last_name: 'Óg' });
    answers = [refused(422, 'name: too odd')];
    expect(await verdicts(await harness.runSync())).toEqual(['rejected REFUSED_BY_SERVICE', 'unchanged', 'unchanged']);
    answers = [{ status: 502 }, { status: 504 }];
    expect(await verdicts(await harness.runSync())).toEqual(['updated', 'unchanged', 'unchanged']);
    expect(service.sent('/customers/update')).toHaveLength(4);
  });

  test('and was created again by a person, under another id, is found again', async () => {
    const service = serviceWith();
    await harness.runSync();
    const at = service.customers.findIndex(({ full_name }) => full_name === 'Ann Lee');
    const [gone] = service.customers.splice(at, 1);
    expect(await verdicts(await harness.runSync())).toEqual(['review CUSTOMER_GONE', 'unchanged', 'unchanged']);
    service.add({ ...gone });
    expect(await verdicts(await harness.runSync())).toEqual(['existing MATCHED', 'unchanged', 'unchanged']);
    expect(await verdicts(await harness.runSync())).toEqual(['unchanged', 'unchanged', 'unchanged']);
    expect(service.customers).toHaveLength(3);
  });
});

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
