/** What a reason code is: its meaning, its sentence about one row, and its remedy. */

/**
 * What is known about one case of a reason: small JSON with plain names. A cause is a reason of another row, and its facts.
 * `said` is the text of another system, such as a target's answer; rows of older ledgers have nothing but that.
 */
export interface Facts {
  readonly [name: string]: Fact | undefined;
}

export type Fact =
  | string
  | number
  | boolean
  | null
  | Difference
  | Cause
  | readonly (string | number | Difference | Cause)[];

/** A field that is not as it should be; without values where they are too long to show. */
export interface Difference {
  readonly field: string;
  readonly is?: string | number;
  readonly expected?: string | number;
}

/** A reason behind a reason. */
export interface Cause {
  readonly code: string;
  readonly facts?: Facts;
}

/**
 * Texts are Markdown. `sentence` and `remedy` may hold `{fact}`; a part in brackets is left out where one of its facts is
 * missing, `[?fact …]` where that fact is missing or false, and `[!fact …]` where it is there and true. Commands stand in
 * backticks.
 */
export interface Reason {
  /** One sentence for the documentation. */
  readonly meaning: string;
  /** What a person reads about one row. Default: what the facts say in their own words. */
  readonly sentence?: string;
  /** What to do; absent where there is nothing to do. */
  readonly remedy?: string;
}

/** Reasons by their codes. */
export type Reasons = Readonly<Record<string, Reason>>;
