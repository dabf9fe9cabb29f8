import { expect, test } from 'vitest';
import { KeyFilter } from '../../../src/client/lists/key-filter.ts';

test('finds every text that was added, and few others', () => {
  const filter = new KeyFilter();
  const texts = Array.from({ length: 100_000 }, (_, i) => `email ${i}@example.com`);
  for (const text of texts) filter.add(text);
  expect(texts.every((text) => filter.has(text))).toBe(true);
  expect(texts.filter((text) => filter.has(`other ${text}`)).length).toBeLessThan(texts.length / 1_000);
});
