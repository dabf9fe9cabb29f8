/**
 * The callers that wait for a token, first come first served in each lane, interactive before batch. Every tenth token
 * goes to batch all the same, as in the store: a process whose people never pause still moves its batch work.
 */
import type { Lane } from './budget.ts';

export interface Waiter {
  readonly lane: Lane;
  readonly cost: number;
  /** Infinity for a caller without a limit. */
  readonly deadlineMs: number;
  give(nowMs: number): void;
  sendAway(retryAfterMs: number): void;
  fail(error: unknown): void;
}

const BATCH_EVERY = 10;

export class Waiting {
  #lanes: Readonly<Record<Lane, Set<Waiter>>> = { interactive: new Set(), batch: new Set() };
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

  /** The deadline of the lane's most patient waiter. */
  patienceMs(lane: Lane): number {
    let latest = 0;
    for (const waiter of this.#lanes[lane]) {
      latest = Math.max(latest, waiter.deadlineMs);
      if (latest === Number.POSITIVE_INFINITY) break;
    }
    return latest;
  }

  /** Takes out the waiter whose turn it is for a token good for `cost`. */
  next(cost: number): Waiter | undefined {
    const isBatchTurn = this.#sinceBatch >= BATCH_EVERY - 1;
    const order: readonly Lane[] = isBatchTurn ? ['batch', 'interactive'] : ['interactive', 'batch'];
    for (const lane of order) {
      const waiter = this.first(lane);
      if (waiter === undefined || waiter.cost > cost) continue;
      this.#sinceBatch = lane === 'batch' ? 0 : this.#sinceBatch + 1;
      this.remove(waiter);
      return waiter;
    }
    return undefined;
  }

  /** All waiters in the order of their turns; may be changed on the way. */
  *inOrder(): Generator<Waiter> {
    yield* this.#lanes.interactive;
    yield* this.#lanes.batch;
  }
}
