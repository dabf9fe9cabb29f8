/** Records of other services, read in the contract's names. */
import { describe, expect, test } from 'vitest';
import { contractRecord, rivalsOf, unreadIn } from '../../../src/client/call/contract-record.ts';
import { autoDialect, dialectSchema, idOf } from '../../../src/client/call/dialect.ts';
import type { JsonObject } from '../../../src/client/call/json.ts';
import type { Kind } from '../../../src/contract/kinds.ts';

const read = (record: JsonObject, kind: Kind = 'orders') => contractRecord(record, kind, autoDialect);
const UUID = '018f2d1e-7a3b-7c11-9f00-1234567890ab';

test('a record in the contract’s names stays the same object', () => {
  const order = { id: 1, order_id: 'A-1', client_id: 17, amount: 12.5, status: 'new', extra: { name: 'x' } };
  expect(read(order)).toBe(order);
});

describe('the customer of an order', () => {
  test.each<[JsonObject, unknown]>([
    [{ clientId: 17 }, 17],
    [{ CustomerID: '17' }, '17'],
    [{ customer: 17 }, 17],
    [{ 'order-customer-id': 17 }, 17],
    [{ client_id: null, customer: { id: 17, name: 'Ann' } }, 17],
    [{ client_id: { id: 17 } }, 17],
    [{ client_id: '/customers/17' }, '17'],
    [{ customer: { customer_id: 17 } }, 17],
    [{ buyer: UUID }, UUID],
    [{ customer: 'https://host/api/customers/17/' }, '17'],
    [{ attributes: { amount: 1 }, relationships: { customer: { data: { type: 'c', id: '17' } } }, id: '1' }, '17'],
    [{ id: 1, _links: { self: { href: '/orders/1' }, customer: { href: '/customers/17' } } }, '17'],
    [{ customer_id: 17, customer: { id: 17 } }, 17],
    [{ client_id: 17, customer_id: 99 }, 17],
    [{ customer_id: 17, customer: 'Ann Lee' }, 17],
    [{ client_id: [17, 'Ann Lee'] }, 17],
    [{ client_id: [17] }, 17],
    [{ customer: [{ id: 17 }] }, 17],
    [{ client_id: { name: 'Ann Lee', value: 17, owner_id: 4 } }, 17],
    [{ client: { data: { id: 17, attributes: { full_name: 'Ann Lee' } } } }, 17],
    [{ _id: 'a1', _source: { order_id: 'A-1', client_id: 17 } }, 17],
    [{ id: '/orders/1', customer: '/customers/17' }, '/customers/17'],
    [{ uid: 'https://host/orders/1', client_id: 'https://host/customers/17' }, 'https://host/customers/17'],
  ])('in %o is %s', (record, customer) => {
    expect(read(record).client_id).toBe(customer);
  });

  test.each<JsonObject>([
    { customer: 'Ann' },
    { customer: { name: 'Ann' } },
    { customer: { label: 'Ann Lee', value: 'Ann' } },
    { customer: [17, 18] },
  ])('is not what %o says', (record) => {
    expect(read(record)).not.toHaveProperty('client_id');
  });

  test.each<JsonObject>([{ customer: null }, { customer: [''] }, { buyer: { id: null } }])('is not in %o', (record) => {
    expect(read(record).client_id).toBeNull();
  });
});

test.each<[JsonObject, readonly string[]]>([
  [{ client_id: [17, 18] }, ['client_id']],
  [{ client_id: null, customer: 'Ann' }, ['customer']],
  [{ client_id: '', customer: {}, buyer: [] }, []],
])('of %o, %o may have a customer that is not read', (record, members) => {
  expect(unreadIn(read(record), 'orders', 'client_id', autoDialect)).toEqual(members);
});

test.each<[JsonObject, readonly string[]]>([
  [{ customer_id: 17, buyer_id: 9 }, ['customer_id', 'buyer_id']],
  [{ customer_id: 17, buyer_id: '17' }, []],
  [{ customer_id: 17, buyer_id: null }, []],
  [{ client_id: 1, customer_id: 17, buyer_id: 9 }, []],
])('the members of %o that could be its customer are %o', (record, rivals) => {
  expect(rivalsOf(record, 'client_id')).toEqual(rivals);
  if (rivals.length > 0) expect(read(record)).not.toHaveProperty('client_id');
});

