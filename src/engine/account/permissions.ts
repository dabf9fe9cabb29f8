/**
 * Distinguishes an operation that the key may not use from a record that the service refuses with the same answer (403): a
 * refused record waits until other records show whether the operation works. And it notices an operation that is always
 * answered with a rate limit: it may be applied all the same.
 */
import type { OperationName } from '../../contract/operations.ts';

/**
 * `again`: not known yet, send it again after others; `record`: only this record is refused; `operation`: as far as is known, no
 * record may be sent. `records` were refused since one was accepted.
 */
export type Forbidden =
  | { readonly status: 'again' | 'record' }
  | { readonly status: 'operation'; readonly records: readonly string[] };

export interface Permissions {
  worked(operation: OperationName): void;
  /** The operation was refused for a record, with a key that the service accepts for other operations. */
  refused(operation: OperationName, record: string): Forbidden;
  /** The operation was answered with a rate limit for a record. */
  limited(operation: OperationName, record: string): void;
  /**
   * Whether this record was, since it was last asked here, and one record several times, and none was accepted in between: so a
   * read-back decides, and then the record is really sent again.
   */
  takeLimitDoubt(operation: OperationName, record: string): boolean;
}

/** After this many refused records in a row, the operation counts as forbidden, even if it worked before. */
const MANY = 20;
/** After this many rate limits for a record, none for another one is believed. */
const MOST_LIMITED = 3;

interface Known {
  hasWorked: boolean;
  /** Records refused since it last worked. */
  inARow: Set<string>;
  /** Records refused once, to be sent again. */
  waiting: Set<string>;
  /** How often records were limited since it last worked. */
  limited: Map<string, number>;
  isAlwaysLimited: boolean;
}

export function createPermissions(): Permissions {
  const operations = new Map<OperationName, Known>();
  const knownOf = (operation: OperationName): Known => {
    const known = operations.get(operation) ?? {
      hasWorked: false,
      inARow: new Set(),
      waiting: new Set(),
      limited: new Map(),
      isAlwaysLimited: false,
    };
    operations.set(operation, known);
    return known;
  };
  return {
    worked(operation) {
      const known = knownOf(operation);
      known.hasWorked = true;
      known.inARow.clear();
      known.limited.clear();
      known.isAlwaysLimited = false;
    },
    limited(operation, record) {
      const known = knownOf(operation);
      const times = (known.limited.get(record) ?? 0) + 1;
      known.limited.set(record, times);
      known.isAlwaysLimited ||= times >= MOST_LIMITED;
    },
    takeLimitDoubt(operation, record) {
      const { isAlwaysLimited, limited } = knownOf(operation);
      return isAlwaysLimited && limited.delete(record);
    },
    refused(operation, record) {
      const known = knownOf(operation);
      known.inARow.add(record);
      if (known.inARow.size < MANY && !known.waiting.has(record)) {
        known.waiting.add(record);
        return { status: 'again' };
      }
      if (known.inARow.size < MANY && known.hasWorked) {
        known.waiting.delete(record);
        return { status: 'record' };
      }
      operations.delete(operation); // a run resumed after the key got the right tries again
      return { status: 'operation', records: [...known.inARow] };
    },
  };
}
