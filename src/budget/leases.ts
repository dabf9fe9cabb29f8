/**
 * The tokens this process has leased from the store, and what the store last said: when our turn comes, and whether the
 * key is blocked. No token is used on the word of a store that was not heard for 250 ms: a 429 seen by one process
 * stops all of them that fast.
 * A token that expires is not given back: its time is past, and the service's bucket may have overflowed in that time.
 */
import type { BudgetStore, Grant, Lane } from './budget.ts';
import { Hand, type Token } from './hand.ts';
import type { SafeLimits } from './safe-limits.ts';
import { orStoreAway } from './store-away.ts';
import { createStoreClock } from './store-clock.ts';

export interface LeasesOptions {
  readonly key: string;
  readonly store: BudgetStore;
  readonly safe: SafeLimits;
  readonly now: () => number;
  readonly storeTimeoutMs: number;
}

export interface LeaseRequest {
  readonly lane: Lane;
  readonly want: number;
  readonly cost: number;
  readonly withinMs: number | undefined;
}

const FRESH_MS = 250;
/** A store not heard lately is asked again this long before the next token's time. */
const REFRESH_AHEAD_MS = 20;

export class Leases {
  readonly #options: LeasesOptions;
  readonly #hand = new Hand();
  readonly #clock = createStoreClock();
  readonly #asking = new Set<Lane | 'refresh'>();
  readonly #turnAtMs: Record<Lane, number> = { interactive: 0, batch: 0 };
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #blockedUntilMs = 0;
  #storeCalls = 0;
  #expired = 0;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  get storeCalls(): number {
    return this.#storeCalls;
  }

  get expired(): number {
    return this.#expired;
  }

  /** When the last token held may be used; undefined where none is held. */
  get endAtMs(): number | undefined {
    return this.#hand.last?.usableAtMs;
  }

  isAsking(lane: Lane): boolean {
    return this.#asking.has(lane);
  }

  /** Before then, asking the store in this lane makes no sense. */
  turnAtMs(lane: Lane): number {
    return this.#turnAtMs[lane];
  }

  /** How many calls of this cost the tokens held are good for. */
  covers(cost: number): number {
    return this.#hand.covers(cost);
  }

  /** The earliest time at which the caller at this place in the order can be served, as far as is known. */
  earliestAtMs(place: number, lane: Lane): number {
    const held = this.#hand.at(place);
    if (held !== undefined) return held.usableAtMs;
    const last = this.#hand.last;
    const intervalMs = 1000 / this.#options.safe.pace.ratePerSecond;
    const afterLastMs = last === undefined ? 0 : last.usableAtMs + (place - this.#hand.size + 1) * intervalMs;
    return Math.max(this.#turnAtMs[lane], afterLastMs);
  }

  /** The next token, if it may be used now. */
  due(nowMs: number): Token | undefined {
    const token = this.#hand.at(0);
    return token !== undefined && token.usableAtMs <= nowMs && this.#isFresh(nowMs) ? token : undefined;
  }

  /** Takes out the token that `due` gave. */
  use(): void {
    this.#hand.use();
  }

  /** Lets go of tokens past their grace; gives their number. */
  expire(nowMs: number): number {
    const expired = this.#hand.expire(nowMs);
    this.#expired += expired;
    return expired;
  }

  drop(): void {
    this.#expired += this.#hand.drop();
  }

  /** When the next token wants attention: its time, or before it the time to hear the store again. */
  attentionAtMs(nowMs: number): number {
    const token = this.#hand.at(0);
    if (token === undefined) return Number.POSITIVE_INFINITY;
    if (token.usableAtMs <= nowMs) return this.mustRefresh(nowMs) ? nowMs : token.expiresAtMs;
    return this.#isFresh(token.usableAtMs) ? token.usableAtMs : token.usableAtMs - REFRESH_AHEAD_MS;
  }

  mustRefresh(nowMs: number): boolean {
    const token = this.#hand.at(0);
    if (token === undefined || this.#asking.size > 0) return false;
    return token.usableAtMs - REFRESH_AHEAD_MS <= nowMs && !this.#isFresh(Math.max(nowMs, token.usableAtMs));
  }

  /** Asks whether the key was blocked meanwhile. Throws BUDGET_STORE_AWAY. */
  refresh(): Promise<void> {
    return this.#ask('refresh', { lane: 'batch', want: 0, cost: 1, withinMs: undefined });
  }

  /** Leases what the store can give now. Throws BUDGET_STORE_AWAY. */
  acquire(request: LeaseRequest): Promise<void> {
    return this.#ask(request.lane, request);
  }

  /** Stops this process at once and, through the store, all others. Throws BUDGET_STORE_AWAY. */
  async block(forMs: number): Promise<void> {
    const { key, store, now } = this.#options;
    this.#blockUntil(now() + forMs);
    await this.#call(store.block(key, forMs));
  }

  async #ask(asking: Lane | 'refresh', request: LeaseRequest): Promise<void> {
    const { key, store, safe, now } = this.#options;
    const sentAtMs = now();
    this.#asking.add(asking);
    try {
      const grant = await this.#call(store.acquire(key, { ...request, pace: safe.pace }));
      this.#clock.observe(sentAtMs, now(), grant.storeNowMs);
      this.#heardAtMs = Math.max(this.#heardAtMs, sentAtMs);
      this.#keep(request, grant);
    } finally {
      this.#asking.delete(asking);
    }
  }

  #keep({ lane, want, cost }: LeaseRequest, grant: Grant): void {
    const { safe, now } = this.#options;
    const decidedAtMs = this.#clock.toOwn(grant.storeNowMs);
    if (grant.blockedForMs > 0) this.#blockUntil(decidedAtMs + grant.blockedForMs);
    const isBlocked = now() < this.#blockedUntilMs; // the answer may be from before the block
    if (isBlocked || !this.#clock.isSettled(safe.graceMs)) {
      this.#expired += grant.granted;
      return;
    }
    if (want > 0) this.#turnAtMs[lane] = grant.granted < want ? decidedAtMs + grant.retryInMs : 0;
    for (let index = 0; index < grant.granted; index++) {
      const inMs = grant.usableInMs + index * grant.intervalMs;
      const expiresAtMs = decidedAtMs + Math.max(0, inMs) + safe.graceMs;
      this.#hand.add({ cost, usableAtMs: decidedAtMs + inMs, expiresAtMs });
    }
  }

  #blockUntil(atMs: number): void {
    this.#blockedUntilMs = Math.max(this.#blockedUntilMs, atMs);
    this.#turnAtMs.interactive = Math.max(this.#turnAtMs.interactive, atMs);
    this.#turnAtMs.batch = Math.max(this.#turnAtMs.batch, atMs);
    this.drop();
  }

  #isFresh(atMs: number): boolean {
    return atMs - this.#heardAtMs <= FRESH_MS;
  }

  #call<T>(answer: Promise<T>): Promise<T> {
    const { key, store, storeTimeoutMs } = this.#options;
    this.#storeCalls++;
    return orStoreAway(answer, key, store, storeTimeoutMs);
  }
}
