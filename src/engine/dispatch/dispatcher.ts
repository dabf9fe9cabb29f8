/**
 * The dispatcher: claims items durably, keeps a few ahead, sends them concurrently, and records their outcomes in batches,
 * under one claim that it renews. The source defines the items.
 *
 *   claim ──> queue ──> in flight ──> outcomes ──> recorded
 *               └───── not sent ─────────┘
 *
 * An item without a recorded outcome when the claim is dropped, or taken over after a crash, may have been sent: its
 * source decides what follows.
 */
import type { Admission } from '../../client/call/breaker.ts';
import { type Bell, createBell } from './clock.ts';
import { ItemGroup, ItemInFlight } from './item-in-flight.ts';
import type { DispatchOptions, Ended, Sent, Source } from './source.ts';

/** How often the dispatcher asks a source again that had no items or could not be sent to, and repeats what has failed. */
export const POLL_MS = 500;
/** Nothing is in flight this long before the claim may belong to another process. */
const GUARD_MS = 5_000;
/** Tries to record outcomes after the dispatch has ended, before giving up. */
const TRIES_AT_END = 5;
/** Maximum unrecorded outcomes, in portions: slow recording slows sending down. */
const UNRECORDED_PORTIONS = 10;
/** A portion sent in less than this makes the next one larger; one that takes more than four times this makes it smaller. */
const QUICK_MS = 500;

/** Dispatches under one claim. @throws what `claim`, `record` or a defect in `send` throws, once nothing is in flight */
export async function dispatch<Claim, Item, Outcome, Stop = never>(
  source: Source<Claim, Item, Outcome, Stop>,
  options: DispatchOptions,
): Promise<Ended<Stop>> {
  const askedAtMs = options.clock.nowMs();
  const claim = await source.takeClaim();
  return claim === undefined ? { status: 'unclaimed' } : new Dispatch(source, options, claim, askedAtMs).run();
}

class Dispatch<Claim, Item, Outcome, Stop> {
  readonly #source: Source<Claim, Item, Outcome, Stop>;
  readonly #options: DispatchOptions;
  readonly #claim: Claim;
  readonly #bell: Bell;
  readonly #isOver = new AbortController();
  readonly #sliceEndMs: number;
  #status: 'open' | 'dry' | 'more' | 'lost' = 'open';
  #stop: { readonly cause: Stop } | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** After this time nothing may be in flight. */
  #heldUntilMs: number;
  #portion: number;
  #claimedAtMs = Number.NEGATIVE_INFINITY;
  /** The last claim returned fewer items than asked for: the next ring or poll brings more. */
  #isShort = false;
  #queue: Item[] = [];
  readonly #inFlight = new Set<ItemInFlight>();
  #group = new ItemGroup(Number.NEGATIVE_INFINITY);
  /** Not recorded yet. */
  #outcomes: Outcome[] = [];
  #recordings = 0;
  #recording: Promise<void> | undefined;
  /** Aborts the wait for more outcomes. */
  #gathering = new AbortController();

  constructor(source: Source<Claim, Item, Outcome, Stop>, options: DispatchOptions, claim: Claim, askedAtMs: number) {
    this.#source = source;
    this.#options = options;
    this.#claim = claim;
    this.#bell = createBell(options.clock);
    this.#sliceEndMs = askedAtMs + (options.sliceMs ?? Number.POSITIVE_INFINITY);
    this.#heldUntilMs = askedAtMs + options.ttlMs - GUARD_MS;
    this.#portion = options.portion.least;
  }

