/** One item in flight: how its source sees it, and how the dispatcher aborts it. */
import { setMaxListeners } from 'node:events';
import type { SendHow } from './source.ts';

/** Calls that begin within this time share a signal, which costs more than the rest of a call in the dispatcher. */
const TOGETHER_MS = 10_000;

export class Call implements SendHow {
  readonly dispatchBefore: number;
  readonly isHeld: () => boolean;
  readonly mayDispatch: () => boolean;
  readonly #group: CallGroup;

  constructor(group: CallGroup, { dispatchBefore, isHeld, mayDispatch }: Omit<SendHow, 'signal'>) {
    this.#group = group;
    this.dispatchBefore = dispatchBefore;
    this.isHeld = isHeld;
    this.mayDispatch = mayDispatch;
  }

  get signal(): AbortSignal {
    return this.#group.signal;
  }

  /** The latest time at which a call of the same group began. */
  get begunMs(): number {
    return this.#group.lastMs;
  }

  abort(): void {
    this.#group.abort();
  }
}

export class CallGroup {
  lastMs: number;
  readonly #sinceMs: number;
  readonly #controller = new AbortController();

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
    this.lastMs = nowMs;
    setMaxListeners(0, this.signal); // every call in flight may listen
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(): void {
    this.#controller.abort();
  }

  /** The group of a call that begins now: this one, or a new one. */
  at(nowMs: number): CallGroup {
    if (nowMs - this.#sinceMs > TOGETHER_MS) return new CallGroup(nowMs);
    this.lastMs = nowMs;
    return this;
  }
}
