import { expect, test } from 'vitest';
import { closest } from '../../src/base/closest.ts';

test.each([
  ['dmeo', ['demo', 'other'], 'demo'],
  ['time_out', ['timeout'], 'timeout'],
  ['is', ['id', 'url'], 'id'],
  ['x', ['h', 'd'], undefined],
  ['', ['h'], undefined],
  ['kind', ['file'], undefined],
])('%s among %j: %s', (word, candidates, meant) => {
  expect(closest(word, candidates)).toBe(meant);
});
