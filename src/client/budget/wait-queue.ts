/**
 * The callers that wait for a token, first come first served in each lane, interactive before batch. Every tenth token
 * goes to batch anyway, as in the store, so that constant interactive load does not stop batch work.
 */
import { type Stoppable, stoppablesOf } from '../../base/stoppables.ts';
import { MAX_TIMER_MS } from './alarm.ts';
import { LANES, type Lane, type Taken, type TakeOptions } from './budget.ts';

const BATCH_EVERY = 10;

/** The answer to a caller that has to come back. */
export function comeBackIn(ms: number): Taken {
  return { status: 'wait', retryAfterMs: Math.max(1, Math.ceil(ms)) };
}

export class WaitQueue {
  readonly #lanes: Readonly<Record<Lane, Set<Waiter>>> = { interactive: new Set(), batch: new Set() };
  #sinceBatch = 0;
  #impatient = 0;

  get size(): number {
    return this.#lanes.interactive.size + this.#lanes.batch.size;
  }

  /** Whether any waiter has a deadline. */
  get hasImpatient(): boolean {
    return this.#impatient > 0;
  }

  in(lane: Lane): number {
    return this.#lanes[lane].size;
  }

  add(waiter: Waiter): void {
    this.#lanes[waiter.lane].add(waiter);
    if (waiter.deadlineMs < Number.POSITIVE_INFINITY) this.#impatient++;
  }

  remove(waiter: Waiter): void {
    const wasWaiting = this.#lanes[waiter.lane].delete(waiter);
    if (wasWaiting && waiter.deadlineMs < Number.POSITIVE_INFINITY) this.#impatient--;
  }

  first(lane: Lane): Waiter | undefined {
    for (const waiter of this.#lanes[lane]) return waiter;
    return undefined;
  }

  /** How many of the first `limit` waiters of a lane cost what its first one costs. */
  alike(lane: Lane, limit: number): number {
    const cost = this.first(lane)?.cost;
    let count = 0;
    for (const waiter of this.#lanes[lane]) {
      if (count >= limit || waiter.cost !== cost) break;
      count++;
    }
    return count;
  }

  /** The latest deadline in the lane. */
  patienceMs(lane: Lane): number {
    let latest = 0;
    for (const waiter of this.#lanes[lane]) {
      latest = Math.max(latest, waiter.deadlineMs);
      if (latest === Number.POSITIVE_INFINITY) break;
    }
    return latest;
  }

  /** Removes the waiter that is next for a token that covers `cost`. */
  next(cost: number): Waiter | undefined {
    const isBatchNext = this.#sinceBatch >= BATCH_EVERY - 1;
    const order = isBatchNext ? LANES.toReversed() : LANES;
    for (const lane of order) {
      const waiter = this.first(lane);
      if (waiter === undefined || waiter.cost > cost) continue;
      this.#sinceBatch = lane === 'batch' ? 0 : this.#sinceBatch + 1;
      this.remove(waiter);
      return waiter;
    }
    return undefined;
  }

  /** All waiters in the order they are served; the queue may change meanwhile. */
  *inOrder(): Generator<Waiter> {
    yield* this.#lanes.interactive;
    yield* this.#lanes.batch;
  }

  failAll(error: unknown): void {
    for (const waiter of this.inOrder()) waiter.fail(error);
  }
}

/**
 * One caller's wait: it ends once, with an answer or an error. A class with fields instead of closures: a key at full
 * speed creates ten thousand waiters a second, and closures would cost more than the wait.
 */
export class Waiter implements Stoppable {
  readonly lane: Lane;
  readonly cost: number;
  readonly sinceMs: number;
  /** Infinity for a caller without a limit. */
  readonly deadlineMs: number;
  readonly #queue: WaitQueue;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (taken: Taken) => void;
  readonly #reject: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout | undefined;

  /** Joins the queue; `onDeadline` is called when the caller's time is up. */
  constructor(
    { lane, cost = 1, signal, maxWaitMs = Number.POSITIVE_INFINITY }: TakeOptions,
    given: { readonly queue: WaitQueue; readonly nowMs: number; readonly onDeadline: () => void },
    resolve: (taken: Taken) => void,
    reject: (error: unknown) => void,
  ) {
    this.lane = lane;
    this.cost = cost;
    this.sinceMs = given.nowMs;
    this.deadlineMs = given.nowMs + maxWaitMs;
    this.#queue = given.queue;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    given.queue.add(this);
    if (signal) stoppablesOf(signal).add(this);
    if (maxWaitMs < Number.POSITIVE_INFINITY) {
      this.#timer = setTimeout(given.onDeadline, Math.min(maxWaitMs + 1, MAX_TIMER_MS)); // a timer may be early
    }
  }

  answer(taken: Taken): void {
    this.#leave();
    this.#resolve(taken);
  }

  stopped(reason: unknown): void {
    this.fail(reason);
  }

  fail(error: unknown): void {
    this.#leave();
    this.#reject(error);
  }

  #leave(): void {
    this.#queue.remove(this);
    clearTimeout(this.#timer);
    if (this.#signal) stoppablesOf(this.#signal).delete(this);
  }
}
