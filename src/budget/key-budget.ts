/**
 * One key's budget in this process: callers queue here, one acquirer leases tokens for all of them from the store, and
 * each token goes to the next caller at its time.
 */
import { LockstepError } from '../errors.ts';
import type { Budget, BudgetLimits, BudgetStats, BudgetStore, Lane, Permit, Taken, TakeOptions } from './budget.ts';
import { Forecast } from './forecast.ts';
import { Leases } from './leases.ts';
import { safeLimits } from './safe-limits.ts';
import { type Waiter, Waiting } from './waiting.ts';

export interface BudgetOptions {
  /** The account's name; never the API key. */
  readonly key: string;
  readonly limits: BudgetLimits;
  readonly store: BudgetStore;
  /** Monotonic milliseconds. Default: performance.now. */
  readonly now?: () => number;
  /** How long the store may take to answer before it counts as away. Default 2 s. */
  readonly storeTimeoutMs?: number;
}

const LANES: readonly Lane[] = ['interactive', 'batch'];
/** A batch lease is renewed this long before its last token's time. */
const RENEW_AHEAD_MS = 50;
/** No Retry-After is obeyed for longer without asking the service again. */
const MAX_BLOCK_MS = 15 * 60 * 1000;
/** The answer to a caller whose patience ended while nobody knew when its turn comes. */
const UNKNOWN_WAIT_MS = 100;
/** setTimeout fires at once for more than this. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function createBudget(options: BudgetOptions): Budget {
  return new KeyBudget(options);
}

class KeyBudget implements Budget {
  readonly limits: BudgetLimits;
  readonly #key: string;
  readonly #now: () => number;
  readonly #leases: Leases;
  /** How long one lease can last if all of it may be used at once. */
  readonly #horizonMs: number;
  readonly #waiting = new Waiting();
  readonly #forecasts: Readonly<Record<Lane, Forecast>> = { interactive: new Forecast(), batch: new Forecast() };
  readonly #counts = { used: 0, limited: 0 };
  #inFlight = 0;
  #soon: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor({ key, limits, store, now = () => performance.now(), storeTimeoutMs = 2000 }: BudgetOptions) {
    const safe = safeLimits(limits);
    this.limits = limits;
    this.#key = key;
    this.#now = now;
    this.#leases = new Leases({ key, store, safe, now, storeTimeoutMs });
    this.#horizonMs = safe.graceMs;
  }

  async take({ lane, cost = 1, signal, maxWaitMs = Number.POSITIVE_INFINITY }: TakeOptions): Promise<Taken> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw this.#closedError();
    this.#checkCost(cost);
    return new Promise((resolve, reject) => {
      let patience: NodeJS.Timeout | undefined;
      const leave = () => {
        this.#waiting.remove(waiter);
        clearTimeout(patience);
        signal?.removeEventListener('abort', abort);
      };
      const waiter: Waiter = {
        lane,
        cost,
        deadlineMs: this.#now() + maxWaitMs,
        give: () => {
          leave();
          resolve({ status: 'taken', permit: this.#permit() });
        },
        sendAway: (retryAfterMs) => {
          leave();
          resolve({ status: 'wait', retryAfterMs: Math.max(1, Math.ceil(retryAfterMs)) });
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      const abort = () => waiter.fail(signal?.reason);
      signal?.addEventListener('abort', abort, { once: true });
      if (maxWaitMs < Number.POSITIVE_INFINITY) {
        patience = setTimeout(() => this.#pump(), Math.min(maxWaitMs + 1, MAX_TIMER_MS)); // a timer may be early
      }
      this.#waiting.add(waiter);
      this.#pump();
    });
  }

  async limited(retryAfterMs: number): Promise<void> {
    this.#counts.limited++;
    const blocked = this.#leases.block(Math.min(Math.max(0, retryAfterMs), MAX_BLOCK_MS));
    this.#pump();
    await blocked;
  }

  stats(): BudgetStats {
    this.#leases.expire(this.#now());
    return { ...this.#counts, expired: this.#leases.expired, storeCalls: this.#leases.storeCalls };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearImmediate(this.#soon);
    this.#leases.drop();
    this.#failAll(this.#closedError());
  }

  /** Gives out what is due now; whatever else there is to do waits for the other callers of this turn of the loop. */
  #pump(): void {
    if (this.#isClosed) return;
    this.#giveOut(this.#now());
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined;
      this.#lookAhead();
    });
  }

  #giveOut(nowMs: number): void {
    const expired = this.#leases.expire(nowMs);
    if (expired > 0 && this.#waiting.size === 0) for (const lane of LANES) this.#forecasts[lane].wasTooHigh(nowMs);
    while (this.#inFlight < this.limits.concurrency) {
      const token = this.#leases.due(nowMs);
      const waiter = token && this.#waiting.next(token.cost);
      if (waiter === undefined) return;
      this.#leases.use();
      this.#counts.used++;
      this.#forecasts[waiter.lane].used(nowMs);
      waiter.give();
    }
  }

  /** Asks the store where that makes sense now, and sets the timer for what comes next. */
  #lookAhead(): void {
    const nowMs = this.#now();
    this.#giveOut(nowMs); // time has passed since
    let nextAtMs = this.#askForMore(nowMs);
    if (this.#waiting.hasImpatient) this.#sendAwayTheImpatient(nowMs);
    if (this.#waiting.size > 0 && this.#inFlight < this.limits.concurrency) {
      if (this.#leases.mustRefresh(nowMs)) void this.#hear(this.#leases.refresh());
      nextAtMs = Math.min(nextAtMs, this.#leases.attentionAtMs(nowMs));
    }
    this.#wakeAt(nextAtMs, nowMs);
  }

  /** Asks in each lane that has callers ready to send and no token for them; gives when to look again. */
  #askForMore(nowMs: number): number {
    let slots = this.limits.concurrency - this.#inFlight;
    let coveredBefore = 0;
    let nextAtMs = Number.POSITIVE_INFINITY;
    for (const lane of LANES) {
      const first = this.#waiting.first(lane);
      if (first === undefined) continue;
      const ready = this.#waiting.alike(lane, slots);
      const covered = Math.min(ready, Math.max(0, this.#leases.covers(first.cost) - coveredBefore));
      coveredBefore += covered;
      slots -= Math.min(slots, this.#waiting.in(lane));
      if (covered === ready || this.#leases.isAsking(lane)) continue;
      const askAtMs = this.#askAtMs(lane);
      if (askAtMs <= nowMs) this.#ask(lane, first.cost, ready - covered, nowMs);
      else nextAtMs = Math.min(nextAtMs, askAtMs);
    }
    return nextAtMs;
  }

  /** Batch callers come back one by one: their lease is renewed for all of them at once, shortly before it ends. */
  #askAtMs(lane: Lane): number {
    const leaseEndsAtMs = lane === 'batch' ? (this.#leases.endAtMs ?? 0) : 0;
    return Math.max(this.#leases.turnAtMs(lane), leaseEndsAtMs - RENEW_AHEAD_MS);
  }

  #ask(lane: Lane, cost: number, uncovered: number, nowMs: number): void {
    const patienceMs = this.#waiting.patienceMs(lane) - nowMs;
    const withinMs = patienceMs === Number.POSITIVE_INFINITY ? undefined : Math.max(0, patienceMs);
    const expected = patienceMs > this.#horizonMs ? this.#forecasts[lane].tokens(nowMs, this.#horizonMs) : 0;
    void this.#hear(this.#leases.acquire({ lane, want: Math.max(uncovered, expected), cost, withinMs }));
  }

  async #hear(answer: Promise<void>): Promise<void> {
    try {
      await answer;
    } catch (error) {
      this.#leases.drop();
      this.#failAll(error);
    }
    this.#pump();
  }

  /** Answers `wait` to callers whose turn is known to come too late, or whose patience has ended and no answer is due. */
  #sendAwayTheImpatient(nowMs: number): void {
    let place = 0;
    for (const waiter of this.#waiting.inOrder()) {
      const turnInMs = this.#leases.earliestAtMs(place, waiter.lane) - nowMs;
      const patienceMs = Math.max(0, waiter.deadlineMs - nowMs);
      const isOver = patienceMs === 0 && !this.#leases.isAsking(waiter.lane);
      if (turnInMs > patienceMs) waiter.sendAway(turnInMs);
      else if (isOver) waiter.sendAway(UNKNOWN_WAIT_MS);
      else place++;
    }
  }

  #permit(): Permit {
    let isHeld = true;
    this.#inFlight++;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      this.#inFlight--;
      this.#pump();
    };
    return { release };
  }

  #wakeAt(atMs: number, nowMs: number): void {
    const isIdle = atMs === Number.POSITIVE_INFINITY;
    if (!isIdle && this.#timer !== undefined && this.#timerAtMs <= atMs) return; // comes early and sets the next
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (isIdle) return; // no timer without a caller: it would keep the process alive
    const wake = () => {
      this.#timer = undefined;
      this.#pump();
    };
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(wake, Math.min(Math.max(1, atMs - nowMs), MAX_TIMER_MS));
  }

  #failAll(error: unknown): void {
    for (const waiter of this.#waiting.inOrder()) waiter.fail(error);
  }

  #closedError(): LockstepError {
    return new LockstepError('BUDGET_CLOSED', `The budget of "${this.#key}" is closed: this process is shutting down.`);
  }

  #checkCost(cost: number): void {
    if (Number.isInteger(cost) && cost >= 1 && cost <= this.limits.burst) return;
    const message = `A call of cost ${cost} does not fit the budget of "${this.#key}": expected a whole number from 1 to its burst, ${this.limits.burst}.`;
    throw new LockstepError('BUDGET_COST', message);
  }
}
