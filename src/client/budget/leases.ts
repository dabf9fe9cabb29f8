/**
 * The tokens this process has leased from the store, and the store's last answer: when to ask again, and whether the key
 * is blocked. A token is used only if the store answered within the last 250 ms, so that a 429 stops all processes within
 * that time. An expired token is not returned: its time has passed, and the service's bucket may have overflowed
 * meanwhile. A store whose clock was set forward treats the step as a long pause and grants the burst again; this process
 * rejects that burst.
 */
import {
  type AcquireRequest,
  type BudgetStore,
  type Grant,
  type Lane,
  orStoreAway,
  type RateHint,
  type RetryTaken,
  type SlotAsk,
} from './budget.ts';
import { Bounds, stopOf } from './hints.ts';
import type { SafeLimits } from './safe-limits.ts';
import type { SlotLease } from './slot-lease.ts';
import { createStoreClock } from './store-clock.ts';
import { type Token, TokenBuffer } from './token-buffer.ts';

export interface LeasesOptions {
  readonly key: string;
  readonly store: BudgetStore;
  readonly safe: SafeLimits;
  readonly slots: SlotLease;
  readonly now: () => number;
  readonly storeTimeoutMs: number;
}

/** Without slots while another request for slots is under way. */
type LeaseRequest = Pick<AcquireRequest, 'lane' | 'want' | 'cost' | 'withinMs' | 'slots'>;

const FRESH_MS = 250;
/** If the store has not answered lately, the process asks again this long before the next token is due. */
const REFRESH_AHEAD_MS = 20;
/** A discovered rate may be slow: a token may be late by this share of its interval. */
const DISCOVERED_GRACE = 0.25;
/** Headers round to whole seconds: a stop that ends this much later counts as the known stop. */
const SAME_STOP_MS = 1000;
/** A rate above this share of the planned one has as good as grown back. */
const LOWERED = 0.95;

export class Leases {
  /** Those that this process holds. */
  readonly tokens = new TokenBuffer();
  readonly #options: LeasesOptions;
  readonly #clock = createStoreClock();
  readonly #asking = new Set<Lane | 'refresh'>();
  readonly #turnAtMs: Record<Lane, number> = { interactive: 0, batch: 0 };
  readonly #bounds = new Bounds();
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #blockedUntilMs = 0;
  #ratePerSecond: number | undefined;
  #successes = 0;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** From the store's last answer; undefined before the first. */
  get ratePerSecond(): number | undefined {
    return this.#ratePerSecond;
  }

