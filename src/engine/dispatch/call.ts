/** One item in flight: how its source sees it, and how the dispatcher aborts it. */
import type { SendHow } from './source.ts';

export class Call implements SendHow {
  readonly sinceMs: number;
  readonly dispatchBefore: number;
  readonly isHeld: () => boolean;
  #controller: AbortController | undefined;

  constructor(sinceMs: number, dispatchBefore: number, isHeld: () => boolean) {
    this.sinceMs = sinceMs;
    this.dispatchBefore = dispatchBefore;
    this.isHeld = isHeld;
  }

  /** Created on demand: rows never use it, and it costs more than the rest of a call in the dispatcher. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  abort(): void {
    this.#controller ??= new AbortController();
    this.#controller.abort();
  }
}
