/**
 * One key's budget in this process: callers queue here, one acquirer leases tokens for all of them from the store, and
 * each token goes to the next caller when it is due.
 */
import { elapsedMs } from '../../base/clock.ts';
import { Alarm } from './alarm.ts';
import {
  assertCost,
  type Budget,
  type BudgetLimits,
  type BudgetStats,
  type BudgetStore,
  closedError,
  LANES,
  type Lane,
  type RetryTaken,
  type SlotAsk,
  type Taken,
  type TakeOptions,
} from './budget.ts';
import { Leases } from './leases.ts';
import { HeldPermit, type PermitOwner } from './permit.ts';
import { RecentUse } from './recent-use.ts';
import { safeLimits } from './safe-limits.ts';
import { type Load, type ProcessName, SlotLease } from './slot-lease.ts';
import type { Token } from './token-buffer.ts';
import { comeBackIn, Waiter, WaitQueue } from './wait-queue.ts';
import { WaitTimes } from './wait-times.ts';

export interface BudgetOptions {
  /** The name of a scope or of a target; never the API key. */
  readonly key: string;
  readonly limits: BudgetLimits;
  readonly store: BudgetStore;
  /** A monotonic clock in milliseconds. Default: `elapsedMs`. */
  readonly now?: () => number;
  /** How long the store may take to answer before it counts as away. Default 2 s. */
  readonly storeTimeoutMs?: number;
  /** Default: a random name; the slots it holds when it is killed are free after 15 s. */
  readonly process?: ProcessName;
}

/** How long the held tokens have to last: the time a store's answer may take. */
const LOW_MS = 10;
/** A batch lease is renewed this long before its last token is due. */
const RENEW_AHEAD_MS = 50;
/** The longest Retry-After that is followed without asking the service again. */
const MAX_BLOCK_MS = 15 * 60 * 1000;
/** The answer to a caller that timed out while it is unknown when it can be served. */
const UNKNOWN_WAIT_MS = 100;
/** The longest lease. The process never asks for more slots than a lease has tokens. */
const LEASE_S = 0.25;

export function createBudget(options: BudgetOptions): Budget {
  return new KeyBudget(options);
}

class KeyBudget implements Budget {
  readonly #limits: BudgetLimits;
  readonly #key: string;
  readonly #now: () => number;
  readonly #leases: Leases;
  /** How long one lease lasts if all its tokens may be used at once. */
  readonly #horizonMs: number;
  readonly #queue = new WaitQueue();
  readonly #used: Readonly<Record<Lane, RecentUse>> = { interactive: new RecentUse(), batch: new RecentUse() };
  readonly #waits: Readonly<Record<Lane, WaitTimes>> = { interactive: new WaitTimes(), batch: new WaitTimes() };
  readonly #slots: SlotLease;
  readonly #counts = { used: 0, limited: 0 };
  readonly #retries = { granted: 0, empty: 0 };
  #inFlight = 0;
  #soon: NodeJS.Immediate | undefined;
  readonly #alarm = new Alarm(() => this.#serve());
  readonly #owner: PermitOwner;
  readonly #onDeadline = () => this.#serve();
  #isClosed = false;

