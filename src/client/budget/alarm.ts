/** One timer for the earliest of several times. */

/** setTimeout fires at once for longer delays. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export class Alarm {
  readonly #ring: () => void;
  #timer: NodeJS.Timeout | undefined;
  #atMs = Number.POSITIVE_INFINITY;

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  /** Rings once, at `atMs` or before; never for Infinity. Unless `isForWork`, the timer does not keep the process alive. */
  set(atMs: number, nowMs: number, isForWork: boolean): void {
    if (atMs === Number.POSITIVE_INFINITY) {
      this.clear();
      return;
    }
    if (this.#timer === undefined || this.#atMs > atMs) {
      this.clear();
      this.#atMs = atMs;
      const ring = () => {
        this.#timer = undefined;
        this.#ring();
      };
      this.#timer = setTimeout(ring, Math.min(Math.max(1, atMs - nowMs), MAX_TIMER_MS));
    }
    if (isForWork) this.#timer.ref();
    else this.#timer.unref();
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
