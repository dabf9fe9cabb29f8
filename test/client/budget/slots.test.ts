import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SlotAsk } from '../../../src/client/budget/budget.ts';
import { allot, type Holder, SLOTS_EXPIRE_US } from '../../support/budget-oracle.ts';

/** The store's knowledge, and processes that ask as their leases do: with what they hold, and no more in flight. */
class Shared {
  nowUs = 0;
  holders: readonly Holder[] = [];
  readonly limits = new Map<string, number>();
  #seq = 0;

  ask(holder: string, wanted: number, cap: number): number {
    const holding = Math.min(this.limits.get(holder) ?? 0, wanted);
    const ask: SlotAsk = { holder, seq: ++this.#seq, holding, wanted, cap, extra: 0 };
    const { holders, slots } = allot(this.holders, ask, this.nowUs);
    this.holders = holders;
    this.limits.set(holder, slots);
    return slots;
  }
}

test('the allotments together never exceed the cap, for all processes, amounts and times', () => {
  const step = fc.record({
    holder: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    wanted: fc.integer({ min: 0, max: 20 }),
    afterS: fc.constantFrom(0, 0.2, 5),
    dies: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.array(step, { maxLength: 80 }), (cap, steps) => {
      const shared = new Shared();
      const heardAtUs = new Map<string, number>();
      for (const { holder, wanted, afterS, dies } of steps) {
        shared.nowUs += afterS * 1e6;
        for (const [other, atUs] of heardAtUs) {
          if (shared.nowUs - atUs >= SLOTS_EXPIRE_US) shared.limits.delete(other); // without an answer it starts no call either
        }
        if (dies) shared.limits.delete(holder);
        else shared.ask(holder, wanted, cap);
        heardAtUs.set(holder, shared.nowUs);
        const all = [...shared.limits.values()].reduce((sum, limit) => sum + limit, 0);
        expect(all).toBeLessThanOrEqual(cap);
      }
    }),
    { numRuns: 500 },
  );
});

test.each([
  [16, 1],
  [16, 4],
  [16, 5],
  [4, 4],
])('of %d slots each of %d processes that want them all has its equal share after two rounds', (cap, processes) => {
  const shared = new Shared();
  const names = Array.from({ length: processes }, (_, index) => `p${index}`);
  for (let round = 0; round < 3; round++) for (const name of names) shared.ask(name, 100, cap);
  for (const name of names) expect(shared.limits.get(name)).toBeGreaterThanOrEqual(Math.floor(cap / processes));
});

test('processes that outnumber the slots take turns, and none waits forever', () => {
  const shared = new Shared();
  const served = new Map<string, number>();
  for (let round = 0; round < 60; round++) {
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      shared.nowUs += 100_000;
      shared.limits.set(name, 0); // its call has ended
      const slots = shared.ask(name, 3, 2);
      served.set(name, (served.get(name) ?? 0) + slots);
    }
  }
  for (const name of ['a', 'b', 'c', 'd', 'e']) expect(served.get(name)).toBeGreaterThan(10);
});

test('the store never takes slots that a process still holds', () => {
  const shared = new Shared();
  shared.ask('a', 10, 10);
  expect(shared.ask('b', 10, 10)).toBe(0);
  expect(shared.ask('a', 10, 10)).toBe(5);
  expect(shared.holders.find(({ holder }) => holder === 'a')?.slots).toBe(10);
  expect(shared.ask('a', 10, 10)).toBe(5);
  expect(shared.ask('b', 10, 10)).toBe(5);
});

test('slots of a silent process are free after 15 s', () => {
  const shared = new Shared();
  shared.ask('dead', 10, 10);
  shared.nowUs += SLOTS_EXPIRE_US - 1;
  expect(shared.ask('b', 10, 10)).toBe(0);
  shared.nowUs += 1;
  expect(shared.ask('b', 10, 10)).toBe(10);
});

test('an ask that arrives after a later one changes nothing', () => {
  const late: SlotAsk = { holder: 'a', seq: 1, holding: 0, wanted: 1, cap: 10, extra: 0 };
  const { holders } = allot([], { ...late, seq: 2, wanted: 8 }, 0);
  expect(allot(holders, late, 1)).toEqual({ holders, slots: 0 });
});
