/** What a reason code is: its meaning, its sentence about one row, and its remedy. */

/**
 * The facts of one case: small JSON with plain names. A cause is the reason of another row with its facts.
 * `said` is text from another system, such as a target's answer; rows of older ledgers have only `said`.
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

/** A field with an unexpected value; the values are left out if they are too long to show. */
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
 * Texts are Markdown. `sentence` and `remedy` may contain `{fact}`, and for a list of which one applies `{fact or}`. `[…]` is left out if one of its facts is missing,
 * `[?fact …]` if that fact is missing or false, and `[!fact …]` if it is present and true. Commands are in backticks; a fact
 * that is missing there is printed in capitals.
 */
export interface Reason {
  /** One sentence for the documentation. */
  readonly meaning: string;
  /** What a person reads about one row. Default: the fact `said`, else the meaning. */
  readonly sentence?: string;
  /** What to do; absent where there is nothing to do. */
  readonly remedy?: string;
}

/** Reasons by their codes. */
export type Reasons = Readonly<Record<string, Reason>>;

/** Remedies that several reasons share. */
export const REMEDIES = {
  /** Works on the rows of a run again that are not done. `again`: the command for the state that the run is in, in words. `unconfirmed`: whether a person first has to confirm the tenant. */
  AGAIN:
    '[?unconfirmed first do what the message of the run says, then ][?again `lockstep {again}`][!again `lockstep runs retry {run}`]',
  APPROVE:
    'See what it would write with `lockstep runs export {run} --out plan.csv`. Approve it with [?plan `lockstep runs resume {run} --plan {plan}`][!plan `lockstep runs resume {run}`], or decline it with `lockstep runs cancel {run}`.',
  DOCTOR: 'Run `lockstep doctor --account {account}`.',
  AT_ITS_SOURCE: 'Correct it where the settings read it from.',
  IN_SETTINGS: 'Correct it in the settings.',
  DEFECT: 'Please report this defect of Lockstep.',
  PERMISSIONS: 'Check its permissions.',
  URL_AND_KEY: 'Check the URL and the key; the message of the run says how to continue.',
  BY_HAND: 'Look for it at the service. Then decide with `lockstep review`: sending it again could create it twice.',
} as const;
