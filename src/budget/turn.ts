/**
 * One caller's wait for a token: it ends once, with a permit, with the time to come back, or with an error. A class with its
 * state in fields, because a key at full speed makes ten thousand a second, and closures for each cost more than the wait.
 */
import { MAX_TIMER_MS } from './alarm.ts';
import type { Lane, Permit, Taken, TakeOptions } from './budget.ts';
import type { Waiter } from './waiting.ts';

/** What a turn needs of the budget it waits at. */
export interface TurnKeeper {
  now(): number;
  /** Let go at that time. */
  admit(lane: Lane, cameAtMs: number, nowMs: number): Permit;
  /** It waits no longer. */
  left(turn: Waiter): void;
  /** Its patience has ended. */
  lookAgain(): void;
}

export class Turn implements Waiter {
  readonly lane: Lane;
  readonly cost: number;
  readonly deadlineMs: number;
  readonly #cameAtMs: number;
  readonly #keeper: TurnKeeper;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (taken: Taken) => void;
  readonly #reject: (error: unknown) => void;
  #patience: NodeJS.Timeout | undefined;

  constructor(
    { lane, cost = 1, signal, maxWaitMs = Number.POSITIVE_INFINITY }: TakeOptions,
    keeper: TurnKeeper,
    resolve: (taken: Taken) => void,
    reject: (error: unknown) => void,
  ) {
    this.lane = lane;
    this.cost = cost;
    this.#keeper = keeper;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#cameAtMs = keeper.now();
    this.deadlineMs = this.#cameAtMs + maxWaitMs;
    if (signal) waitersOf(signal).add(this);
    if (maxWaitMs < Number.POSITIVE_INFINITY) {
      // A timer may be early.
      this.#patience = setTimeout(endOfPatience, Math.min(maxWaitMs + 1, MAX_TIMER_MS), keeper);
    }
  }

  give(nowMs: number): void {
    this.#leave();
    this.#resolve({ status: 'taken', permit: this.#keeper.admit(this.lane, this.#cameAtMs, nowMs) });
  }

  sendAway(retryAfterMs: number): void {
    this.#leave();
    this.#resolve({ status: 'wait', retryAfterMs: Math.max(1, Math.ceil(retryAfterMs)) });
  }

  fail(error: unknown): void {
    this.#leave();
    this.#reject(error);
  }

  #leave(): void {
    this.#keeper.left(this);
    clearTimeout(this.#patience);
    if (this.#signal) waitersOf(this.#signal).delete(this);
  }
}

/** One listener a signal: a pump has all its calls wait under one, and listening costs more than waiting. */
const waiting = new WeakMap<AbortSignal, Set<Turn>>();

function waitersOf(signal: AbortSignal): Set<Turn> {
  const known = waiting.get(signal);
  if (known) return known;
  const turns = new Set<Turn>();
  waiting.set(signal, turns);
  signal.addEventListener('abort', () => {
    for (const turn of turns) turn.fail(signal.reason);
  });
  return turns;
}

function endOfPatience(keeper: TurnKeeper): void {
  keeper.lookAgain();
}
