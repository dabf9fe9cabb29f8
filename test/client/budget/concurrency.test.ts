import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { BudgetLimits, BudgetStore } from '../../../src/client/budget/budget.ts';
import { createBudget } from '../../../src/client/budget/key-budget.ts';
import type { ProcessName } from '../../../src/client/budget/slot-lease.ts';
import { openBudget, permit, useFakeClock } from './fake-clock.ts';
import { refusals } from './service-bucket.ts';
import { SimulatedStore } from './simulated-store.ts';
import { startTraffic } from './simulated-traffic.ts';

useFakeClock();

const PLENTY: BudgetLimits = { ratePerSecond: 5000, burst: 500, concurrency: 4 };

/** A process: its budget, its calls in flight, and its connection to the store, which ends when the process is killed. */
class Process {
  inFlight = 0;
  isAlive = true;
  readonly #budget;

  constructor(shared: SimulatedStore, limits: BudgetLimits, process?: ProcessName) {
    const whileAlive = <T>(ask: () => Promise<T>): Promise<T> => (this.isAlive ? ask() : new Promise(() => undefined));
    const store: BudgetStore = {
      name: shared.name,
      remedy: shared.remedy,
      acquire: (key, request) => whileAlive(() => shared.acquire(key, request)),
      block: (key, forMs) => whileAlive(() => shared.block(key, forMs)),
      limited: (key, congestion) => whileAlive(() => shared.limited(key, congestion)),
      holders: () => whileAlive(() => shared.holders()),
      forget: (key, holder) => whileAlive(() => shared.forget(key, holder)),
      retry: (key, successes) => whileAlive(() => shared.retry(key, successes)),
    };
    this.#budget = createBudget({ key: 'demo', limits, store, ...(process && { process }) });
  }

  call(forMs: number, onStart: () => void): void {
    const calling = async () => {
      const taken = await this.#budget.take({ lane: 'batch' });
      if (taken.status !== 'taken' || !this.isAlive) return;
      this.inFlight++;
      onStart();
      await new Promise((resolve) => setTimeout(resolve, forMs));
      this.inFlight--;
      taken.permit.release();
    };
    void calling().catch(() => undefined);
  }

  kill(): void {
    this.isAlive = false;
    this.inFlight = 0;
  }

  async close(): Promise<void> {
    await this.#budget.close();
  }
}

test('calls in flight never exceed the key’s limit, whichever processes start, call and die', async () => {
  const step = fc.record({
    process: fc.integer({ min: 0, max: 4 }),
    calls: fc.integer({ min: 0, max: 8 }),
    callMs: fc.constantFrom(1, 30, 400, 20_000),
    isKilled: fc.constantFrom(false, false, false, true),
    latencyMs: fc.integer({ min: 0, max: 60 }),
    afterMs: fc.constantFrom(0, 10, 100, 700, 6_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      const store = new SimulatedStore();
      const all: Process[] = [];
      const running = new Map<number, Process>();
      let most = 0;
      for (const { process: number, calls, callMs, isKilled, latencyMs, afterMs } of steps) {
        store.latencyMs = latencyMs;
        const known = running.get(number) ?? new Process(store, PLENTY);
        running.set(number, known);
        if (!all.includes(known)) all.push(known);
        const count = () => {
          most = Math.max(
            most,
            all.reduce((sum, { inFlight }) => sum + inFlight, 0),
          );
        };
        for (let call = 0; call < calls; call++) known.call(callMs, count);
        await vi.advanceTimersByTimeAsync(afterMs);
        if (!isKilled) continue;
        known.kill();
        running.delete(number);
      }
      await vi.advanceTimersByTimeAsync(1000);
      expect(most).toBeLessThanOrEqual(PLENTY.concurrency);
      const closing = all.map((each) => each.close());
      await vi.advanceTimersByTimeAsync(60_000);
      await Promise.all(closing);
    }),
    { numRuns: 150 },
  );
});

