import type { SendHow } from './source.ts';

/** One item in flight: how its source sees it, and how the dispatcher aborts it. */
export class ItemInFlight implements SendHow {
  readonly begunMs: number;
  readonly dispatchBefore: number;
  readonly isHeld: () => boolean;
  readonly mayDispatch: () => boolean;
  /** Made at its first use, because it costs more than the rest of a call here, and rows do not use it. */
  #controller: AbortController | undefined;

  constructor(begunMs: number, { dispatchBefore, isHeld, mayDispatch }: Omit<SendHow, 'signal'>) {
    this.begunMs = begunMs;
    this.dispatchBefore = dispatchBefore;
    this.isHeld = isHeld;
    this.mayDispatch = mayDispatch;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  abort(): void {
    this.#controller ??= new AbortController();
    this.#controller.abort();
  }
}
