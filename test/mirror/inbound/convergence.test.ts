/** For all changes of people on both sides and all times at which Lockstep learns of them, both sides end up equal. */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';
import { runs } from '../../support/property-runs.ts';
import { openTwoSides, type Side } from './two-sides.ts';

const database = await freshLedger();
afterAll(() => database.close());

test.each(['service', 'target'] as const)(
  'where the %s has priority, any order of events ends in one state, and nothing is written afterwards',
  async (onConflict) => {
    const orders = fc.array(fc.nat(100_000), { minLength: 5, maxLength: 45 });
    await fc.assert(
      fc.asyncProperty(orders, async (choices) => {
        const world = await openTwoSides(database, onConflict);
        for (const choice of choices) await world.step(choice);
        const before = world.writes();
        await world.comeToRest();
        const { task, issue, receiver } = world.states;
        expect([issue, receiver]).toEqual([task, task]);
        const after = world.writes();
        expect(after - before).toBeLessThanOrEqual(6);
        await world.comeToRest();
        expect(world.writes()).toBe(after);
      }),
      { ...runs(3), endOnFailure: true },
    );
  },
);

test.each<[Side, 'service' | 'target']>([
  ['task', 'service'],
  ['task', 'target'],
  ['issue', 'service'],
  ['issue', 'target'],
  ['receiver', 'service'],
  ['receiver', 'target'],
])(
  'where only the %s is completed or reopened, all follow it, though the %s has the say, texts change and old calls come in',
  async (side, onConflict) => {
    const orders = fc.array(fc.nat(100_000), { minLength: 5, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(orders, orders, async (past, choices) => {
        const world = await openTwoSides(database, onConflict);
        for (const choice of past) await world.step(choice);
        await world.comeToRest();
        await world.lookAtIssue();
        world.toggle(side);
        const wanted = world.states[side];
        for (const choice of choices) {
          // A receiver cannot be read, so a delivery of a text says its state too.
          if (side !== 'receiver' && choice % 7 === 0) world.retitle();
          await world.stepAlone(choice);
        }
        await world.comeToRest();
        expect(world.states).toEqual({ task: wanted, issue: wanted, receiver: wanted });
      }),
      { ...runs(1), endOnFailure: true },
    );
  },
);

test.each(['service', 'target'] as const)(
  'never overrules people who change only the task repeatedly, though the %s has priority',
  async (onConflict) => {
    const orders = fc.array(fc.nat(100_000), { minLength: 10, maxLength: 45 });
    await fc.assert(
      fc.asyncProperty(orders, async (choices) => {
        const world = await openTwoSides(database, onConflict);
        await world.lookAtIssue();
        for (const choice of choices) {
          if (choice % 6 === 0) world.toggle('task');
          else await world.stepAlone(choice);
        }
        const wanted = world.states.task;
        await world.comeToRest();
        expect(world.states).toEqual({ task: wanted, issue: wanted, receiver: wanted });
      }),
      { ...runs(3), endOnFailure: true },
    );
  },
);