  async run(): Promise<Ended<Stop>> {
    const { signal } = this.#options;
    signal.addEventListener('abort', this.#bell.ring);
    const renewing = this.#keepClaim();
    while (!this.#mustEnd()) {
      const waitMs = await this.#round();
      if (waitMs > 0 && !this.#mustEnd()) await this.#bell.wait(waitMs);
    }
    if (this.#status === 'open') this.#status = 'more';
    this.#giveBack();
    while (this.#inFlight.size > 0) await this.#bell.wait(POLL_MS);
    this.#gathering.abort();
    await this.#recording;
    this.#isOver.abort();
    await renewing;
    signal.removeEventListener('abort', this.#bell.ring);
    await this.#source.drop(this.#claim);
    if (this.#failure) throw this.#failure.error;
    return this.#stop ? { status: 'stopped', stop: this.#stop.cause } : { status: this.#status };
  }

  #mustEnd(nowMs = this.#options.clock.nowMs()): boolean {
    if (this.#status !== 'open' || this.#stop || this.#failure || this.#options.signal.aborted) return true;
    return nowMs >= this.#sliceEndMs;
  }

  /** Claims once, if there is room and the source may be sent to. Returns how long to wait for the next round. */
  async #round(): Promise<number> {
    this.#dispatch();
    const admitted = this.#admit();
    if (admitted.status === 'wait') return Math.min(POLL_MS, admitted.forMs);
    const [isProbe, isBusy] = [admitted.status === 'probe', this.#isBusy()];
    const unrecorded = this.#outcomes.length;
    const isFull = this.#queue.length > this.#portion / 2 || unrecorded > UNRECORDED_PORTIONS * this.#portion;
    if (isProbe ? isBusy : isFull) return POLL_MS;
    const limit = isProbe ? 1 : this.#portion - this.#queue.length;
    const recordings = this.#recordings;
    const items = await this.#claimUpTo(limit);
    if (isProbe && !this.#mustEnd()) for (const item of items) this.#start(item, this.#options.clock.nowMs());
    else this.#queue.push(...items);
    this.#dispatch();
    this.#isShort = items.length < limit;
    if (!this.#isShort) this.#adaptPortion();
    const isDry = items.length === 0 && !isBusy && unrecorded === 0;
    if (isDry && this.#options.whenDry === 'end' && this.#status === 'open') this.#status = 'dry';
    // Outcomes recorded meanwhile may have freed items that this claim did not see.
    return this.#isShort && recordings === this.#recordings ? POLL_MS : 0;
  }

  async #claimUpTo(limit: number): Promise<readonly Item[]> {
    try {
      return await this.#source.claim(this.#claim, limit);
    } catch (error) {
      if (this.#options.whenDry === 'end') this.#failure ??= { error };
      else this.#options.log.warn({ err: error }, 'claiming items failed');
      return [];
    }
  }

  #adaptPortion(): void {
    const { clock, portion } = this.#options;
    const tookMs = clock.nowMs() - this.#claimedAtMs;
    this.#claimedAtMs = clock.nowMs();
    if (tookMs < QUICK_MS) this.#portion = Math.min(portion.most, this.#portion * 2);
    else if (tookMs > 4 * QUICK_MS) this.#portion = Math.max(portion.least, Math.floor(this.#portion / 2));
  }

  #isHeld = (): boolean => this.#status !== 'lost';
  #mayDispatch = (): boolean => this.#isHeld() && this.#options.clock.nowMs() < this.#heldUntilMs;
  #admit = (): Admission => this.#source.admit?.() ?? { status: 'go' };
  #isBusy = (): boolean => this.#inFlight.size + this.#queue.length > 0;

  #dispatch(): void {
    if (this.#admit().status !== 'go') this.#giveBack();
    const { clock, concurrency, timeoutMs } = this.#options;
    const nowMs = clock.nowMs();
    while (this.#inFlight.size < concurrency && !this.#mustEnd(nowMs)) {
      if (nowMs >= this.#heldUntilMs - timeoutMs) return; // until the claim is renewed, or lost
      const item = this.#queue.shift();
      if (item === undefined) return;
      this.#start(item, nowMs);
    }
  }

  #start(item: Item, nowMs: number): void {
    const dispatchBefore = this.#heldUntilMs - this.#options.timeoutMs;
    if (!this.#group.isOpen(nowMs)) this.#group = new ItemGroup(nowMs);
    const limits = { dispatchBefore, isHeld: this.#isHeld, mayDispatch: this.#mayDispatch };
    const call = new ItemInFlight(this.#group, limits);
    this.#inFlight.add(call);
    this.#source.send(item, call).then(
      (sent) => this.#onSent(call, sent),
      (error: unknown) => {
        this.#failure ??= { error };
        this.#onSent(call, {});
      },
    );
  }

  #onSent(call: ItemInFlight, { outcome, stop }: Sent<Outcome, Stop>): void {
    this.#inFlight.delete(call);
    if (stop !== undefined) this.#stop ??= { cause: stop };
    if (outcome !== undefined) this.#keep(outcome);
    this.#dispatch();
    const hasRoom = !this.#isShort && this.#queue.length <= this.#portion / 2;
    if (hasRoom || this.#mustEnd()) this.#bell.ring();
    if (!this.#isBusy()) this.#gathering.abort(); // no more outcomes are coming
  }

  #giveBack(): void {
    const unsent = this.#queue.splice(0);
    this.#keep(...unsent.map((item) => this.#source.unsent(item)));
  }

  #keep(...outcomes: readonly Outcome[]): void {
    if (!this.#isHeld() || outcomes.length === 0) return;
    this.#outcomes.push(...outcomes);
    this.#recording ??= this.#record();
  }

  async #record(): Promise<void> {
    const { clock, gatherMs } = this.#options;
    let failures = 0;
    while (this.#outcomes.length > 0 && !(this.#mustEnd() && failures >= TRIES_AT_END)) {
      this.#gathering = new AbortController();
      if (failures > 0) await clock.wait(POLL_MS, this.#isOver.signal);
      else if (this.#isBusy()) await clock.wait(gatherMs, this.#gathering.signal);
      const batch = [...this.#outcomes];
      const left = await this.#tryToRecord(batch, failures + 1);
      this.#outcomes.splice(0, batch.length, ...left);
      failures = left.length > 0 ? failures + 1 : 0;
      this.#recordings++;
      this.#dispatch(); // or releases the items if nothing may be sent now
      this.#bell.ring();
    }
    this.#recording = undefined;
  }

  /** The outcomes that are still to be recorded. */
  async #tryToRecord(batch: readonly Outcome[], attempt: number): Promise<readonly Outcome[]> {
    try {
      const recorded = await this.#source.record(this.#claim, batch);
      if (recorded.status === 'lost') this.#lose();
      if (recorded.status === 'over' && this.#status === 'open') this.#status = 'more';
      return recorded.status === 'recorded' ? (recorded.left ?? []) : [];
    } catch (error) {
      this.#options.log.warn({ err: error }, 'recording outcomes failed');
      if (attempt >= TRIES_AT_END && this.#mustEnd()) this.#failure ??= { error };
      return batch;
    }
  }

  async #keepClaim(): Promise<void> {
    const { clock, ttlMs, log } = this.#options;
    for (let pauseMs = ttlMs / 3; ; ) {
      await clock.wait(pauseMs, this.#isOver.signal);
      if (this.#isOver.signal.aborted) return;
      const askedAtMs = clock.nowMs();
      for (const { group } of this.#inFlight) if (group.isOverdue(askedAtMs)) group.abort();
      try {
        if (await this.#source.renew(this.#claim)) this.#heldUntilMs = askedAtMs + ttlMs - GUARD_MS;
        else this.#lose();
        pauseMs = ttlMs / 3;
      } catch (error) {
        log.warn({ err: error }, 'renewing a claim failed');
        pauseMs = POLL_MS;
      }
      if (clock.nowMs() >= this.#heldUntilMs) this.#lose();
      this.#bell.ring();
    }
  }

  #lose(): void {
    this.#status = 'lost';
    this.#queue = [];
    for (const { group } of this.#inFlight) group.abort();
  }
}
