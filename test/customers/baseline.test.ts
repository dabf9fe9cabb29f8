import { expect, test } from 'vitest';
import { Baseline } from '../../src/customers/baseline.ts';

const ids = Array.from({ length: 5_000 }, (_, i) => `customer ${i}`);

test('knows the ids that were added, and no others, also after it was kept and read back', () => {
  const baseline = new Baseline();
  for (const id of [...ids, ...ids]) baseline.add(id);
  const readBack = Baseline.of(baseline.hashes());
  expect(baseline.hashes()).toHaveLength(2 * ids.length);
  for (const one of [baseline, readBack]) {
    expect(ids.every((id) => one.has(id))).toBe(true);
    expect(ids.some((id) => one.has(`new ${id}`))).toBe(false);
  }
});

test('of no customers knows none', () => {
  expect(Baseline.of(new Baseline().hashes()).has('1')).toBe(false);
});
