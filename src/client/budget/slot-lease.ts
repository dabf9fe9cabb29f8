/**
 * The calls this process may have in flight: its part of the key's cap, leased from the store with the tokens. The process
 * stops using a slot before it tells the store, so that the store never counts fewer calls than there are. Only one
 * request for slots is under way at a time, because two answers could cross.
 *
 * The store counts a slot for a process until the process reports fewer, or is silent for 15 s. Each process gets the
 * slots that are neither held by another process nor part of its equal share. If there are more processes than slots, they
 * take turns of half a second; the process that has waited longest goes first.
 */
import { randomUUID } from 'node:crypto';
import type { SlotAsk } from './budget.ts';

export interface Load {
  readonly inFlight: number;
  readonly waiting: number;
}

/** How processes that share a key identify each other. */
export interface ProcessName {
  readonly name: string;
  /** Whether the process of that name has certainly ended. */
  readonly isGone: (name: string) => boolean;
}

/** Callers that return one by one need the slots they used lately at once. */
const LATELY_MS = 100;
/** How long after the last request the process reports free slots to the store. */
const TELL_AFTER_MS = 200;
/** The same while other processes wait for slots. */
const TELL_SOON_MS = 20;
/** A third of the time after which the store frees the slots of a silent process. */
const RENEW_AFTER_MS = 5_000;
/** How often a process that is short of slots looks for killed processes. */
const LOOK_FOR_GONE_MS = 1_000;
const FIRST_POLL_MS = 50;
const LAST_POLL_MS = 200;

export class SlotLease {
  readonly #cap: number;
  readonly #process: ProcessName;
  #lookedForGoneAtMs = Number.NEGATIVE_INFINITY;
  #seq = 0;
  #limit = 0;
  /** What the store knows: an upper bound of the slots it counts as ours, and the slots we wanted. */
  #counted = 0;
  #toldWanted = 0;
  #isCrowded = false;
  #isAsking = false;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #pollMs = FIRST_POLL_MS;
  #pollAtMs = 0;
  #windowEndsAtMs = 0;
  #peak = 0;
  #peakBefore = 0;

  constructor(cap: number, process: ProcessName = { name: randomUUID(), isGone: () => false }) {
    this.#cap = cap;
    this.#process = process;
  }

  /** Killed processes may still hold slots: returns how to recognise them when it is time to look. */
  whoIsGone(nowMs: number): ProcessName['isGone'] | undefined {
    if (!this.#isCrowded || nowMs < this.#lookedForGoneAtMs + LOOK_FOR_GONE_MS) return undefined;
    this.#lookedForGoneAtMs = nowMs;
    return this.#process.isGone;
  }

  /** Calls that may be started now. */
  room(inFlight: number): number {
    return Math.max(0, this.#limit - inFlight);
  }

  /** How many more the store may be asked for now. */
  mayAskFor({ inFlight, waiting }: Load, nowMs: number): number {
    if (this.#isAsking || nowMs < this.#pollAtMs) return 0;
    return Math.max(0, Math.min(waiting, this.#cap - inFlight) - this.room(inFlight));
  }

  /** Called with every change, to know what was in use lately. */
  see({ inFlight, waiting }: Load, nowMs: number): void {
    this.#turn(nowMs);
    this.#peak = Math.max(this.#peak, inFlight + waiting);
  }

  /** Goes with a request to the store; undefined while another is under way. */
  ask(load: Load, extra: number, nowMs: number): SlotAsk | undefined {
    if (this.#isAsking) return undefined;
    const wanted = this.#wanted(load, nowMs);
    this.#limit = Math.min(this.#limit, wanted);
    const holding = Math.max(load.inFlight, this.#limit);
    this.#isAsking = true;
    this.#toldAtMs = nowMs;
    this.#seq++;
    return { holder: this.#process.name, seq: this.#seq, holding, wanted, cap: this.#cap, extra };
  }

  /** The last request: keeps the slots in flight and wants no others. */
  giveBack(inFlight: number, nowMs: number): SlotAsk | undefined {
    this.#peak = 0;
    this.#peakBefore = 0;
    const isKnown = this.#counted > 0 || this.#toldWanted > 0;
    return isKnown ? this.ask({ inFlight, waiting: 0 }, 0, nowMs) : undefined;
  }

  heard({ holding, wanted }: SlotAsk, slots: number, nowMs: number): void {
    this.#isAsking = false;
    const isMore = slots > this.#limit;
    this.#limit = slots;
    this.#counted = Math.max(holding, slots);
    this.#toldWanted = wanted;
    this.#isCrowded = slots < wanted;
    if (!this.#isCrowded) {
      this.#pollMs = FIRST_POLL_MS;
      this.#pollAtMs = 0;
    } else {
      this.#pollMs = isMore ? FIRST_POLL_MS : Math.min(this.#pollMs * 2, LAST_POLL_MS);
      this.#pollAtMs = nowMs + this.#pollMs;
    }
  }

  /** The store did not answer. Slots it may have granted expire there; the next request says what is held. */
  failed(): void {
    this.#isAsking = false;
    this.#counted = 0;
    this.#toldWanted = 0;
  }

  /** Whether it is time to tell the store that fewer slots are needed, or that the process is alive. */
  mustTell(load: Load, nowMs: number): boolean {
    return !this.#isAsking && nowMs >= this.#tellAtMs(load, nowMs);
  }

  attentionAtMs(load: Load, nowMs: number): number {
    if (this.#isAsking) return Number.POSITIVE_INFINITY;
    const isShort = load.waiting > this.room(load.inFlight) && this.#limit < this.#cap;
    const pollAtMs = isShort && this.#pollAtMs > nowMs ? this.#pollAtMs : Number.POSITIVE_INFINITY;
    return Math.min(pollAtMs, this.#tellAtMs(load, nowMs));
  }

  #tellAtMs(load: Load, nowMs: number): number {
    const wanted = this.#wanted(load, nowMs);
    const needed = Math.max(load.inFlight, Math.min(this.#limit, wanted));
    const tellAtMs = this.#toldAtMs + (this.#isCrowded ? TELL_SOON_MS : TELL_AFTER_MS);
    if (this.#counted > needed || this.#toldWanted > wanted) return tellAtMs;
    const current = load.inFlight + load.waiting;
    const fewerAtMs = Math.max(tellAtMs, this.#windowEndsAtMs + LATELY_MS);
    if (this.#counted > current || this.#toldWanted > current) return fewerAtMs;
    return load.inFlight > 0 ? this.#toldAtMs + RENEW_AFTER_MS : Number.POSITIVE_INFINITY;
  }

  #wanted({ inFlight, waiting }: Load, nowMs: number): number {
    this.#turn(nowMs);
    return Math.min(this.#cap, Math.max(inFlight + waiting, this.#peak, this.#peakBefore));
  }

  #turn(nowMs: number): void {
    if (nowMs < this.#windowEndsAtMs) return;
    this.#peakBefore = nowMs < this.#windowEndsAtMs + LATELY_MS ? this.#peak : 0;
    this.#peak = 0;
    this.#windowEndsAtMs = nowMs + LATELY_MS;
  }
}
