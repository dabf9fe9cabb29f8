/** Where a row has the value of a field. */
import { expect, test } from 'vitest';
import { cellFrom } from '../../src/csv/cell-source.ts';

test.each([
  ['="00123"', '00123'],
  [' ="00123" ', '00123'],
  ['="a ""b"""', 'a "b"'],
  ['=""', ''],
  ['="a"&"b"', '="a"&"b"'],
  ['=A1', '=A1'],
])('reads %j as %j: a formula that is only a text is that text', (cell, value) => {
  expect(cellFrom([cell], { index: 0 })).toBe(value);
});
