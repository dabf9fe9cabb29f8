/**
 * How long reading one file may take, all passes together. A small archive can unpack to hours of work; a limit on
 * bytes alone does not prevent this, because some bytes take longer than others.
 */
import { wrongUse } from '../base/errors.ts';

export class ReadingTime {
  readonly #name: string;
  readonly #maxMs: number;
  #spentMs = 0;
  #sinceMs = performance.now();

  constructor(name: string, maxMs: number) {
    this.#name = name;
    this.#maxMs = maxMs;
  }

  /** Starts the time: the file is read from now on. */
  go(): void {
    this.#sinceMs = performance.now();
  }

  /** Call it after each block. Throws CSV_TOO_SLOW. */
  spend(): void {
    const nowMs = performance.now();
    this.#spentMs += nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
    if (this.#spentMs <= this.#maxMs) return;
    const message = `Reading ${this.#name} took more than ${Math.round(this.#maxMs / 1000)} s. Split it into smaller files.`;
    throw wrongUse(message, 'CSV_TOO_SLOW');
  }
}
