/** One pass of a scan over a list: its source and its result. */

export interface ScannedRecord {
  readonly id: string;
  /** Equal for equal content. If present, the scan notices an id with two different contents. */
  readonly hash?: string;
}

export interface Kept {
  readonly newInPass: number;
  readonly newInAll: number;
  /** Records kept earlier in this pass with other content, and the call to `keep` that kept them, counted from 0. */
  readonly otherwise?: readonly { readonly id: string; readonly keptIn: number }[];
}

/** The result of one pass over the list. */
export type PassResult =
  | { readonly status: 'complete' }
  /** Read to the end, but one pass proves nothing here: another pass has to agree, in which no record moved. */
  | { readonly status: 'again'; readonly reason: string; readonly isMoved?: boolean }
  /** Given up: another pass would not help. */
  | { readonly status: 'incomplete'; readonly reason: string }
  /** Page numbers or sizes mean something else than assumed. `readAs`: how to read the list, if that is known. */
  | { readonly status: 'misfit'; readonly reason: string; readonly readAs?: 'fixed' };

/**
 * One pass's view of the list: pages counted from 0 whatever the service does, records kept for this pass. A short page may
 * lack records that the service hides, so only a page without records ends a list.
 */
export interface PassSource<R extends ScannedRecord> {
  readonly read: (page: number, size: number) => Promise<readonly R[]>;
  readonly keep: (records: readonly R[]) => Promise<Kept>;
  /** Whether the answer with these records says that more follow. */
  readonly saysMore: (records: readonly R[]) => boolean;
  readonly rowsPerPage: number;
  /** Pages are read by offsets: where pages lack records, the next page begins within the page before. */
  readonly mayOverlap?: boolean;
  /** Pages are read by their numbers: a number past the end may give the first or the last page again. */
  readonly isNumbered?: boolean;
}
