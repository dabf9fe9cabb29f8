import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AcquireRequest, Lane } from '../../../src/client/budget/budget.ts';
import { type BudgetState, decide } from '../../support/budget-oracle.ts';

const START_US = 1.7e15;
const MS = 1000;
const SECOND = 1e6;

/** One key on a clock that the test moves; remembers when each granted call may be made. */
class Key {
  nowUs = START_US;
  state: BudgetState | undefined;
  readonly usableUs: number[] = [];

  ask(request: Partial<AcquireRequest> & Pick<AcquireRequest, 'pace'>) {
    const asked = { lane: 'batch', want: 1, cost: 1, ...request } as const;
    const decision = decide(this.state, asked, this.nowUs);
    this.state = decision.state;
    for (let index = 0; index < decision.granted; index++) {
      const at = this.nowUs + decision.firstInUs + (index * asked.cost * SECOND) / decision.rate;
      this.usableUs.push(Math.max(at, this.nowUs));
    }
    return decision;
  }
}

/** Runs processes that ask when the store tells them to; returns each one's tokens and number of asks. */
function compete(key: Key, pace: AcquireRequest['pace'], lanes: readonly Lane[], forUs: number, want = 1000) {
  const processes = lanes.map((lane) => ({ lane, nextUs: key.nowUs, granted: 0, asked: 0 }));
  const endUs = key.nowUs + forUs;
  for (;;) {
    const process = processes.reduce((first, other) => (other.nextUs < first.nextUs ? other : first));
    if (process.nextUs >= endUs) return processes;
    key.nowUs = Math.max(key.nowUs, process.nextUs);
    const { granted, retryInUs } = key.ask({ lane: process.lane, want, pace });
    process.granted += granted;
    process.asked++;
    process.nextUs = key.nowUs + Math.max(1, retryInUs);
  }
}

const paces = fc.record({
  ratePerSecond: fc.double({ min: 0.2, max: 5000, noNaN: true }),
  burst: fc.double({ min: 1, max: 300, noNaN: true }),
});

