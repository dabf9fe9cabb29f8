/**
 * The dispatcher: claims items durably, keeps a few ahead, sends them with a concurrency, and records what became of them
 * in batches, under one claim that it renews. What the items are is up to the source.
 *
 *   claim ──> queue ──> in flight ──> outcomes ──> recorded
 *               └───── not sent ─────────┘
 *
 * An item without a recorded outcome when the claim is dropped, or taken over after a crash, may have been sent: its
 * source decides what follows.
 */
import type { Admission } from '../../client/breaker.ts';
import { type Bell, createBell } from './clock.ts';
import type { DispatchOptions, Ended, Sent, Source } from './source.ts';

/** How often a source is asked again that had nothing, or could not be sent to. */
export const POLL_MS = 500;
/** Nothing is in flight for so long before the claim may be another process's. */
const GUARD_MS = 5_000;
/** Longer than any timeout: a call that takes more is broken off. */
const LONGEST_CALL_MS = 330_000;
const TRY_AGAIN_MS = 500;
/** Outcomes that cannot be recorded are given up after so many tries, once the dispatch ends. */
const TRIES_AT_END = 5;
/** Outcomes that may be unrecorded, in portions: slow recording slows the sending. */
const UNRECORDED_PORTIONS = 10;
/** A portion that is sent in less than this becomes larger, and one that takes more than four times of it smaller. */
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
  /** By then nothing may be in flight any more. */
  #heldUntilMs: number;
  #portion: number;
  #claimedAtMs = Number.NEGATIVE_INFINITY;
  /** The last claim came back short: more comes only by a ring, or with the next look. */
  #isShort = false;
  #queue: Item[] = [];
  /** Since when each call is in flight. */
  readonly #inFlight = new Map<AbortController, number>();
  #outcomes: Outcome[] = [];
  #beingRecorded = 0;
  #recordings = 0;
  #recording: Promise<void> | undefined;
  /** Aborts the wait for more outcomes. */
  #gathering = new AbortController();

  constructor(source: Source<Claim, Item, Outcome, Stop>, options: DispatchOptions, claim: Claim, askedAtMs: number) {
    this.#source = source;
    this.#options = options;
    this.#claim = claim;
    this.#bell = options.bell ?? createBell(options.clock);
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
    while (this.#inFlight.size > 0) await this.#bell.wait(LONGEST_CALL_MS);
    this.#gathering.abort();
    await this.#recording;
    this.#isOver.abort();
    await renewing;
    signal.removeEventListener('abort', this.#bell.ring);
    await this.#source.drop(this.#claim);
    if (this.#failure) throw this.#failure.error;
    return this.#stop ? { status: 'stopped', stop: this.#stop.cause } : { status: this.#status };
  }

  #mustEnd(): boolean {
    if (this.#status !== 'open' || this.#stop || this.#failure || this.#options.signal.aborted) return true;
    return this.#options.clock.nowMs() >= this.#sliceEndMs;
  }

  /** Claims once, where there is room and the source may be sent to. Answers how long to wait for the next round. */
  async #round(): Promise<number> {
    this.#dispatch();
    const admitted = this.#admit();
    if (admitted.status === 'wait') return Math.min(POLL_MS, admitted.forMs);
    const isProbe = admitted.status === 'probe';
    const isBusy = this.#isBusy();
    const unrecorded = this.#outcomes.length + this.#beingRecorded;
    const isFull = this.#queue.length > this.#portion / 2 || unrecorded > UNRECORDED_PORTIONS * this.#portion;
    if (isProbe ? isBusy : isFull) return POLL_MS;
    const limit = isProbe ? 1 : this.#portion - this.#queue.length;
    const recordings = this.#recordings;
    const items = await this.#claimUpTo(limit);
    if (isProbe && !this.#mustEnd()) for (const item of items) this.#start(item);
    else this.#queue.push(...items);
    this.#dispatch();
    this.#isShort = items.length < limit;
    if (!this.#isShort) this.#adaptPortion();
    const isDry = items.length === 0 && !isBusy && unrecorded === 0;
    if (isDry && this.#options.whenDry === 'end' && this.#status === 'open') this.#status = 'dry';
    // What was recorded meanwhile may have freed items that this claim did not see.
    return this.#isShort && recordings === this.#recordings ? POLL_MS : 0;
  }

  async #claimUpTo(limit: number): Promise<readonly Item[]> {
    try {
      return await this.#source.claim(this.#claim, limit);
    } catch (error) {
      if (this.#options.whenDry === 'end') this.#failure ??= { error };
      else this.#options.log.warn({ err: error }, 'nothing could be claimed');
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

  #admit = (): Admission => this.#source.admit?.() ?? { status: 'go' };

  #isBusy = (): boolean => this.#inFlight.size + this.#queue.length > 0;

  #dispatch(): void {
    if (this.#admit().status !== 'go') this.#giveBack();
    const { clock, concurrency, timeoutMs } = this.#options;
    while (this.#inFlight.size < concurrency && !this.#mustEnd()) {
      if (clock.nowMs() >= this.#heldUntilMs - timeoutMs) return; // until the claim is renewed, or lost
      const item = this.#queue.shift();
      if (item === undefined) return;
      this.#start(item);
    }
  }

  #start(item: Item): void {
    const { clock, timeoutMs } = this.#options;
    const call = new AbortController();
    this.#inFlight.set(call, clock.nowMs());
    const isHeld = () => this.#status !== 'lost';
    this.#source.send(item, { dispatchBefore: this.#heldUntilMs - timeoutMs, signal: call.signal, isHeld }).then(
      (sent) => this.#onSent(call, sent),
      (error: unknown) => {
        this.#failure ??= { error };
        this.#onSent(call, {});
      },
    );
  }

  #onSent(call: AbortController, { outcome, stop }: Sent<Outcome, Stop>): void {
    this.#inFlight.delete(call);
    if (stop !== undefined) this.#stop ??= { cause: stop };
    if (outcome !== undefined && this.#status !== 'lost') this.#gather([outcome]);
    this.#dispatch();
    const hasRoom = !this.#isShort && this.#queue.length <= this.#portion / 2;
    if (hasRoom || this.#mustEnd()) this.#bell.ring();
    if (!this.#isBusy()) this.#gathering.abort(); // nothing comes that is worth waiting for
  }

  #giveBack(): void {
    const unsent = this.#queue;
    this.#queue = [];
    if (this.#status !== 'lost') this.#gather(unsent.map((item) => this.#source.unsent(item)));
  }

  #gather(outcomes: readonly Outcome[]): void {
    this.#outcomes.push(...outcomes);
    if (this.#outcomes.length > 0) this.#recording ??= this.#record();
  }

  async #record(): Promise<void> {
    const { clock, gatherMs, log } = this.#options;
    let failures = 0;
    while (this.#outcomes.length > 0 && !(this.#mustEnd() && failures >= TRIES_AT_END)) {
      this.#gathering = new AbortController();
      if (failures > 0) await clock.wait(TRY_AGAIN_MS, this.#isOver.signal);
      else if (this.#isBusy()) await clock.wait(gatherMs, this.#gathering.signal);
      const batch = this.#outcomes;
      this.#outcomes = [];
      this.#beingRecorded = batch.length;
      try {
        const recorded = await this.#source.record(this.#claim, batch);
        const left = recorded.status === 'recorded' ? (recorded.left ?? []) : [];
        if (recorded.status === 'lost') this.#lose();
        if (recorded.status === 'over' && this.#status === 'open') this.#status = 'more';
        this.#outcomes.unshift(...left);
        failures = left.length > 0 ? failures + 1 : 0;
      } catch (error) {
        log.warn({ err: error }, 'outcomes could not be recorded');
        this.#outcomes.unshift(...batch);
        if (++failures >= TRIES_AT_END && this.#mustEnd()) this.#failure ??= { error };
      }
      this.#beingRecorded = 0;
      this.#recordings++;
      this.#dispatch(); // or gives back, where the source may not be sent to any more
      this.#bell.ring();
    }
    this.#recording = undefined;
  }

  async #keepClaim(): Promise<void> {
    const { clock, ttlMs, log } = this.#options;
    const { signal } = this.#isOver;
    for (let pauseMs = ttlMs / 3; ; ) {
      await clock.wait(pauseMs, signal);
      if (signal.aborted) return;
      const askedAtMs = clock.nowMs();
      for (const [call, sinceMs] of this.#inFlight) if (askedAtMs - sinceMs > LONGEST_CALL_MS) call.abort();
      try {
        if (await this.#source.renew(this.#claim)) this.#heldUntilMs = askedAtMs + ttlMs - GUARD_MS;
        else this.#lose();
        pauseMs = ttlMs / 3;
      } catch (error) {
        log.warn({ err: error }, 'a claim was not renewed');
        pauseMs = TRY_AGAIN_MS;
      }
      if (clock.nowMs() >= this.#heldUntilMs) this.#lose();
      this.#bell.ring();
    }
  }

  #lose(): void {
    this.#status = 'lost';
    this.#queue = [];
    for (const call of this.#inFlight.keys()) call.abort();
  }
}
