import { expect, test } from 'vitest';
import { SeenIds } from '../../../src/client/lists/seen-ids.ts';

test('tells hundreds of thousands of ids apart from each other and from unseen ones', () => {
  const seen = new SeenIds();
  const ids = Array.from({ length: 100_000 }, (_, n) => `${9_007_199_254_740_993n + BigInt(n)}`);
  expect(ids.filter((id) => seen.note(id, 1).lastPass !== undefined)).toEqual([]);
  expect([seen.size, ids.every((id) => seen.has(id)), seen.has('9007199254740992')]).toEqual([100_000, true, false]);
  expect(ids.filter((id) => seen.note(id, 2).lastPass !== 1)).toEqual([]);
  expect(seen.size).toBe(100_000);
});

test('tells where an id had other content in the same pass, but not in another pass', () => {
  const seen = new SeenIds();
  expect(seen.note('a', 1, 'x', 5)).toEqual({ lastPass: undefined, otherwiseAt: undefined });
  expect(seen.note('a', 1, 'x', 6)).toEqual({ lastPass: 1, otherwiseAt: undefined });
  expect(seen.note('a', 1, 'y', 7)).toEqual({ lastPass: 1, otherwiseAt: 6 });
  expect(seen.note('a', 2, 'y', 8)).toEqual({ lastPass: 1, otherwiseAt: undefined });
});