test('any window W sees at most rate · W + burst calls, for all callers, amounts and times', () => {
  const steps = fc.array(
    fc.record({
      afterIntervals: fc.double({ min: 0, max: 30, noNaN: true }),
      lane: fc.constantFrom<Lane>('interactive', 'batch'),
      want: fc.integer({ min: 0, max: 40 }),
      cost: fc.constantFrom(1, 1, 1, 2, 5),
      withinMs: fc.option(fc.integer({ min: 0, max: 2000 }), { nil: undefined }),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(paces, steps, (pace, requests) => {
      const key = new Key();
      const made: { atUs: number; cost: number }[] = [];
      for (const { afterIntervals, ...request } of requests) {
        key.nowUs += Math.round((afterIntervals * SECOND) / pace.ratePerSecond);
        const before = key.usableUs.length;
        key.ask({ ...request, pace });
        made.push(...key.usableUs.slice(before).map((atUs) => ({ atUs, cost: request.cost })));
      }
      expectWithin(made, pace.ratePerSecond, Math.max(pace.burst, ...made.map(({ cost }) => cost)));
    }),
  );
});

function expectWithin(made: { atUs: number; cost: number }[], ratePerSecond: number, burst: number): void {
  made.sort((a, b) => a.atUs - b.atUs);
  for (const [from, first] of made.entries()) {
    let cost = 0;
    for (const { atUs, cost: more } of made.slice(from)) {
      cost += more;
      const allowed = ((atUs - first.atUs) * ratePerSecond) / SECOND + burst;
      if (cost > allowed + 0.01) expect.fail(`${cost} calls in ${atUs - first.atUs} µs, ${allowed} allowed`);
    }
  }
}

test('hands out the whole rate while work waits, to any number of processes', () => {
  fc.assert(
    fc.property(paces, fc.integer({ min: 1, max: 8 }), (pace, processes) => {
      const key = new Key();
      const seconds = Math.max(2, 60 / pace.ratePerSecond);
      compete(key, pace, Array<Lane>(processes).fill('batch'), seconds * SECOND);
      const used = key.usableUs.filter((atUs) => atUs <= START_US + seconds * SECOND).length;
      expect(used).toBeGreaterThanOrEqual(Math.floor(seconds * pace.ratePerSecond) - 1);
    }),
    { numRuns: 60 },
  );
});

test.each([
  [10, 5, 1],
  [200, 2, 0.15],
  [2000, 12, 0.02],
])('at %d/s four waiting processes share evenly, and each asks once a turn', (ratePerSecond, burst, callsPerToken) => {
  const key = new Key();
  const result = compete(key, { ratePerSecond, burst }, ['batch', 'batch', 'batch', 'batch'], 20 * SECOND);
  const asked = result.reduce((sum, process) => sum + process.asked, 0);
  const granted = result.map((process) => process.granted);
  expect(asked / key.usableUs.length).toBeLessThanOrEqual(callsPerToken * 1.02);
  expect(Math.min(...granted) / Math.max(...granted)).toBeGreaterThan(0.8);
});

test('reserves a token at most 1 s ahead for interactive and 90 ms for batch callers, and never past their patience', () => {
  const pace = { ratePerSecond: 100, burst: 1 };
  const last = (lane: Lane, withinMs?: number) => {
    const key = new Key();
    for (let round = 0; round < 10; round++) key.ask({ lane, want: 500, pace, withinMs });
    return (Math.max(...key.usableUs) - START_US) / MS;
  };
  expect(last('interactive')).toBe(1000);
  expect(last('batch')).toBe(90);
  expect(last('interactive', 250)).toBe(250);
  expect(last('batch', 0)).toBe(0);
});

test('one answer leases at most 250 ms of the rate', () => {
  const key = new Key();
  key.ask({ want: 0, pace: { ratePerSecond: 1000, burst: 1000 } });
  key.nowUs += 10 * SECOND;
  expect(key.ask({ want: 5000, pace: { ratePerSecond: 1000, burst: 1000 } }).granted).toBe(250);
});

test('an interactive caller waits little more than the batch reservation while batch work takes everything', () => {
  const pace = { ratePerSecond: 100, burst: 1 };
  const key = new Key();
  compete(key, pace, ['batch', 'batch', 'batch'], 5 * SECOND);
  const { granted, firstInUs } = key.ask({ lane: 'interactive', pace });
  expect(granted).toBe(1);
  expect(firstInUs).toBeLessThanOrEqual(100 * MS);
});

test.each([10, 100, 1000])(
  'at %d/s batch work keeps a tenth while interactive work takes all it can',
  (ratePerSecond) => {
    const key = new Key();
    const processes = compete(
      key,
      { ratePerSecond, burst: 2 },
      ['interactive', 'interactive', 'batch', 'batch'],
      60 * SECOND,
    );
    const batch = processes.filter(({ lane }) => lane === 'batch').reduce((sum, { granted }) => sum + granted, 0);
    const share = batch / (60 * ratePerSecond);
    expect(share).toBeGreaterThan(0.09);
    expect(share).toBeLessThan(0.12);
  },
);

test('batch work gets the whole rate soon after interactive work has ended', () => {
  const pace = { ratePerSecond: 100, burst: 2 };
  const key = new Key();
  compete(key, pace, ['interactive', 'interactive', 'batch', 'batch', 'batch', 'batch'], 20 * SECOND);
  const endUs = key.nowUs + 2 * SECOND;
  compete(key, pace, ['batch', 'batch', 'batch', 'batch'], 2 * SECOND);
  const used = key.usableUs.filter((atUs) => atUs > endUs - 2 * SECOND && atUs <= endUs).length;
  expect(used).toBeGreaterThanOrEqual(195);
});

test.each(['interactive', 'batch'] as const)(
  '%s turns whose callers do not return cost the others less than a second, once',
  (lane) => {
    const pace = { ratePerSecond: 100, burst: 2 };
    const key = new Key();
    for (let caller = 0; caller < 200; caller++) key.ask({ lane, want: 50, pace }); // each gets a turn and does not return
    const startUs = key.nowUs;
    compete(key, pace, [lane], 5 * SECOND);
    const used = key.usableUs.filter((atUs) => atUs <= startUs + 5 * SECOND).length;
    expect(used).toBeGreaterThan(4 * 100);
  },
);

test('a key without a state starts at the plain rate, because tokens granted before may still be in use', () => {
  const key = new Key();
  key.ask({ want: 100, pace: { ratePerSecond: 100, burst: 50 } });
  expect(key.usableUs.map((atUs) => (atUs - START_US) / MS)).toEqual([0, 10, 20, 30, 40]);
});

test('the burst is available right after a pause', () => {
  const key = new Key();
  const pace = { ratePerSecond: 100, burst: 20 };
  key.ask({ want: 0, pace });
  key.nowUs += SECOND;
  key.ask({ lane: 'interactive', want: 30, pace, withinMs: 0 });
  expect(key.usableUs.filter((atUs) => atUs === key.nowUs)).toHaveLength(20);
});

test('a blocked key grants nothing, says when to come back, and then starts without a burst', () => {
  const key = new Key();
  const pace = { ratePerSecond: 100, burst: 20 };
  key.ask({ want: 0, pace });
  key.nowUs += SECOND;
  if (key.state) key.state = { ...key.state, blockedUntilUs: key.nowUs + 3 * SECOND };
  expect(key.ask({ pace })).toMatchObject({ granted: 0, retryInUs: 3 * SECOND, blockedForUs: 3 * SECOND });
  key.nowUs += 3 * SECOND;
  expect(key.ask({ want: 3, pace })).toMatchObject({ granted: 3, firstInUs: 0, blockedForUs: 0 });
});

test('a call heavier than the burst is made when the bucket is full', () => {
  const key = new Key();
  const pace = { ratePerSecond: 10, burst: 2 };
  key.ask({ want: 2, pace, withinMs: 0 });
  expect(key.ask({ cost: 5, pace, withinMs: 0 }).granted).toBe(0);
  key.nowUs += SECOND;
  expect(key.ask({ cost: 5, pace, withinMs: 0 }).granted).toBe(1);
});
