/**
 * One key's budget in this process: callers queue here, one acquirer leases tokens for all of them from the store, and
 * each token goes to the next caller at its time.
 */
import { elapsedMs } from '../clock.ts';
import { Alarm } from './alarm.ts';
import type {
  Budget,
  BudgetLimits,
  BudgetStats,
  BudgetStore,
  Lane,
  RetryTaken,
  SlotAsk,
  Taken,
  TakeOptions,
} from './budget.ts';
import { assertCost, closedError } from './errors.ts';
import { Forecast } from './forecast.ts';
import { HeldPermit, type PermitOwner } from './held-permit.ts';
import { Leases } from './leases.ts';
import { safeLimits } from './safe-limits.ts';
import { type Load, type ProcessName, SlotLease } from './slot-lease.ts';
import { Spacing } from './spacing.ts';
import { Turn, type TurnKeeper } from './turn.ts';
import { WaitTimes } from './wait-times.ts';
import { Waiting } from './waiting.ts';

export interface BudgetOptions {
  /** The account's name; never the API key. */
  readonly key: string;
  readonly limits: BudgetLimits;
  readonly store: BudgetStore;
  /** Milliseconds that only ever grow. Default: `elapsedMs`. */
  readonly now?: () => number;
  /** How long the store may take to answer before it counts as away. Default 2 s. */
  readonly storeTimeoutMs?: number;
  /** Default: one that nobody else can tell from others; what it holds when it is killed is free after 15 s. */
  readonly process?: ProcessName;
}

