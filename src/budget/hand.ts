/** The tokens this process holds, first to use first. */

export interface Token {
  /** The heaviest call it is good for. */
  readonly cost: number;
  readonly usableAtMs: number;
  /** Past it the token must not be used: a late call would crowd the ones after it. */
  readonly expiresAtMs: number;
}

export class Hand {
  #tokens: Token[] = [];

  get size(): number {
    return this.#tokens.length;
  }

  /** The token at `index`, from 0; undefined where there is none. */
  at(index: number): Token | undefined {
    return this.#tokens[index];
  }

  get last(): Token | undefined {
    return this.#tokens.at(-1);
  }

  /** How many calls of this cost the hand is good for. */
  covers(cost: number): number {
    return this.#tokens.reduce((count, token) => (token.cost >= cost ? count + 1 : count), 0);
  }

  /** Answers to both lanes may cross: the later one may bring the earlier tokens. */
  add(token: Token): void {
    let place = this.#tokens.length;
    while (place > 0 && (this.#tokens[place - 1]?.usableAtMs ?? 0) > token.usableAtMs) place--;
    this.#tokens.splice(place, 0, token);
  }

  /** Takes out the first token. */
  use(): void {
    this.#tokens.shift();
  }

  /** Lets go of what has expired; gives the number. */
  expire(nowMs: number): number {
    const held = this.#tokens.length;
    if (this.#tokens.some((token) => token.expiresAtMs < nowMs)) {
      this.#tokens = this.#tokens.filter((token) => token.expiresAtMs >= nowMs);
    }
    return held - this.#tokens.length;
  }

  /** Lets go of everything; gives the number. */
  drop(): number {
    return this.#tokens.splice(0).length;
  }
}