test('calls that wait because another process died continue after 15 s', async () => {
  const store = new SimulatedStore();
  const [dying, waiting] = [new Process(store, PLENTY), new Process(store, PLENTY)];
  const started: number[] = [];
  for (let call = 0; call < 4; call++) dying.call(60_000, () => undefined);
  await vi.advanceTimersByTimeAsync(100);
  dying.kill();
  for (let call = 0; call < 4; call++) waiting.call(10, () => started.push(performance.now()));
  await vi.advanceTimersByTimeAsync(14_000);
  expect(started).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(started).toHaveLength(4);
  await waiting.close();
});

test('a process keeps its slots during long calls, even when it asks for nothing', async () => {
  const store = new SimulatedStore();
  const [slow, other] = [new Process(store, PLENTY), new Process(store, PLENTY)];
  let started = 0;
  for (let call = 0; call < 4; call++) slow.call(40_000, () => undefined);
  await vi.advanceTimersByTimeAsync(100);
  other.call(10, () => started++);
  await vi.advanceTimersByTimeAsync(39_000);
  expect(started).toBe(0);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(started).toBe(1);
  await Promise.all([slow.close(), other.close()]);
});

test('the slots of a killed process are free as soon as another process on its machine wants them', async () => {
  const store = new SimulatedStore();
  const named = (name: string, dead: readonly string[]) => ({ name, isGone: (other: string) => dead.includes(other) });
  const killed = new Process(store, PLENTY, named('killed', []));
  for (let call = 0; call < 4; call++) killed.call(60_000, () => undefined);
  await vi.advanceTimersByTimeAsync(100);
  killed.kill();
  const next = new Process(store, PLENTY, named('next', ['killed']));
  let started = 0;
  for (let call = 0; call < 4; call++) next.call(10, () => started++);
  await vi.advanceTimersByTimeAsync(500);
  expect(started).toBe(4);
  await next.close();
});

test('a process without callers returns its slots within half a second, and a closed process at once', async () => {
  const { budget, store } = openBudget({ limits: { ...PLENTY, concurrency: 2 } });
  const permits = [await permit(budget), await permit(budget)];
  expect(store.state.holders).toMatchObject([{ slots: 2 }]);
  for (const held of permits) held.release();
  await vi.advanceTimersByTimeAsync(500);
  expect(store.state.holders).toEqual([]);
  (await permit(budget)).release();
  await budget.close();
  expect(store.state.holders).toEqual([]);
});

test.each([
  [4, 4],
  [16, 4],
  [2, 5],
  [1, 2],
])('with %d calls in flight each of %d busy processes gets its share', async (concurrency, processes) => {
  const store = new SimulatedStore();
  store.latencyMs = 4;
  const all = Array.from({ length: processes }, () => new Process(store, { ...PLENTY, concurrency }));
  const calls = all.map(() => 0);
  for (const [index, each] of all.entries()) {
    const again = () =>
      each.call(50, () => {
        calls[index] = (calls[index] ?? 0) + 1;
        setTimeout(again, 50);
      });
    for (let worker = 0; worker < concurrency; worker++) again();
  }
  await vi.advanceTimersByTimeAsync(20_000);
  const total = calls.reduce((sum, count) => sum + count, 0);
  expect(Math.min(...calls)).toBeGreaterThan((0.4 * total) / processes);
  expect(total).toBeGreaterThan((concurrency < processes ? 0.5 : 0.8) * 20 * concurrency * 20);
  const closing = all.map((each) => each.close());
  await vi.advanceTimersByTimeAsync(5000);
  await Promise.all(closing);
});

test('four processes that share the slots use 97% of 200 calls a second, and no call is refused', async () => {
  const limits = { ratePerSecond: 200, burst: 20, concurrency: 16 };
  const traffic = startTraffic({ ...limits, latencyMs: 40 }, limits, { processes: 4, workers: 16 });
  await traffic.run(2000);
  const before = traffic.answers.length;
  await traffic.run(20_000);
  expect(traffic.answers.length - before).toBeGreaterThanOrEqual(0.97 * 20 * 200);
  expect(
    refusals(
      traffic.answers.map(({ atMs }) => atMs),
      200,
      20,
    ),
  ).toBe(0);
  expect(traffic.store.requests.length).toBeLessThan(0.55 * traffic.answers.length);
  await traffic.close();
});
