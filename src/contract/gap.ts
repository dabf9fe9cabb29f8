/** One thing the service's contract leaves open; the list of them is gaps.ts. */
export interface Gap<Id extends string = string> {
  /** Stable; the documentation links to it. */
  readonly id: Id;
  /** The section of docs/contract.md that leaves it open. */
  readonly where: string;
  readonly question: string;
  readonly ourService: string;
  readonly clientDoes: string;
  /** Path of the setting that overrides it, with `*` for any account or sync; absent if there is no setting. */
  readonly override?: string;
}
