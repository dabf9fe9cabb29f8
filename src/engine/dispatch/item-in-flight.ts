import type { SendHow } from './source.ts';

/** Items that begin within this time share a signal: making one costs as much as half of a call here. */
const GROUP_MS = 10_000;
/** Longer than any timeout: a longer call is aborted. */
const LONGEST_CALL_MS = 330_000;

/** Items in flight that began at about the same time, and that are aborted together. */
export class ItemGroup {
  readonly #begunMs: number;
  /** Made at its first use, because rows do not use it. */
  #controller: AbortController | undefined;

  constructor(begunMs: number) {
    this.#begunMs = begunMs;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  isOpen(nowMs: number): boolean {
    return nowMs - this.#begunMs < GROUP_MS;
  }

  /** Whether each of its calls has taken too long. */
  isOverdue(nowMs: number): boolean {
    return nowMs - this.#begunMs > LONGEST_CALL_MS + GROUP_MS;
  }

  abort(): void {
    this.#controller ??= new AbortController();
    this.#controller.abort();
  }
}

/** One item in flight, as its source sees it. */
export class ItemInFlight implements SendHow {
  readonly group: ItemGroup;
  readonly dispatchBefore: number;
  readonly isHeld: () => boolean;
  readonly mayDispatch: () => boolean;

  constructor(group: ItemGroup, { dispatchBefore, isHeld, mayDispatch }: Omit<SendHow, 'signal'>) {
    this.group = group;
    this.dispatchBefore = dispatchBefore;
    this.isHeld = isHeld;
    this.mayDispatch = mayDispatch;
  }

  get signal(): AbortSignal {
    return this.group.signal;
  }
}
