/** Records that people edit after a run has read its lists: an update changes what it has to, and undoes no edit. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ContactsHarness, openContactsHarness } from '../support/harness/contacts.ts';
import { type BookHarness, openBookHarness } from '../support/harness/order-book.ts';
import { csvOf } from '../support/harness/orders.ts';
import { startTinyService, type TinyService } from '../support/tiny-service.ts';

/** So that every list is old when its updates are sent. */
const SETTLE_MS = 1;

describe('a customer', () => {
  let harness: ContactsHarness;
  let tiny: TinyService;
  beforeAll(async () => {
    tiny = await startTinyService();
    const account = `budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: ${SETTLE_MS}ms }`;
    harness = await openContactsHarness({ account, serviceUrl: tiny.url });
  });
  afterAll(async () => {
    await harness?.close();
    await tiny?.close();
  });

  test.each([
    [
      'keeps what a person has edited, added and emptied',
      true,
      { gender: 'f', organization: 'Lee & Co', phone_number: '' },
    ],
    [
      'of a service that cannot be asked is sent as the list showed it',
      false,
      { gender: 'm', phone_number: '+49 30 5550000' },
    ],
  ])('%s since the list was read', async (_, hasGets, kept) => {
    await harness.reset();
    const customer = { full_name: 'Ann Lee', email: 'ann@example.com', gender: 'm', phone_number: '+49 30 5550000' };
    let isEdited = true;
    const service = tiny.begin({
      contacts: [{ first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com', phone: '+49 30 5550000' }],
      customers: [customer],
      hasGets,
      onList(path) {
        if (!path.includes('customers')) return undefined;
        const body = JSON.stringify({ status: 'success', content: service.customers, message: 'OK' });
        if (!isEdited)
          Object.assign(service.customers[0] ?? {}, { gender: 'f', organization: 'Lee & Co', phone_number: '' });
        isEdited = true;
        return { body };
      },
    });
    await harness.runSync();
    Object.assign(service.contacts[0] ?? {}, { last_name: 'Og' });
    isEdited = false;
    expect(await harness.tally(await harness.runSync())).toEqual({ in: 1, updated: 1 });
    expect(service.customers).toEqual([{ id: 1, full_name: 'Ann Og', email: 'ann@example.com', ...kept }]);
  });

  test('keeps what a person has added and the contact never had, and loses what the contact has lost', async () => {
    await harness.reset();
    const service = tiny.begin({
      contacts: [{ first_name: 'Ann', email: 'ann@example.com', organization: 'Lee & Co' }],
    });
    await harness.runSync();
    Object.assign(service.customers[0] ?? {}, { phone_number: '+49 30 5550000' });
    Object.assign(service.contacts[0] ?? {}, { first_name: 'Anna', organization: '' });
    expect(await harness.tally(await harness.runSync())).toEqual({ in: 1, updated: 1 });
    const changed = { full_name: 'Anna', organization: '' };
    expect(service.customers).toEqual([
      { id: 1, email: 'ann@example.com', phone_number: '+49 30 5550000', ...changed },
    ]);
  });
});

describe('a contact that people rename', () => {
  let harness: ContactsHarness;
  let tiny: TinyService;
  beforeAll(async () => {
    tiny = await startTinyService();
    const account = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: 200ms }';
    harness = await openContactsHarness({ account, serviceUrl: tiny.url });
  });
  afterAll(async () => {
    await harness?.close();
    await tiny?.close();
  });

  test.each([
    ['phones', false],
    ['phones and names', true],
  ])('stays the person of its customer where the service shows %s in a form of its own', async (_, isCut) => {
    await harness.reset();
    const shown = (customer: Record<string, unknown>) => ({
      ...customer,
      phone_number: String(customer.phone_number).replace('+49 ', '0'),
      full_name: String(customer.full_name).slice(0, isCut ? 5 : undefined),
    });
    const service = tiny.begin({
      contacts: [{ first_name: 'Ann', last_name: 'Lee', phone: '+49 30 5550000' }],
      onImport(contact) {
        service.add({ full_name: 'Ann Lee', phone_number: contact.phone, contact_id: contact.id });
        return { body: '' };
      },
      onList: (path) =>
        path.includes('customers')
          ? { body: { status: 'success', content: service.customers.map(shown), message: 'OK' } }
          : undefined,
    });
    const sync = async () => harness.tally(await harness.runSync());
    expect(await sync()).toEqual({ in: 1, created: 1 });
    Object.assign(service.contacts[0] ?? {}, { first_name: 'Anja', last_name: 'Og' });
    expect(await sync()).toEqual({ in: 1, updated: 1 });
    expect(service.customers).toMatchObject([{ full_name: 'Anja Og' }]);
    expect(await sync()).toEqual({ in: 1, unchanged: 1 });
  });
});

describe('an order', () => {
  let harness: BookHarness;
  beforeAll(async () => {
    harness = await openBookHarness({ settleMs: SETTLE_MS });
  });
  afterAll(() => harness?.close());

  test('keeps what a person has edited since the list was read, where updates have to be whole', async () => {
    const { book } = harness;
    let isEditing = true;
    book.begin({
      customers: [{ full_name: 'Ann', email: 'ann@example.com' }],
      updates: 'empty',
      show(record, how) {
        // The first update is read back, while a person edits the order that is updated next.
        if (how === 'get' && isEditing && record.order_id !== undefined && record.amount === 7) {
          isEditing = false;
          for (const order of book.orders)
            if (order.amount === 5) Object.assign(order, { description: 'edited', status: '' });
        }
        return record;
      },
    });
    for (const n of [1, 2])
      book.orders.push({
        id: 10 + n,
        order_id: `O-${n}`,
        client_id: 1,
        amount: 5,
        description: `text ${n}`,
        status: 'new',
      });
    const csv = csvOf('order_id,client_id,amount', ['O-1,1,7', 'O-2,1,7']);
    const run = await harness.load(csv, { existing: 'update' });
    expect((await harness.fates(run)).filter((fate) => fate === 'updated').length).toBeGreaterThan(0);
    const edited = book.orders.filter(({ description }) => description === 'edited');
    expect([book.orders.map(({ amount }) => amount), edited.length]).toEqual([[7, 7], 1]);
  });
});
