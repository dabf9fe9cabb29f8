/**
 * The pages that one scan reads, with what the answers say beside their records: where a list continues, and how long it
 * is. A scan that found fewer records than the service reports is not complete, whatever its pages look like.
 */
import type { Beside, Query } from './beside.ts';

/** One answer: its records in the list's order, and what it says beside them. */
export interface Page<R> {
  readonly records: readonly R[];
  readonly beside?: Beside | undefined;
}

/** Whether an answer with this many records says that it is not the whole list. */
export function isPart(records: number, { next, total = 0, pages = 1, page = 1 }: Beside = {}): boolean {
  const isPages = pages !== records; // some services call the number of rows of a page so
  return next !== undefined || total > records || (isPages && pages > Math.max(1, page));
}

export class Answers<R> {
  readonly #beside = new WeakMap<readonly R[], Beside>();
  #firstTotal: number | undefined;
  #total: number | undefined;
  /** How much the total has changed from answer to answer. */
  #moved = 0;
  #openEnd: string | undefined;
  #longestPage = 0;
  #isPart = false;

  /** Begins a pass. */
  begin(): void {
    this.#firstTotal = undefined;
    this.#total = undefined;
    this.#moved = 0;
    this.#openEnd = undefined;
    this.#longestPage = 0;
    this.#isPart = false;
  }

  /** The records of an answer. */
  take({ records, beside }: Page<R>): readonly R[] {
    if (beside !== undefined) this.#beside.set(records, beside);
    this.#longestPage = Math.max(this.#longestPage, records.length);
    this.#isPart ||= isPart(records.length, beside);
    const total = beside?.total;
    // An empty page past the end, or before page 1, may state its own total.
    const isOwn = records.length === 0 && (this.#firstTotal !== undefined || total === 0);
    if (total === undefined || isOwn) return records;
    this.#firstTotal ??= total;
    this.#moved += Math.abs(total - (this.#total ?? total));
    this.#total = total;
    return records;
  }

  /** How the list continues after these records, as their answer says; undefined if it does not say that it does. */
  next(records: readonly R[]): Query | undefined {
    return this.#beside.get(records)?.next;
  }

  /** Whether the answer with these records says that it is not the whole list. */
  isPart(records: readonly R[]): boolean {
    return isPart(records.length, this.#beside.get(records));
  }

  /** The pass ended although the service says that the list continues. */
  endOpen(why: string): void {
    this.#openEnd = why;
  }

  /** Why a pass that found this many records is not complete; undefined if nothing speaks against it. */
  lack(found: number): string | undefined {
    if (this.#openEnd !== undefined) return this.#openEnd;
    // Records that were added or removed during the pass may be in a total and not in the pages.
    const isShort = this.#firstTotal !== undefined && found < this.#firstTotal - this.#moved;
    if (!isShort) return undefined;
    const remedy =
      found === 0
        ? ': if the answers have them elsewhere, set the path of the list in the account’s dialect.listPath'
        : '';
    return `the service reports a total of ${this.#total}, and its pages have ${found === 0 ? 'none' : found}${remedy}`;
  }

  /** Whether the service reports just as many records. Some services report the number of records on the page instead. */
  confirm(found: number): boolean {
    const isOfPage = this.#isPart && found <= this.#longestPage;
    return this.#openEnd === undefined && this.#total === found && this.#moved === 0 && !isOfPage;
  }
}

const PAGE_SIZES = new Set([10, 20, 25, 50, 100, 200, 250]);

/** Whether a list of this many records may be the first page of a longer one. */
export function isPageSize(records: number): boolean {
  return PAGE_SIZES.has(records) || (records > 0 && records % 500 === 0);
}