const LANES: readonly Lane[] = ['interactive', 'batch'];
/** So long the tokens at hand have to last: the time that an answer of the store may take. */
const LOW_MS = 10;
/** A batch lease is renewed this long before its last token's time. */
const RENEW_AHEAD_MS = 50;
/** No Retry-After is obeyed for longer without asking the service again. */
const MAX_BLOCK_MS = 15 * 60 * 1000;
/** The answer to a caller whose patience ended while nobody knew when its turn comes. */
const UNKNOWN_WAIT_MS = 100;
/** What one lease can bring: no more slots are wanted ahead of the tokens for them. */
const LEASE_S = 0.25;

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
  readonly #waits: Readonly<Record<Lane, WaitTimes>> = { interactive: new WaitTimes(), batch: new WaitTimes() };
  readonly #slots: SlotLease;
  readonly #spacing = new Spacing();
  readonly #counts = { used: 0, limited: 0 };
  readonly #retries = { granted: 0, empty: 0 };
  #inFlight = 0;
  #soon: NodeJS.Immediate | undefined;
  readonly #alarm = new Alarm(() => this.#pump());
  readonly #keeper: TurnKeeper & PermitOwner;
  #isClosed = false;

  constructor({ key, limits, store, now = elapsedMs, storeTimeoutMs = 2000, ...more }: BudgetOptions) {
    const safe = safeLimits(limits);
    this.limits = limits;
    this.#key = key;
    this.#now = now;
    this.#slots = new SlotLease(limits.concurrency, more.process);
    this.#leases = new Leases({ key, store, safe, slots: this.#slots, now, storeTimeoutMs });
    this.#horizonMs = safe.graceMs;
    this.#keeper = {
      now,
      admit: (lane, cameAtMs, nowMs) => {
        this.#waits[lane].add(nowMs - cameAtMs);
        this.#inFlight++;
        return new HeldPermit(this.#keeper, nowMs);
      },
      left: (turn) => this.#waiting.remove(turn),
      lookAgain: () => this.#pump(),
      ended: () => {
        this.#inFlight--;
        this.#pump();
      },
      limited: async (retryAfterMs, admittedAtMs) => {
        this.#counts.limited++;
        const stopped = this.#leases.limited(Math.min(Math.max(0, retryAfterMs), MAX_BLOCK_MS), admittedAtMs);
        this.#pump();
        await stopped;
      },
      hinted: (hint) => this.#leases.hinted(hint),
      succeeded: () => this.#leases.succeeded(),
    };
  }

  take(options: TakeOptions): Promise<Taken> {
    return new Promise((resolve, reject) => {
      options.signal?.throwIfAborted();
      if (this.#isClosed) throw closedError(this.#key);
      assertCost(this.#key, options.cost ?? 1, this.limits.burst);
      this.#waiting.add(new Turn(options, this.#keeper, resolve, reject));
      this.#pump();
    });
  }

  async retry(): Promise<RetryTaken> {
    if (this.#isClosed) throw closedError(this.#key);
    const taken = await this.#leases.retry();
    this.#retries[taken.status]++;
    return taken;
  }

  stats(): BudgetStats {
    this.#leases.expire(this.#now());
    const { interactive, batch } = this.#waits;
    return {
      ...this.#counts,
      ...this.#leases.counts,
      ratePerSecond: this.#leases.ratePerSecond,
      retries: { ...this.#retries },
      waits: { interactive: interactive.stats(), batch: batch.stats() },
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#alarm.clear();
    clearImmediate(this.#soon);
    this.#leases.drop();
    this.#failAll(closedError(this.#key));
    // The next process need not wait until our slots expire; where the store is away, it does.
    const giveBack = this.#slots.giveBack(this.#inFlight, this.#now());
    if (giveBack) await this.#leases.refresh(giveBack).catch(() => undefined);
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
    if (expired > 0 && this.#waiting.size === 0)
      for (const lane of LANES) this.#forecasts[lane].wasTooHigh(expired, nowMs);
    while (this.#waiting.size > 0 && this.#slots.room(this.#inFlight) > 0) {
      const token = this.#leases.due(nowMs);
      if (token === undefined) break;
      if (this.#spacing.holds(nowMs)) return;
      const waiter = this.#waiting.next(token.cost);
      if (waiter === undefined) break;
      this.#leases.use();
      this.#counts.used++;
      this.#forecasts[waiter.lane].used(nowMs);
      this.#spacing.started(nowMs);
      waiter.give(nowMs);
    }
    this.#spacing.letGo();
  }

  /** Asks the store where that makes sense now, and sets the timer for what comes next. */
  #lookAhead(): void {
    const nowMs = this.#now();
    this.#giveOut(nowMs); // time has passed since
    this.#slots.see(this.#load(), nowMs);
    let nextAtMs = this.#askForMore(nowMs);
    if (this.#waiting.hasImpatient) this.#sendAwayTheImpatient(nowMs);
    if (this.#waiting.size > 0 && this.#slots.room(this.#inFlight) > 0) {
      if (this.#leases.mustRefresh(nowMs)) this.#refresh();
      nextAtMs = Math.min(nextAtMs, this.#leases.attentionAtMs(nowMs));
      if (this.#spacing.isHolding) nextAtMs = Math.min(nextAtMs, this.#spacing.startsAtMs);
    }
    if (this.#slots.mustTell(this.#load(), nowMs)) this.#refresh();
    nextAtMs = Math.min(nextAtMs, this.#slots.attentionAtMs(this.#load(), nowMs));
    this.#alarm.set(nextAtMs, nowMs, this.#waiting.size > 0);
  }

  /** Asks in each lane that has callers ready to send and no token for them; gives when to look again. */
  #askForMore(nowMs: number): number {
    let room = this.#slots.room(this.#inFlight);
    let more = this.#slots.mayAskFor(this.#load(), nowMs);
    const isShortOfSlots = more > 0;
    let coveredBefore = 0;
    let nextAtMs = Number.POSITIVE_INFINITY;
    for (const lane of LANES) {
      const first = this.#waiting.first(lane);
      if (first === undefined) continue;
      const inRoom = this.#waiting.alike(lane, room);
      const ready = this.#waiting.alike(lane, room + more);
      const covered = Math.min(ready, Math.max(0, this.#leases.covers(first.cost) - coveredBefore));
      coveredBefore += covered;
      const inLane = this.#waiting.in(lane);
      const isLow = inLane > room && this.#isRunningLow(lane, first.cost, nowMs);
      more -= Math.min(more, Math.max(0, inLane - room));
      room -= Math.min(room, inLane);
      if ((covered === ready && !isLow) || this.#leases.isAsking(lane)) continue;
      const askAtMs = this.#askAtMs(lane);
      const uncovered = Math.max(isLow ? 1 : 0, inRoom - covered);
      if (askAtMs <= nowMs) this.#ask(lane, first.cost, { uncovered, extra: ready - covered - uncovered }, nowMs);
      else nextAtMs = Math.min(nextAtMs, askAtMs);
    }
    // Tokens are in hand and only slots are wanting.
    if (isShortOfSlots && coveredBefore > this.#slots.room(this.#inFlight)) this.#refresh();
    return nextAtMs;
  }

  /**
   * While callers wait for slots, tokens are asked for before the last one is used: no slot stands still for the answer. Where
   * the rate lets all callers go at once, they go in bunches, at worst as many as are in flight; but more than half of what a
   * lease can last is never kept in hand.
   */
  #isRunningLow(lane: Lane, cost: number, nowMs: number): boolean {
    const forecast = this.#forecasts[lane];
    const isPaced = (this.#leases.endAtMs ?? nowMs) > nowMs;
    const bunch = isPaced ? 0 : Math.min(this.#inFlight, forecast.tokens(nowMs, this.#horizonMs / 2));
    return this.#leases.covers(cost) < Math.max(bunch, forecast.tokens(nowMs, LOW_MS));
  }

  /** Batch callers come back one by one: their lease is renewed for all of them at once, shortly before it ends. */
  #askAtMs(lane: Lane): number {
    const leaseEndsAtMs = lane === 'batch' ? (this.#leases.endAtMs ?? 0) : 0;
    return Math.max(this.#leases.turnAtMs(lane), leaseEndsAtMs - RENEW_AHEAD_MS);
  }

  #ask(lane: Lane, cost: number, calls: { readonly uncovered: number; readonly extra: number }, nowMs: number): void {
    const patienceMs = this.#waiting.patienceMs(lane) - nowMs;
    const withinMs = patienceMs === Number.POSITIVE_INFINITY ? undefined : Math.max(0, patienceMs);
    const expected = patienceMs > this.#horizonMs ? this.#forecasts[lane].tokens(nowMs, this.#horizonMs) : 0;
    const slots = this.#askForSlots(calls.extra);
    if (calls.uncovered === 0 && slots === undefined) return; // the other lane asks for the slots
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
    const soon = Math.ceil((this.#leases.ratePerSecond ?? this.limits.ratePerSecond) * LEASE_S) + 1;
    return { inFlight: this.#inFlight, waiting: Math.min(this.#waiting.size, soon) };
  }

  async #hear(answer: Promise<void>): Promise<void> {
    try {
      await answer;
    } catch (error) {
      this.#leases.drop();
      this.#failAll(error);
    }
    const isGone = this.#slots.whoIsGone(this.#now());
    if (isGone) void this.#leases.forgetThoseGone(isGone).catch(() => undefined); // their slots expire all the same
    this.#pump();
  }

  /** Answers `wait` to callers whose turn is known to come too late, or whose patience has ended and no answer is due. */
  #sendAwayTheImpatient(nowMs: number): void {
    let place = 0;
    for (const waiter of this.#waiting.inOrder()) {
      const turnInMs = this.#leases.earliestAtMs(place, waiter.lane) - nowMs;
      const patienceMs = Math.max(0, waiter.deadlineMs - nowMs);
      const isOver = patienceMs === 0 && !this.#leases.isAsking(waiter.lane) && !this.#spacing.isHolding;
      if (turnInMs > patienceMs) waiter.sendAway(turnInMs);
      else if (isOver) waiter.sendAway(UNKNOWN_WAIT_MS);
      else place++;
    }
  }

  #failAll(error: unknown): void {
    for (const waiter of this.#waiting.inOrder()) waiter.fail(error);
  }
}
