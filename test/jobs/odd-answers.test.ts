/** Runs against a service that refuses, loses, changes or misreports the data it is given. */
import { describe, expect, test } from 'vitest';
import { reviewItems } from '../../src/engine/ledger/views/review-items.ts';
import type { Reply } from '../support/http-server.ts';
import { people } from '../support/people.ts';
import { imported, type TinyOptions, type TinyRecord } from '../support/tiny-service.ts';
import { ann, ben, cy, openOddService, refused } from './odd-service.ts';

const { harness, serviceWith, verdicts } = await openOddService();

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

test('an update that fails each time is done if the customer shows it, and otherwise reported and sent again', async () => {
  const applying: TinyOptions = {
    onUpdate({ id, ...fields }) {
      Object.assign(service.customers.find((customer) => customer.id === id) ?? {}, fields);
      return { body: 'OK' };
    },
  };
  const failing: TinyOptions = { onUpdate: () => ({ status: 500, body: { message: 'no disk' } }) };
  let now = applying;
  const service = serviceWith({ onUpdate: (fields) => now.onUpdate?.(fields) });
  await harness.runSync();
  Object.assign(service.contacts[0] ?? {}, { organization: 'Lee & Co' });
  expect(await verdicts(await harness.runSync())).toEqual(['updated', 'unchanged', 'unchanged']);
  expect(service.sent('/customers/update')).toHaveLength(5);
  now = failing;
  Object.assign(service.contacts[0] ?? {}, { organization: 'Lee & Sons' });
  const run = await harness.runSync();
  expect(await verdicts(run)).toEqual(['review UPDATE_UNCONFIRMED', 'unchanged', 'unchanged']);
  expect((await harness.rows(run))[0]?.detail).toMatch(/^The update of customer 1 was sent 5 times.*: no disk\. /);
  now = {};
  expect(await verdicts(await harness.runSync())).toEqual(['updated', 'unchanged', 'unchanged']);
});

describe('a customer that the service accepted', () => {
  test('and lost is for a person, who may have it imported again', async () => {
    const service = serviceWith({ contacts: [ann], onImport: ({ id }) => (id === 2 ? { body: '' } : undefined) });
    expect(await verdicts(await harness.runSync())).toEqual(['created']);
    service.contacts.push({ ...ben, id: 2 }, { ...cy, id: 3 });
    expect(await verdicts(await harness.runSync())).toEqual(['unchanged', 'review NOT_IN_LIST', 'created']);
    expect(service.sent('/customers/import')).toHaveLength(3);
  });

  test('is not imported again, that night or the next, where the list shows nothing of what was sent', async () => {
    const service = serviceWith({ onImport: () => ({ body: '' }) });
    const run = await harness.runSync();
    expect(await verdicts(run)).toEqual(['review NOT_IN_LIST', 'created', 'created']);
    expect(run.notes.join()).toContain('accepted the import of a contact and shows no customer for it');
    service.contacts.push({ first_name: 'Dot', email: 'dot@example.com', id: 4 });
    Object.assign(service.contacts[0] ?? {}, { last_name: 'Óg' }); // a person has edited it
    const next = await verdicts(await harness.runSync());
    expect(next).toEqual(['review NOT_IN_LIST', 'unchanged', 'unchanged', 'created']);
    expect([service.sent('/customers/import'), service.customers.length]).toEqual([[{ contact_id: 1 }], 3]);
  });

  test('that a late list does not show, like those that were created, does not turn importing off for later runs', async () => {
    let shown = 1;
    const service = serviceWith({
      hasGets: true,
      customers: [{ full_name: 'Old' }],
      onList: (path) => (path.endsWith('/customers/getall') ? { body: service.customers.slice(0, shown) } : undefined),
    });
    const missing = 'review NOT_IN_LIST';
    expect(await verdicts(await harness.runSync())).toEqual([missing, missing, missing]);
    shown = 10;
    service.contacts.push({ first_name: 'Dot', email: 'dot@example.com', id: 4 });
    expect(await verdicts(await harness.runSync())).toEqual([...Array(3).fill('existing MATCHED'), 'created']);
    expect(service.sent('/customers/import').map((body) => body.contact_id)).toEqual([1, 4]);
  });

  test.each([
    ['without e-mail and phone', { email: '', phone_number: '' }, ['review CONTENT_DIFFERS', 'updated']],
    ['with another phone', { phone_number: '+49 40 7770000' }, ['review CONTENT_DIFFERS', 'unchanged']],
    ['with another form', { phone_number: '0049(0)30-5550001', full_name: 'LEE, Ann' }, ['created', 'unchanged']],
  ])(
    'and shows %s is reported if that is not its form only, and the next run fills what is missing',
    async (_, shown, [first, next]) => {
      const phoned = [ann, ben, cy].map((one, i) => ({ ...one, phone: `+49 30 555000${i + 1}` }));
      const service = serviceWith({
        contacts: phoned,
        onImport(contact, { add }) {
          add({ ...imported(contact), organization: null, ...(contact.id === 1 && shown) });
          return { body: '' };
        },
      });
      const others = (verdict: string) => [verdict, verdict];
      expect(await verdicts(await harness.runSync())).toEqual([first, ...others('created')]);
      expect(await verdicts(await harness.runSync())).toEqual([next, ...others('unchanged')]);
      expect(await verdicts(await harness.runSync())).toEqual(['unchanged', ...others('unchanged')]);
      expect([service.sent('/customers/update').length, service.customers.length]).toEqual([
        next === 'updated' ? 1 : 0,
        3,
      ]);
    },
  );

  test('and never shows with a phone is created, with a note', async () => {
    const onImport = (contact: TinyRecord, { add }: { add(record: object): void }) => {
      add({ ...imported(contact), organization: null, phone_number: null });
      return { body: '' };
    };
    serviceWith({ contacts: [ann, ben, cy].map((one, i) => ({ ...one, phone: `+49 30 555000${i + 1}` })), onImport });
    const run = await harness.runSync();
    expect(await verdicts(run)).toEqual(['created', 'created', 'created']);
    expect(run.notes.join()).toContain('no customer that was created shows its phone_number as it was sent');
    expect(run.notes.join()).not.toContain('organization'); // no run finds a customer by it alone
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
