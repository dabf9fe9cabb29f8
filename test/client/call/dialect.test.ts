import { expect, test } from 'vitest';
import {
  amountOf,
  autoDialect,
  dialectSchema,
  dialectSetting,
  flagOf,
  idOf,
  importBody,
  toWireId,
} from '../../../src/client/call/dialect.ts';
import { kindOf } from '../../../src/contract/kinds.ts';
import { operationNames } from '../../../src/contract/operations.ts';

const ids: [value: unknown, id: string | undefined][] = [
  [7, '7'],
  ['7', '7'],
  [' 7 ', '7'],
  ['007', '007'],
  ['c0ffee-1', 'c0ffee-1'],
  [Number.MAX_SAFE_INTEGER, '9007199254740991'],
  [2 ** 53, undefined],
  [7.5, undefined],
  ['', undefined],
  [' ', undefined],
  ['A\u00001', undefined],
  ['A\ud83d', undefined],
  [null, undefined],
  [true, undefined],
  [{ $oid: '7' }, undefined],
  [['7'], undefined],
];
test.each(ids)('the id %j is %j', (id, expected) => {
  expect(idOf({ id }, 'contacts', autoDialect)).toBe(expected);
});

test('finds an id under the usual names of each kind, the most certain first', () => {
  expect(idOf({ contact_id: 3 }, 'contacts', autoDialect)).toBe('3');
  expect(idOf({ contact_id: 3, customer_id: 4 }, 'customers', autoDialect)).toBe('4');
  expect(idOf({ contact_id: 3 }, 'customers', autoDialect)).toBeUndefined();
  expect(idOf({ client_id: 5 }, 'customers', autoDialect)).toBe('5');
  expect(idOf({ pk: 6, order_id: 'A-1' }, 'orders', autoDialect)).toBe('6');
  expect(idOf({ client_id: 5 }, 'orders', autoDialect)).toBeUndefined();
  expect(idOf({ id: 1, order_id: 'A-1' }, 'orders', autoDialect)).toBe('1');
  expect(idOf({ task_id: 9 }, 'subtasks', autoDialect)).toBeUndefined();
});

test('compares names of ids without case, and the first match decides', () => {
  expect(idOf({ Id: 3 }, 'contacts', autoDialect)).toBe('3');
  expect(idOf({ CustomerId: 4, Id: 5 }, 'customers', autoDialect)).toBe('5');
  expect(idOf({ CUSTOMER_ID: 4 }, 'customers', autoDialect)).toBe('4');
  expect(idOf({ id: null, _id: 'x1' }, 'tasks', autoDialect)).toBeUndefined();
});

test('never takes an order’s label for its id', () => {
  expect(idOf({ order_id: 'A-1' }, 'orders', autoDialect)).toBeUndefined();
  expect(idOf({ OrderId: 'A-1', Nr: 7 }, 'orders', autoDialect)).toBeUndefined();
  expect(idOf({ id: null, order_id: 'A-1' }, 'orders', autoDialect)).toBeUndefined();
  expect(idOf({ orderId: 7, order_id: 'A-1' }, 'orders', autoDialect)).toBe('7');
});

test('looks only at an explicit id field', () => {
  const dialect = dialectSchema.parse({ idField: { contacts: 'nr' } });
  expect(idOf({ id: 1, nr: 2 }, 'contacts', dialect)).toBe('2');
  expect(idOf({ id: 1 }, 'contacts', dialect)).toBeUndefined();
  expect(idOf({ id: 1 }, 'tasks', dialect)).toBe('1');
});

test('names that every object inherits are not ids', () => {
  const dialect = dialectSchema.parse({ idField: { contacts: 'constructor' } });
  expect(idOf({}, 'contacts', dialect)).toBeUndefined();
});

test('sends an id back as a number only if that number is written the same way', () => {
  expect(['7', '0', '007', 'a7', '-7', '9007199254740993', '7.0'].map(toWireId)).toEqual([
    7,
    0,
    '007',
    'a7',
    '-7',
    '9007199254740993',
    '7.0',
  ]);
});

test('the body of an import follows the template', () => {
  expect(importBody(autoDialect, '17')).toEqual({ contact_id: 17 });
  const dialect = dialectSchema.parse({
    importBody: { ids: ['$id'], client: { name: '$contact.first_name', vat: '$contact.vat' }, force: true },
  });
  const body = { ids: ['c-1'], client: { name: 'Ada', vat: null }, force: true };
  expect(importBody(dialect, 'c-1', { first_name: 'Ada' })).toEqual(body);
});

test('settings may say auto, or name a part', () => {
  expect(dialectSetting.parse('auto')).toEqual(autoDialect);
  const dialect = dialectSetting.parse({ listPath: { tasks: 'data.rows' }, firstTaskPage: 1, completeMethod: 'GET' });
  expect(dialect).toEqual({
    ...autoDialect,
    listPath: { ...autoDialect.listPath, tasks: 'data.rows' },
    firstTaskPage: 1,
    completeMethod: 'GET',
  });
});

test('refuses settings with an unknown word', () => {
  for (const wrong of [{ listpath: {} }, { listPath: { clients: 'x' } }, { firstTaskPage: 2 }, { pageParam: 'a b' }]) {
    expect(dialectSetting.safeParse(wrong).success).toBe(false);
  }
});

test('reads flags in the forms that services send', () => {
  expect([true, 1, '1', '1.00', 'true', 'TRUE ', 'yes'].map(flagOf)).toEqual(Array(7).fill(true));
  expect([false, 0, '0', '0.0', 'false', 'No'].map(flagOf)).toEqual(Array(6).fill(false));
  expect([null, undefined, 2, '', '1.5', '10', 'done', {}].map(flagOf)).toEqual(Array(8).fill(undefined));
});

test('equal amounts have one spelling', () => {
  const amounts = [12.5, '12,5', '12.50', ' 012.5 ', '+12.5', 0, '-0.00', '100', '1000.10', -3.25, '0.1'].map(amountOf);
  expect(amounts).toEqual(['12.5', '12.5', '12.5', '12.5', '12.5', '0', '0', '100', '1000.1', '-3.25', '0.1']);
  expect([null, '', 'n/a', '1,500', Number.NaN, '1e3'].map(amountOf)).toEqual(Array(6).fill(undefined));
});

test('amounts are read without their currency and the grouping of their digits, unless they could be two numbers', () => {
  const same = [
    '1,234.50',
    '1.234,50 €',
    '€1,234.5',
    '$ 1,234.50',
    '1234.50 EUR',
    'CHF 1’234.50',
    '1 234,50',
    '1234,5',
  ];
  expect(same.map(amountOf)).toEqual(Array(same.length).fill('1234.5'));
  const whole = ['1,234,567', '1.234.567', '1 234 567', '1.234.567,00 kr', '-$1,234,567.00', 'USD -1234567'];
  expect(whole.map(amountOf)).toEqual(['1234567', '1234567', '1234567', '1234567', '-1234567', '-1234567']);
  const unread = ['1,500', '€1,500', '12,34.5', '1.23.4', '12 34', 'EUR', '1,234,56', '5 XXXX'];
  expect(unread.map(amountOf)).toEqual(Array(unread.length).fill(undefined));
});

test('every operation belongs to a kind', () => {
  expect(new Set(operationNames.map(kindOf)).size).toBe(6);
});
