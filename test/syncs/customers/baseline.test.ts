import { expect, test } from 'vitest';
import { Baseline } from '../../../src/syncs/customers/baseline.ts';

const ids = Array.from({ length: 5_000 }, (_, i) => `customer ${i}`);

test('contains exactly the ids that were added, also after it was kept and read back', () => {
  const baseline = new Baseline();
  for (const id of [...ids, ...ids]) baseline.add(id);
  const readBack = Baseline.of(baseline.hashes());
  expect(baseline.hashes()).toHaveLength(2 * ids.length);
  for (const one of [baseline, readBack]) {
    expect(ids.every((id) => one.has(id))).toBe(true);
    expect(ids.some((id) => one.has(`new ${id}`))).toBe(false);
  }
});

test('is empty without customers', () => {
  expect(Baseline.of(new Baseline().hashes()).has('1')).toBe(false);
});
