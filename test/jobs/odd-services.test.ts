/** Runs against a service that names or places its data in another way. */
import { describe, expect, test } from 'vitest';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { imported } from '../support/tiny-service.ts';
import { ann, ben, openOddService } from './odd-service.ts';

const { harness, serviceWith, verdicts } = await openOddService();

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