  /** The rate, if the service has lowered it: a small burst lowers the planned rate too. */
  get learntPerSecond(): number | undefined {
    const planned = this.#options.safe.pace.ratePerSecond;
    return (this.#ratePerSecond ?? planned) < planned * LOWERED ? this.#ratePerSecond : undefined;
  }

  /** How long no call may be made, as far as this process knows: the key is blocked, or its rate allows no call before. */
  blockedForMs(nowMs: number): number {
    const { interactive, batch } = this.#turnAtMs;
    return Math.max(0, Math.max(this.#blockedUntilMs, interactive, batch) - nowMs);
  }

  isAsking(asking: Lane | 'refresh'): boolean {
    return this.#asking.has(asking);
  }

  /** Before then, asking the store in this lane makes no sense. */
  turnAtMs(lane: Lane): number {
    return this.#turnAtMs[lane];
  }

  /** The earliest known time at which the caller at this position can be served. */
  earliestAtMs(position: number, lane: Lane): number {
    const held = this.tokens.at(position);
    if (held !== undefined) return held.usableAtMs;
    const { endAtMs, size } = this.tokens;
    const intervalMs = 1000 / (this.#ratePerSecond ?? this.#options.safe.pace.ratePerSecond);
    const afterLastMs = endAtMs === undefined ? 0 : endAtMs + (position - size + 1) * intervalMs;
    return Math.max(this.#turnAtMs[lane], afterLastMs);
  }

  /** The next token, if it may be used now. */
  due(nowMs: number): Token | undefined {
    const token = this.tokens.at(0);
    return token !== undefined && token.usableAtMs <= nowMs && this.#isFresh(nowMs) ? token : undefined;
  }

  /** When to look at the next token: at its time, or earlier to ask the store again. */
  attentionAtMs(nowMs: number): number {
    const token = this.tokens.at(0);
    if (token === undefined) return Number.POSITIVE_INFINITY;
    if (token.usableAtMs <= nowMs) return this.mustRefresh(nowMs) ? nowMs : token.expiresAtMs;
    return this.#isFresh(token.usableAtMs) ? token.usableAtMs : token.usableAtMs - REFRESH_AHEAD_MS;
  }

  mustRefresh(nowMs: number): boolean {
    const token = this.tokens.at(0);
    if (token === undefined || this.#asking.size > 0) return false;
    return token.usableAtMs - REFRESH_AHEAD_MS <= nowMs && !this.#isFresh(Math.max(nowMs, token.usableAtMs));
  }

  /** Asks whether the key was blocked meanwhile, and reports the slots needed. Throws BUDGET_STORE_AWAY. */
  refresh(slots: SlotAsk | undefined): Promise<void> {
    return this.#ask('refresh', { lane: 'batch', want: 0, cost: 1, slots });
  }

  /** Leases the tokens the store can grant now. Throws BUDGET_STORE_AWAY. */
  acquire(request: LeaseRequest): Promise<void> {
    return this.#ask(request.lane, request);
  }

  /** A 429 for a call sent at that time: stops this process at once and, through the store, all others. Throws BUDGET_STORE_AWAY. */
  async limited(forMs: number, admittedAtMs: number): Promise<void> {
    const { key, store, safe, now } = this.#options;
    this.#blockUntil(now() + forMs);
    const congestion = { forMs, admittedAtMs: this.#clock.toStore(admittedAtMs), pace: safe.pace };
    this.#ratePerSecond = (await this.#call(store.limited(key, congestion))).ratePerSecond;
  }

  /** Bounds go with the next request; only a new stop is reported at once. Throws BUDGET_STORE_AWAY. */
  async hinted(hint: RateHint): Promise<void> {
    const { key, store, now } = this.#options;
    this.#bounds.hear(hint, now());
    const forMs = stopOf(hint);
    if (forMs === undefined) return;
    const isKnown = now() + forMs <= this.#blockedUntilMs + SAME_STOP_MS;
    this.#blockUntil(now() + forMs);
    if (!isKnown) await this.#call(store.block(key, forMs));
  }

  /** Reported to the store with the next request. */
  succeeded(): void {
    this.#successes++;
  }

  /** Gives back the slots of processes that have ended. Throws BUDGET_STORE_AWAY. */
  async forgetGone(isGone: (holder: string) => boolean): Promise<void> {
    const { key, store } = this.#options;
    const holders = await this.#call(store.holders(key));
    for (const holder of holders.filter(isGone)) await this.#call(store.forget(key, holder));
  }

  retry(): Promise<RetryTaken> {
    const { key, store } = this.#options;
    return this.#call(store.retry(key, this.#tellSuccesses()));
  }

  async #ask(asking: Lane | 'refresh', request: LeaseRequest): Promise<void> {
    const { key, store, safe, now, slots } = this.#options;
    const sentAtMs = now();
    const bound = this.#bounds.tightest(sentAtMs);
    this.#asking.add(asking);
    try {
      const told = { ...request, pace: safe.pace, bound, successes: this.#tellSuccesses() };
      const grant = await this.#call(store.acquire(key, told));
      const aheadMs = this.#clock.observe(sentAtMs, now(), grant.storeNowMs);
      if (aheadMs > safe.graceMs) await this.#startWithoutBurst();
      this.#heardAtMs = Math.max(this.#heardAtMs, sentAtMs);
      if (request.slots) slots.heard(request.slots, grant.slots, now());
      this.#keep(request, grant);
    } catch (error) {
      if (request.slots) slots.failed();
      throw error;
    } finally {
      this.#asking.delete(asking);
    }
  }

  /** After a block there is no burst. The block lasts as long as other processes may use tokens granted before it. */
  async #startWithoutBurst(): Promise<void> {
    const { key, store, now } = this.#options;
    this.#blockUntil(now() + FRESH_MS);
    await this.#call(store.block(key, FRESH_MS));
    this.#blockUntil(now() + FRESH_MS);
  }

  #tellSuccesses(): number {
    const successes = this.#successes;
    this.#successes = 0;
    return successes;
  }

  #keep({ lane, want, cost, slots }: LeaseRequest, grant: Grant): void {
    const { safe, now } = this.#options;
    this.#ratePerSecond = grant.ratePerSecond;
    const asked = want + (slots ? Math.max(0, Math.min(slots.extra, grant.slots - slots.holding)) : 0);
    const lateMs = safe.pace.mode === 'discover' ? grant.intervalMs * DISCOVERED_GRACE : 0;
    const decidedAtMs = this.#clock.toOwn(grant.storeNowMs);
    if (grant.blockedForMs > 0) this.#blockUntil(decidedAtMs + grant.blockedForMs);
    const isBlocked = now() < this.#blockedUntilMs; // the answer may be from before the block
    if (isBlocked || !this.#clock.isSettled(safe.graceMs)) return;
    if (asked > 0) this.#turnAtMs[lane] = grant.granted < asked ? decidedAtMs + grant.retryInMs : 0;
    for (let index = 0; index < grant.granted; index++) {
      const inMs = grant.usableInMs + index * grant.intervalMs;
      const expiresAtMs = decidedAtMs + Math.max(0, inMs) + Math.max(safe.graceMs, lateMs);
      this.tokens.add({ cost, usableAtMs: decidedAtMs + inMs, expiresAtMs });
    }
  }

  #blockUntil(atMs: number): void {
    this.#blockedUntilMs = Math.max(this.#blockedUntilMs, atMs);
    this.#turnAtMs.interactive = Math.max(this.#turnAtMs.interactive, atMs);
    this.#turnAtMs.batch = Math.max(this.#turnAtMs.batch, atMs);
    this.tokens.drop();
  }

  #isFresh(atMs: number): boolean {
    return atMs - this.#heardAtMs <= FRESH_MS;
  }

  #call<T>(answer: Promise<T>): Promise<T> {
    const { key, store, storeTimeoutMs } = this.#options;
    return orStoreAway(answer, key, store, storeTimeoutMs);
  }
}
