import { expect, test } from 'vitest';
import { parseJson } from '../../../src/client/call/json.ts';
import { mayBeSame, recordKeys } from '../../../src/client/lists/record-keys.ts';

const keysOf = (json: string) => recordKeys('orders', parseJson(json));

test('an order has the same keys whether its customer and its label are long numbers or text', () => {
  const keys = { order: '9007199254740993/90071992547409937' };
  expect(keysOf('{ "client_id": 9007199254740993, "order_id": 90071992547409937 }')).toEqual(keys);
  expect(keysOf('{ "client_id": "9007199254740993", "order_id": " 90071992547409937" }')).toEqual(keys);
});

test('an order may be the same if one answer shows its label as a number', () => {
  const text = keysOf('{ "client_id": 1, "order_id": "0015" }');
  expect(mayBeSame(text, keysOf('{ "client_id": 1, "order_id": 15 }'))).toBe(true);
  expect(mayBeSame(text, keysOf('{ "client_id": 1, "order_id": 150 }'))).toBe(false);
  expect(mayBeSame(text, keysOf('{ "client_id": 2, "order_id": 15 }'))).toBe(false);
});
