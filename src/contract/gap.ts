/** One thing the service's contract leaves open; the list of them is gaps.ts. */
export interface Gap {
  /** Stable; the documentation links to it. */
  readonly id: string;
  /** The section of docs/contract.md that is silent. */
  readonly where: string;
  readonly question: string;
  readonly ourService: string;
  readonly clientFindsOut: string;
  /** Path of the setting that decides it, `*` for any account or sync; absent where there is nothing to set. */
  readonly override?: string;
}
