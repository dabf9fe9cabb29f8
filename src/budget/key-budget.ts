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
import { Leases } from './leases.ts';
import { HeldPermit, type PermitOwner } from './permit.ts';
import { RecentUse } from './recent-use.ts';
import { safeLimits } from './safe-limits.ts';
import { type Load, type ProcessName, SlotLease } from './slot-lease.ts';
import { nextStartMs } from './spacing.ts';
import { Waiter, WaitQueue } from './wait-queue.ts';
import { WaitTimes } from './wait-times.ts';

export interface BudgetOptions {
  /** The account's name; never the API key. */
  readonly key: string;
  readonly limits: BudgetLimits;
  readonly store: BudgetStore;
  /** Milliseconds that only ever grow. Default: `elapsedMs`. */
  readonly now?: () => number;
  /** How long the store may take to answer before it counts as away. Default 2 s. */
  readonly storeTimeoutMs?: number;
  /** Default: a random name; the slots it holds when it is killed are free after 15 s. */
  readonly process?: ProcessName;
}

const LANES: readonly Lane[] = ['interactive', 'batch'];
/** How long the tokens held have to last: the time that an answer of the store may take. */
const LOW_MS = 10;
/** A batch lease is renewed this long before its last token's time. */
const RENEW_AHEAD_MS = 50;
/** The longest Retry-After that is obeyed without asking the service again. */
const MAX_BLOCK_MS = 15 * 60 * 1000;
/** The answer to a caller whose time is up while it is not known when it can be served. */
const UNKNOWN_WAIT_MS = 100;
/** The longest lease: no more slots are asked for than it has tokens. */
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
  readonly #queue = new WaitQueue();
  readonly #used: Readonly<Record<Lane, RecentUse>> = { interactive: new RecentUse(), batch: new RecentUse() };
  readonly #waits: Readonly<Record<Lane, WaitTimes>> = { interactive: new WaitTimes(), batch: new WaitTimes() };
  readonly #slots: SlotLease;
  /** No call starts before (spacing.ts). */
  #startsAtMs = 0;
  readonly #counts = { used: 0, limited: 0 };
  readonly #retries = { granted: 0, empty: 0 };
  #inFlight = 0;
  #soon: NodeJS.Immediate | undefined;
  readonly #alarm = new Alarm(() => this.#pump());
  readonly #owner: PermitOwner;
  readonly #onDeadline = () => this.#pump();
  #isClosed = false;

  constructor({ key, limits, store, now = elapsedMs, storeTimeoutMs = 2000, ...more }: BudgetOptions) {
    const safe = safeLimits(limits);
    this.limits = limits;
    this.#key = key;
    this.#now = now;
    this.#slots = new SlotLease(limits.concurrency, more.process);
    this.#leases = new Leases({ key, store, safe, slots: this.#slots, now, storeTimeoutMs });
    this.#horizonMs = safe.graceMs;
    this.#owner = {
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
      const given = { queue: this.#queue, nowMs: this.#now(), onDeadline: this.#onDeadline };
      new Waiter(options, given, resolve, reject);
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

  /** Gives out what is due now; the rest waits for the other callers of this turn of the event loop. */
  #pump(): void {
    if (this.#isClosed) return;
    this.#giveOut(this.#now());
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined;
      this.#lookAhead();
    });
  }

  #giveOut(nowMs: number): void {
    this.#leases.expire(nowMs);
    while (this.#queue.size > 0 && this.#slots.room(this.#inFlight) > 0) {
      const token = this.#leases.due(nowMs);
      if (token === undefined || nowMs < this.#startsAtMs) return;
      const waiter = this.#queue.next(token.cost);
      if (waiter === undefined) return;
      this.#leases.use();
      this.#admit(waiter, nowMs);
    }
  }

  #admit(waiter: Waiter, nowMs: number): void {
    this.#counts.used++;
    this.#inFlight++;
    this.#waits[waiter.lane].add(nowMs - waiter.sinceMs);
    this.#used[waiter.lane].add(nowMs);
    const perMs = LANES.reduce((sum, lane) => sum + this.#used[lane].perMs(nowMs), 0);
    this.#startsAtMs = nextStartMs(this.#startsAtMs, nowMs, perMs);
    waiter.answer({ status: 'taken', permit: new HeldPermit(this.#owner, nowMs) });
  }

  /** Asks the store where that makes sense now, and sets the timer for what comes next. */
  #lookAhead(): void {
    const nowMs = this.#now();
    this.#giveOut(nowMs); // time has passed since
    this.#slots.see(this.#load(), nowMs);
    let nextAtMs = this.#askForMore(nowMs);
    if (this.#queue.hasImpatient) this.#sendAwayImpatient(nowMs);
    if (this.#queue.size > 0 && this.#slots.room(this.#inFlight) > 0) {
      if (this.#leases.mustRefresh(nowMs)) this.#refresh();
      nextAtMs = Math.min(nextAtMs, this.#leases.attentionAtMs(nowMs));
      if (nowMs < this.#startsAtMs) nextAtMs = Math.min(nextAtMs, this.#startsAtMs);
    }
    if (this.#slots.mustTell(this.#load(), nowMs)) this.#refresh();
    nextAtMs = Math.min(nextAtMs, this.#slots.attentionAtMs(this.#load(), nowMs));
    this.#alarm.set(nextAtMs, nowMs, this.#queue.size > 0);
  }

  /** Asks in each lane that has callers ready to send and no token for them; gives when to look again. */
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
      const covered = Math.min(ready, Math.max(0, this.#leases.covers(first.cost) - coveredBefore));
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
   * While callers wait for slots, tokens are asked for before the last one is used: no slot is idle while the store answers. Where
   * the rate lets all callers go at once, they go in bunches, at worst as many as are in flight; but never more tokens are kept
   * than are used in half the time that a lease can last.
   */
  #isRunningLow(lane: Lane, cost: number, nowMs: number): boolean {
    const use = this.#used[lane];
    const isPaced = (this.#leases.endAtMs ?? nowMs) > nowMs;
    const bunch = isPaced ? 0 : Math.min(this.#inFlight, use.expected(nowMs, this.#horizonMs / 2));
    return this.#leases.covers(cost) < Math.max(bunch, use.expected(nowMs, LOW_MS));
  }

  /** Batch callers come back one by one: their lease is renewed for all of them at once, shortly before it ends. */
  #askAtMs(lane: Lane): number {
    const leaseEndsAtMs = lane === 'batch' ? (this.#leases.endAtMs ?? 0) : 0;
    return Math.max(this.#leases.turnAtMs(lane), leaseEndsAtMs - RENEW_AHEAD_MS);
  }

  #ask(lane: Lane, cost: number, calls: { readonly uncovered: number; readonly extra: number }, nowMs: number): void {
    const patienceMs = this.#queue.patienceMs(lane) - nowMs;
    const withinMs = patienceMs === Number.POSITIVE_INFINITY ? undefined : Math.max(0, patienceMs);
    const expected = patienceMs > this.#horizonMs ? this.#used[lane].expected(nowMs, this.#horizonMs) : 0;
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
    return { inFlight: this.#inFlight, waiting: Math.min(this.#queue.size, soon) };
  }

  async #hear(answer: Promise<void>): Promise<void> {
    try {
      await answer;
    } catch (error) {
      this.#leases.drop();
      this.#failAll(error);
    }
    const isGone = this.#slots.whoIsGone(this.#now());
    if (isGone) void this.#leases.forgetGone(isGone).catch(() => undefined); // their slots expire all the same
    this.#pump();
  }

  /** Answers `wait` to callers that are known to be served too late, or whose time is up while no answer is due. */
  #sendAwayImpatient(nowMs: number): void {
    let position = 0;
    for (const waiter of this.#queue.inOrder()) {
      const servedInMs = this.#leases.earliestAtMs(position, waiter.lane) - nowMs;
      const patienceMs = Math.max(0, waiter.deadlineMs - nowMs);
      const isOver = patienceMs === 0 && !this.#leases.isAsking(waiter.lane) && nowMs >= this.#startsAtMs;
      if (servedInMs > patienceMs) waiter.answer(comeBackIn(servedInMs));
      else if (isOver) waiter.answer(comeBackIn(UNKNOWN_WAIT_MS));
      else position++;
    }
  }

  #failAll(error: unknown): void {
    for (const waiter of this.#queue.inOrder()) waiter.fail(error);
  }
}

function comeBackIn(ms: number): Taken {
  return { status: 'wait', retryAfterMs: Math.max(1, Math.ceil(ms)) };
}
