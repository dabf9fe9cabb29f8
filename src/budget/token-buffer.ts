/** The tokens this process holds, in the order of their times. */

export interface Token {
  /** The heaviest call it is good for. */
  readonly cost: number;
  readonly usableAtMs: number;
  /** Past it the token must not be used: a late call would crowd the calls after it. */
  readonly expiresAtMs: number;
}

export class TokenBuffer {
  #tokens: Token[] = [];

  get size(): number {
    return this.#tokens.length;
  }

  /** The token at `index`, from 0; undefined where there is none. */
  at(index: number): Token | undefined {
    return this.#tokens.at(index);
  }

  /** How many calls of this cost the tokens are good for. */
  covers(cost: number): number {
    return this.#tokens.reduce((count, token) => (token.cost >= cost ? count + 1 : count), 0);
  }

  /** Answers to both lanes may cross: the later one may bring the earlier tokens. */
  add(token: Token): void {
    const after = this.#tokens.findLastIndex(({ usableAtMs }) => usableAtMs <= token.usableAtMs);
    this.#tokens.splice(after + 1, 0, token);
  }

  /** Removes the first token. */
  use(): void {
    this.#tokens.shift();
  }

  /** Removes the tokens past their time; gives their number. */
  expire(nowMs: number): number {
    const held = this.#tokens.length;
    if (this.#tokens.some((token) => token.expiresAtMs < nowMs)) {
      this.#tokens = this.#tokens.filter((token) => token.expiresAtMs >= nowMs);
    }
    return held - this.#tokens.length;
  }

  /** Removes all tokens; gives their number. */
  drop(): number {
    return this.#tokens.splice(0).length;
  }
}
