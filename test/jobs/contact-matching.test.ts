/** Which customer a contact already has, decided by whole runs against a service of its own. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type ContactsHarness, openContactsHarness } from '../support/harness/contacts.ts';
import type { WordedRow } from '../support/worded-rows.ts';

const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 300ms }';

const harness = await openContactsHarness({ account: QUICK });
beforeEach(() => harness.reset());
afterAll(() => harness.close());

type Fields = Record<string, unknown>;

interface Case {
  readonly name: string;
  readonly contacts: readonly Fields[];
  readonly customers: readonly Fields[];
  /** Per contact: what became of it, and which customer it has; a customer that the run made is `new`. */
  readonly become: readonly string[];
}

const ann = { first_name: 'Ann', last_name: 'Lee' };
const ben = { first_name: 'Ben', last_name: 'Lee' };
const mail = { email: 'lee@example.com' };
const phone = { phone: '+49 30 5550000' };
const asCustomer = (full_name: string, more: Fields = {}): Fields => ({ full_name, ...more });
const phone_number = '0049 (30) 555-0000';

const cases: readonly Case[] = [
  {
    name: 'by e-mail, whatever its case and the rest say',
    contacts: [{ ...ann, email: 'Ann@Example.com', ...phone }],
    customers: [asCustomer('Another Person', { email: ' ann@example.COM', phone_number: '1234567' })],
    become: ['existing 1'],
  },
  {
    name: 'not if the e-mail names one customer and the phone another one',
    contacts: [{ ...ann, ...mail, ...phone }],
    customers: [asCustomer('Ann Lee', mail), asCustomer('A. Lee', { phone_number })],
    become: ['review AMBIGUOUS_MATCH 1, 2'],
  },
  {
    name: 'by e-mail, where its customer has the phone that another one has too',
    contacts: [{ ...ann, ...mail, ...phone }],
    customers: [asCustomer('Ann Lee', { ...mail, phone_number }), asCustomer('A. Lee', { phone_number })],
    become: ['existing 1'],
  },
  {
    name: 'by phone in another form, where the customer has no e-mail',
    contacts: [{ ...ann, ...mail, ...phone }],
    customers: [asCustomer('A. Lee', { phone_number })],
    become: ['existing 1'],
  },
  {
    name: 'by phone, where the contact has no e-mail',
    contacts: [{ ...ann, ...phone }],
    customers: [asCustomer('A. Lee', { ...mail, phone_number })],
    become: ['existing 1'],
  },
  {
    name: 'not by phone, where both have e-mails and these differ',
    contacts: [{ ...ann, ...mail, ...phone }],
    customers: [asCustomer('Ann Lee', { email: 'other@example.com', phone_number })],
    become: ['created new'],
  },
  {
    name: 'by name and organization, where the contact has neither e-mail nor phone',
    contacts: [{ ...ann, organization: ' lee  & CO' }],
    customers: [asCustomer('ANN LEE', { ...mail, organization: 'Lee & Co' })],
    become: ['existing 1'],
  },
  {
    name: 'not by name alone, where the organizations differ',
    contacts: [{ ...ann, organization: 'Lee & Co' }],
    customers: [asCustomer('Ann Lee')],
    become: ['created new'],
  },
  {
    name: 'not by name, where the contact has an e-mail',
    contacts: [{ ...ann, ...mail }],
    customers: [asCustomer('Ann Lee')],
    become: ['created new'],
  },
  {
    name: 'a phone that two contacts share proves nothing, though one of them has its customer by e-mail',
    contacts: [
      { ...ann, ...phone },
      { ...ben, ...mail, ...phone },
    ],
    customers: [asCustomer('Lee', { ...mail, phone_number }), asCustomer('Lee', { phone_number })],
    become: ['review AMBIGUOUS_MATCH 2', 'existing 1'],
  },
  {
    name: 'two customers of one e-mail are for a person',
    contacts: [{ ...ann, ...mail }],
    customers: [asCustomer('A', mail), asCustomer('B', mail)],
    become: ['review AMBIGUOUS_MATCH 1, 2'],
  },
  {
    name: 'of two customers of one e-mail, the one of the same name',
    contacts: [{ ...ann, ...mail }],
    customers: [asCustomer('A', mail), asCustomer('ann LEE', mail)],
    become: ['existing 2'],
  },
  {
    name: 'not by e-mail and name, if another customer of that e-mail has the phone',
    contacts: [{ ...ann, ...mail, ...phone }],
    customers: [asCustomer('A', { ...mail, phone_number }), asCustomer('Ann Lee', mail)],
    become: ['review AMBIGUOUS_MATCH 2, 1'],
  },
  {
    name: 'two contacts of one mailbox and one customer are for a person',
    contacts: [
      { ...ann, ...mail },
      { ...ben, ...mail },
    ],
    customers: [asCustomer('Lee', mail)],
    become: ['review AMBIGUOUS_MATCH 1', 'review AMBIGUOUS_MATCH 1'],
  },
  {
    name: 'of two contacts of one mailbox, the one of the customer’s name; the other is a new one',
    contacts: [
      { ...ann, ...mail },
      { ...ben, ...mail },
    ],
    customers: [asCustomer('Ben Lee', mail)],
    become: ['created new', 'existing 1'],
  },
  {
    name: 'a family’s mailbox, with customers of the same names, one to one',
    contacts: [
      { ...ann, ...mail },
      { ...ben, ...mail },
      { first_name: 'Cy', last_name: 'Lee', ...mail },
    ],
    customers: [asCustomer('Cy Lee', mail), asCustomer('Ann Lee', mail), asCustomer('Ben Lee', mail)],
    become: ['existing 2', 'existing 3', 'existing 1'],
  },
  {
    name: 'a shared mailbox without customers: each contact is imported once',
    contacts: [
      { ...ann, ...mail },
      { ...ben, ...mail },
      { ...ben, ...mail },
    ],
    customers: [],
    become: ['created new', 'created new', 'created new'],
  },
  {
    name: 'a contact without e-mail, phone and name is never sent',
    contacts: [{ email: 'no address', phone: 'ext. 12', organization: 'Lee & Co' }, ann],
    customers: [],
    become: ['review NO_KEY', 'created new'],
  },
];

