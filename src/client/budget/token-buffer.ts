/** The tokens this process holds, in the order of their times. */

export interface Token {
  /** The highest cost of a call it covers. */
  readonly cost: number;
  readonly usableAtMs: number;
  /** After this the token must not be used: a late call would come too close to the next calls. */
  readonly expiresAtMs: number;
}

export class TokenBuffer {
  #tokens: Token[] = [];
  /** No token expires earlier or covers a lower cost, so most questions are answered without checking each token. */
  #firstExpiryMs = Number.POSITIVE_INFINITY;
  #leastCost = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#tokens.length;
  }

  /** When the last token may be used; undefined if there is none. */
  get endAtMs(): number | undefined {
    return this.#tokens.at(-1)?.usableAtMs;
  }

  /** The token at `index`, from 0; undefined if there is none. */
  at(index: number): Token | undefined {
    return this.#tokens.at(index);
  }

  /** How many calls of this cost the tokens cover. */
  covers(cost: number): number {
    if (cost <= this.#leastCost) return this.#tokens.length;
    return this.#tokens.reduce((count, token) => (token.cost >= cost ? count + 1 : count), 0);
  }

  /** Answers for the two lanes may cross: the later answer may contain the earlier tokens. */
  add(token: Token): void {
    const after = this.#tokens.findLastIndex(({ usableAtMs }) => usableAtMs <= token.usableAtMs);
    this.#tokens.splice(after + 1, 0, token);
    this.#firstExpiryMs = Math.min(this.#firstExpiryMs, token.expiresAtMs);
    this.#leastCost = Math.min(this.#leastCost, token.cost);
  }

  use(): void {
    this.#tokens.shift();
    if (this.#tokens.length === 0) this.drop();
  }

  /** Removes expired tokens. */
  expire(nowMs: number): void {
    if (nowMs <= this.#firstExpiryMs) return;
    for (const token of this.drop()) if (token.expiresAtMs >= nowMs) this.add(token);
  }

  drop(): readonly Token[] {
    const held = this.#tokens;
    this.#tokens = [];
    this.#firstExpiryMs = Number.POSITIVE_INFINITY;
    this.#leastCost = Number.POSITIVE_INFINITY;
    return held;
  }
}