describe('other fields', () => {
  test.each<[Kind, JsonObject, JsonObject]>([
    ['orders', { reference: 'A-1' }, { order_id: 'A-1' }],
    ['orders', { amount: { amount: '12.50', currency: 'EUR' } }, { amount: '12.50' }],
    ['orders', { Amount: 3, Status: '' }, { amount: 3, status: null }],
    ['contacts', { FirstName: 'Ann', companySize: '1-9' }, { first_name: 'Ann', company_size: '1-9' }],
    ['contacts', { email: '', email_address: 'a@x.test' }, { email: 'a@x.test' }],
    ['contacts', { company: { id: 1, name: 'Acme' } }, { organization: 'Acme' }],
    ['customers', { mobile: '12 34 56' }, { phone_number: '12 34 56' }],
    ['customers', { phones: [{ number: '12 34 56', type: 'home' }] }, { phone_number: '12 34 56' }],
    ['contacts', { emails: ['a@x.test', 'b@x.test'] }, { email: 'a@x.test' }],
    ['tasks', { title: { rendered: 'A' }, description: { text: 'B' } }, { taskName: 'A', description: 'B' }],
    ['orders', { order_id: 'A-1', status: { id: 4, name: 'Paid' } }, { status: 'Paid' }],
    ['contacts', { EMAIL: [{ VALUE_TYPE: 'WORK', VALUE: 'a@x.test' }] }, { email: 'a@x.test' }],
    ['contacts', { email: [{ value: '', is_primary: true }, { value: 'b@x.test' }] }, { email: 'b@x.test' }],
    ['contacts', { name: { First: 'Ann', Last: 'Lee', id: 3 } }, { first_name: 'Ann', last_name: 'Lee' }],
    ['contacts', { first: 'Ann', last: 'Lee', name: null }, { first_name: 'Ann', last_name: 'Lee' }],
    [
      'contacts',
      { data: { fullName: { givenName: 'Ann', family_name: 'Lee' } } },
      { first_name: 'Ann', last_name: 'Lee' },
    ],
    ['customers', { name: { formatted: 'Ann Lee' }, mail: 'a@x.test' }, { full_name: 'Ann Lee', email: 'a@x.test' }],
    ['contacts', { id: '7', archived: false, properties: { firstname: 'Ann' } }, { first_name: 'Ann' }],
    ['tasks', { Subject: 'Call', IsClosed: true }, { taskName: 'Call', isCompleted: true }],
    ['tasks', { TaskName: 'Call', due_date: '2026-11-02' }, { taskName: 'Call', endDate: '2026-11-02' }],
    ['subtasks', { title: 'Call', Done: 'N' }, { item_name: 'Call', isCompleted: 'N' }],
  ])('of %s: %o has %o', (kind, record, fields) => {
    expect(read(record, kind)).toMatchObject(fields);
  });

  test('of a record inside another object, which has nothing else, are its own', () => {
    expect(read({ order: { id: 3, orderId: 'A-1' } })).toMatchObject({ id: 3, order_id: 'A-1' });
    expect(read({ id: 3, order_id: 'A-1', data: { amount: 5 } })).not.toHaveProperty('amount');
  });

  test('of a record without an id: the id is in its own link', () => {
    expect(read({ _links: { self: { href: 'http://host/orders/17' } } })).toMatchObject({ id: '17' });
    expect(read({ uuid: UUID, _links: { self: { href: '/orders/17' } } })).not.toHaveProperty('id');
  });
});

test('a label is not an id, whatever the record calls it', () => {
  expect(idOf(read({ orderId: 'A-1' }), 'orders', autoDialect)).toBeUndefined();
  expect(idOf(read({ order_id: 'A-1', orderId: 7 }), 'orders', autoDialect)).toBe('7');
});

test('a member that the settings name is the field, and no other is', () => {
  const members = { orders: { client_id: 'buyer.key', order_id: 'attributes.nr' } };
  const dialect = dialectSchema.parse({ members });
  const order = (record: JsonObject) => contractRecord(record, 'orders', dialect);
  expect(order({ client_id: 1, buyer: { key: 'K-17' }, attributes: { nr: 'A-1' }, order_id: 9 })).toMatchObject({
    client_id: 'K-17',
    order_id: 'A-1',
  });
  expect(order({ client_id: 1, order_id: 9 })).toMatchObject({ client_id: null, order_id: null });
  expect(() => dialectSchema.parse({ members: { orders: { customer: 'x' } } })).toThrow('customer');
});