describe('a contact’s customer is found', () => {
  test.each(cases)('$name', async ({ contacts, customers, become }) => {
    await harness.addContacts(contacts);
    await harness.addCustomers(customers);
    const run = await harness.runSync();
    expect([run.status, run.error]).toEqual(['done', undefined]);
    expect(await fates(run)).toEqual(become);
    const made = become.filter((fate) => fate === 'created new').length;
    expect(await harness.customers()).toHaveLength(customers.length + made);
    expect((await harness.counts(run)).in).toBe(contacts.length);
    const again = await harness.runSync();
    const isSettled = (fate: string) => fate.startsWith('existing') || fate.startsWith('created');
    expect(await fates(again)).toEqual(become.map((fate) => (isSettled(fate) ? 'unchanged' : fate)));
    expect(await harness.customers()).toHaveLength(customers.length + made);
  });

  test('a second run writes nothing and says the same of what is for a person', async () => {
    await harness.addContacts(cases.flatMap(({ contacts }) => contacts));
    const first = await harness.runSync();
    const { review, created, ...others } = await harness.counts(first);
    expect([review, created, others.in]).toEqual([1, others.in - 1, others.in]);
    harness.service.traffic.reset();
    const second = await harness.runSync();
    expect(await harness.counts(second)).toMatchObject({ in: others.in, unchanged: created, review });
    // As many customers as a page has: the one after the highest id is looked up.
    const calls = ['contacts.getall', 'customers.getall', 'customers.get'];
    expect([...harness.service.traffic.counts().byOperation.keys()]).toEqual(calls);
  });
});

/** What became of each contact, in the order of their ids, which are 1, 2, …; one without a row has not changed. */
async function fates(run: Awaited<ReturnType<ContactsHarness['runSync']>>): Promise<readonly string[]> {
  const rows = new Map((await harness.rows(run)).map((row) => [row.sourceId, row]));
  return Array.from({ length: (await harness.counts(run)).in }, (_, i) => {
    const row = rows.get(String(i + 1));
    return row ? fateOf(row) : 'unchanged';
  });
}

function fateOf({ verdict, reason, facts, recordId }: WordedRow): string {
  if (verdict === 'created') return recordId === null ? 'created unlinked' : 'created new';
  if (verdict === 'existing') return `existing ${recordId}`;
  const customers = Array.isArray(facts?.customers) ? facts.customers.join(', ') : '';
  return [verdict, reason, customers].filter(Boolean).join(' ');
}
