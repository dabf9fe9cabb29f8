/** The right to one call in flight, from the moment the budget granted it. */
import type { Permit, RateHint } from './budget.ts';

/** What a permit reports to its budget. */
export interface PermitOwner {
  ended(): void;
  limited(retryAfterMs: number, admittedAtMs: number): Promise<void>;
  hinted(hint: RateHint): Promise<void>;
  succeeded(): void;
}

export class HeldPermit implements Permit {
  readonly #owner: PermitOwner;
  readonly #admittedAtMs: number;
  #isHeld = true;

  constructor(owner: PermitOwner, admittedAtMs: number) {
    this.#owner = owner;
    this.#admittedAtMs = admittedAtMs;
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#owner.ended();
  }

  limited(retryAfterMs: number): Promise<void> {
    return this.#owner.limited(retryAfterMs, this.#admittedAtMs);
  }

  hinted(hint: RateHint): Promise<void> {
    return this.#owner.hinted(hint);
  }

  succeeded(): void {
    this.#owner.succeeded();
  }
}
