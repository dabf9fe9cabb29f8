import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SlotAsk } from '../../../src/client/budget/budget.ts';
import { SlotLease } from '../../../src/client/budget/slot-lease.ts';
import { allot, type Holder } from '../../support/budget-oracle.ts';

const CAP = 4;

/** A process and its asks: `asked` are not decided yet, `decided` are not answered yet. */
class Process {
  readonly lease = new SlotLease(CAP);
  inFlight = 0;
  asked: SlotAsk[] = [];
  decided: { readonly ask: SlotAsk; readonly slots: number }[] = [];
}

test('calls in flight never exceed the cap, however asks and answers are delayed, lost or reordered', () => {
  const step = fc.record({
    index: fc.integer({ min: 0, max: 2 }),
    act: fc.constantFrom(
      'start',
      'start',
      'start',
      'end',
      'ask',
      'ask',
      'arrive',
      'arrive',
      'answer',
      'answer',
      'lose',
    ),
    waiting: fc.integer({ min: 0, max: 4 }),
    afterMs: fc.constantFrom(0, 1, 60),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const processes = [new Process(), new Process(), new Process()];
      let holders: readonly Holder[] = [];
      let nowMs = 0;
      for (const { index, act, waiting, afterMs } of steps) {
        nowMs += afterMs; // in total less than the time after which a process is forgotten
        const process = processes[index] ?? new Process();
        const load = { inFlight: process.inFlight, waiting };
        process.lease.see(load, nowMs);
        if (act === 'start' && process.lease.room(process.inFlight) > 0) process.inFlight++;
        if (act === 'end' && process.inFlight > 0) process.inFlight--;
        const ask = act === 'ask' ? process.lease.ask(load, 0, nowMs) : undefined;
        if (ask) process.asked.push(ask);
        const arriving = act === 'arrive' ? process.asked.pop() : undefined; // the newest overtakes
        if (arriving) {
          const allotted = allot(holders, arriving, nowMs * 1000);
          holders = allotted.holders;
          process.decided.push({ ask: arriving, slots: allotted.slots });
        }
        const answered = act === 'answer' ? process.decided.shift() : undefined;
        // An answer after the time limit is ignored: its ask has already failed.
        if (answered && isUnderWay(process, answered.ask)) process.lease.heard(answered.ask, answered.slots, nowMs);
        if (act === 'lose') lose(process);
        expect(processes.reduce((sum, { inFlight }) => sum + inFlight, 0)).toBeLessThanOrEqual(CAP);
      }
    }),
    { numRuns: 3000 },
  );
});

const underWay = new WeakMap<Process, Set<SlotAsk>>();

/** Lost asks may still arrive at the store; their answers are ignored. */
function lose(process: Process): void {
  const lost = underWay.get(process) ?? new Set();
  underWay.set(process, lost);
  for (const ask of [...process.asked, ...process.decided.map(({ ask }) => ask)]) lost.add(ask);
  process.lease.failed();
}

function isUnderWay(process: Process, ask: SlotAsk): boolean {
  return underWay.get(process)?.has(ask) !== true;
}

test('sends one ask for slots at a time', () => {
  const lease = new SlotLease(CAP);
  const first = lease.ask({ inFlight: 0, waiting: 2 }, 2, 0);
  expect(first).toMatchObject({ holding: 0, wanted: 2, extra: 2 });
  expect(lease.ask({ inFlight: 0, waiting: 2 }, 2, 1)).toBeUndefined();
  if (first) lease.heard(first, 2, 2);
  expect(lease.ask({ inFlight: 1, waiting: 3 }, 0, 3)).toMatchObject({ holding: 2, wanted: 4 });
});