  constructor({ key, limits, store, now = elapsedMs, storeTimeoutMs = 2000, ...more }: BudgetOptions) {
    const safe = safeLimits(limits);
    this.#limits = limits;
    this.#key = key;
    this.#now = now;
    this.#slots = new SlotLease(limits.concurrency, more.process);
    this.#leases = new Leases({ key, store, safe, slots: this.#slots, now, storeTimeoutMs });
    this.#horizonMs = safe.graceMs;
    this.#owner = {
      ended: () => {
        this.#inFlight--;
        this.#serve();
      },
      limited: async (retryAfterMs, admittedAtMs) => {
        this.#counts.limited++;
        const stopped = this.#leases.limited(Math.min(Math.max(0, retryAfterMs), MAX_BLOCK_MS), admittedAtMs);
        this.#serve();
        await stopped;
      },
      hinted: (hint) => this.#leases.hinted(hint),
      succeeded: () => this.#leases.succeeded(),
    };
  }

  async take(options: TakeOptions): Promise<Taken> {
    options.signal?.throwIfAborted();
    if (this.#isClosed) throw closedError(this.#key);
    const { lane, cost = 1 } = options;
    assertCost(this.#key, cost, this.#limits.burst);
    const nowMs = this.#now();
    const token = this.#queue.size === 0 ? this.#usableToken(nowMs) : undefined;
    if (token && token.cost >= cost) return this.#admit(lane, nowMs, nowMs);
    return new Promise((resolve, reject) => {
      new Waiter(options, { queue: this.#queue, nowMs, onDeadline: this.#onDeadline }, resolve, reject);
      this.#serve();
    });
  }

  async retry(): Promise<RetryTaken> {
    if (this.#isClosed) throw closedError(this.#key);
    const taken = await this.#leases.retry();
    this.#retries[taken.status]++;
    return taken;
  }

  stats(): BudgetStats {
    const nowMs = this.#now();
    this.#leases.tokens.expire(nowMs);
    const { interactive, batch } = this.#waits;
    return {
      ...this.#counts,
      ratePerSecond: this.#leases.ratePerSecond,
      learntPerSecond: this.#leases.learntPerSecond,
      blockedForMs: this.#leases.blockedForMs(nowMs),
      retries: { ...this.#retries },
      waits: { interactive: interactive.stats(), batch: batch.stats() },
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#alarm.clear();
    clearImmediate(this.#soon);
    this.#leases.tokens.drop();
    this.#queue.failAll(closedError(this.#key));
    // Frees our slots for the next process at once; if the store is unreachable, they expire.
    const giveBack = this.#slots.giveBack(this.#inFlight, this.#now());
    if (giveBack) await this.#leases.refresh(giveBack).catch(() => undefined);
  }

  /** Gives out the tokens that are due now; the rest waits for other callers of this event loop turn. */
  #serve(): void {
    if (this.#isClosed) return;
    if (this.#queue.size > 0) this.#giveOut(this.#now());
    this.#lookAheadSoon();
  }

  #lookAheadSoon(): void {
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined;
      this.#lookAhead();
    });
  }

  #giveOut(nowMs: number): void {
    while (this.#queue.size > 0) {
      const token = this.#usableToken(nowMs);
      const waiter = token && this.#queue.next(token.cost);
      if (waiter === undefined) return;
      waiter.answer(this.#admit(waiter.lane, waiter.sinceMs, nowMs));
    }
  }

  /** The token for a call that starts now; undefined if there is no token or no slot. */
  #usableToken(nowMs: number): Token | undefined {
    this.#leases.tokens.expire(nowMs);
    return this.#slots.room(this.#inFlight) === 0 ? undefined : this.#leases.due(nowMs);
  }

  /** Uses the token for a caller that has waited since `sinceMs`. */
  #admit(lane: Lane, sinceMs: number, nowMs: number): Taken {
    this.#leases.tokens.use();
    this.#counts.used++;
    this.#inFlight++;
    this.#waits[lane].add(nowMs - sinceMs);
    this.#used[lane].add(nowMs);
    this.#lookAheadSoon();
    return { status: 'taken', permit: new HeldPermit(this.#owner, nowMs) };
  }

  /** Asks the store if that makes sense now, and sets the timer for the next event. */
  #lookAhead(): void {
    const nowMs = this.#now();
    this.#giveOut(nowMs); // time has passed since
    this.#slots.see(this.#load(), nowMs);
    let nextAtMs = this.#askForMore(nowMs);
    if (this.#queue.hasImpatient) this.#sendAwayImpatient(nowMs);
    if (this.#queue.size > 0 && this.#slots.room(this.#inFlight) > 0) {
      if (this.#leases.mustRefresh(nowMs)) this.#refresh();
      nextAtMs = Math.min(nextAtMs, this.#leases.attentionAtMs(nowMs));
    }
    if (this.#slots.mustTell(this.#load(), nowMs)) this.#refresh();
    nextAtMs = Math.min(nextAtMs, this.#slots.attentionAtMs(this.#load(), nowMs));
    this.#alarm.set(nextAtMs, nowMs, this.#queue.size > 0);
  }

  /** Asks in each lane that has callers ready to send and no token for them; returns when to check again. */
  #askForMore(nowMs: number): number {
    let room = this.#slots.room(this.#inFlight);
    let more = this.#slots.mayAskFor(this.#load(), nowMs);
    const isShortOfSlots = more > 0;
    let coveredBefore = 0;
    let nextAtMs = Number.POSITIVE_INFINITY;
    for (const lane of LANES) {
      const first = this.#queue.first(lane);
      if (first === undefined) continue;
      const inRoom = this.#queue.alike(lane, room);
      const ready = this.#queue.alike(lane, room + more);
      const covered = Math.min(ready, Math.max(0, this.#leases.tokens.covers(first.cost) - coveredBefore));
      coveredBefore += covered;
      const inLane = this.#queue.in(lane);
      const isLow = inLane > room && this.#isRunningLow(lane, first.cost, nowMs);
      more -= Math.min(more, Math.max(0, inLane - room));
      room -= Math.min(room, inLane);
      if ((covered === ready && !isLow) || this.#leases.isAsking(lane)) continue;
      const askAtMs = this.#askAtMs(lane);
      const uncovered = Math.max(isLow ? 1 : 0, inRoom - covered);
      if (askAtMs <= nowMs) this.#ask(lane, first.cost, { uncovered, extra: ready - covered - uncovered }, nowMs);
      else nextAtMs = Math.min(nextAtMs, askAtMs);
    }
    // There are tokens, and only slots are missing.
    if (isShortOfSlots && coveredBefore > this.#slots.room(this.#inFlight)) this.#refresh();
    return nextAtMs;
  }

  /**
   * While callers wait for slots, the process asks for tokens before the last one is used: no slot is idle while the store
   * answers. If the rate lets all callers go at once, they go in bunches, at most as many as are in flight. The process
   * never keeps more tokens than it uses in half the lifetime of a lease.
   */
  #isRunningLow(lane: Lane, cost: number, nowMs: number): boolean {
    const use = this.#used[lane];
    const isPaced = (this.#leases.tokens.endAtMs ?? nowMs) > nowMs;
    const bunch = isPaced ? 0 : Math.min(this.#inFlight, use.expected(nowMs, this.#horizonMs / 2));
    return this.#leases.tokens.covers(cost) < Math.max(bunch, use.expected(nowMs, LOW_MS));
  }

  /** Batch callers return one by one: their lease is renewed for all of them at once, shortly before it ends. */
  #askAtMs(lane: Lane): number {
    const leaseEndsAtMs = lane === 'batch' ? (this.#leases.tokens.endAtMs ?? 0) : 0;
    return Math.max(this.#leases.turnAtMs(lane), leaseEndsAtMs - RENEW_AHEAD_MS);
  }

  #ask(lane: Lane, cost: number, calls: { readonly uncovered: number; readonly extra: number }, nowMs: number): void {
    const patienceMs = this.#queue.patienceMs(lane) - nowMs;
    const withinMs = patienceMs === Number.POSITIVE_INFINITY ? undefined : Math.max(0, patienceMs);
    const expected = patienceMs > this.#horizonMs ? this.#used[lane].expected(nowMs, this.#horizonMs) : 0;
    const slots = this.#askForSlots(calls.extra);
    if (calls.uncovered === 0 && slots === undefined) return; // the other lane requests the slots
    const want = calls.uncovered === 0 ? 0 : Math.max(calls.uncovered, expected);
    void this.#hear(this.#leases.acquire({ lane, want, cost, withinMs, slots }));
  }

  #refresh(): void {
    if (this.#leases.isAsking('refresh')) return;
    void this.#hear(this.#leases.refresh(this.#askForSlots(0)));
  }

  #askForSlots(extra: number): SlotAsk | undefined {
    return this.#slots.ask(this.#load(), extra, this.#now());
  }

  #load(): Load {
    const soon = Math.ceil((this.#leases.ratePerSecond ?? this.#limits.ratePerSecond) * LEASE_S) + 1;
    return { inFlight: this.#inFlight, waiting: Math.min(this.#queue.size, soon) };
  }

  async #hear(answer: Promise<void>): Promise<void> {
    try {
      await answer;
    } catch (error) {
      this.#leases.tokens.drop();
      this.#queue.failAll(error);
    }
    const isGone = this.#slots.whoIsGone(this.#now());
    if (isGone) void this.#leases.forgetGone(isGone).catch(() => undefined); // their slots expire anyway
    this.#serve();
  }

  /** Answers `wait` to callers that would be served too late, or that timed out while no answer is due. */
  #sendAwayImpatient(nowMs: number): void {
    let position = 0;
    for (const waiter of this.#queue.inOrder()) {
      const servedInMs = this.#leases.earliestAtMs(position, waiter.lane) - nowMs;
      const patienceMs = Math.max(0, waiter.deadlineMs - nowMs);
      const isOver = patienceMs === 0 && !this.#leases.isAsking(waiter.lane);
      if (servedInMs > patienceMs) waiter.answer(comeBackIn(servedInMs));
      else if (isOver) waiter.answer(comeBackIn(UNKNOWN_WAIT_MS));
      else position++;
    }
  }
}
