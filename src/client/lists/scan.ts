/**
 * The drift-proof scan: reads a list that is paged by number while records come and go, and reports its confidence.
 *
 * `page` is an offset, so a delete during the scan shifts records left and a plain loop skips one. If the list honours
 * page sizes, windows overlap and witness each other (overlapping-pass.ts): with consistent single pages, and a stable order in
 * which only single records move (drift.ts), the scan sees every record that exists throughout. Otherwise scans are repeated until two agree, or until
 * one has found as many records as the service reports. Lists that ignore page numbers are read by the offset, the cursor
 * or the links that their answers show (continuation.ts). No scan that found fewer records than the service reports is
 * proven or weak. Source: our choice; the contract says only that pages start at 0 and that rows_per_page sets their size (docs/contract.md,
 * "Limits" 1).
 */
import { LockstepError } from '../../base/errors.ts';
import type { Dialect } from '../call/dialect.ts';
import type { Query } from './beside.ts';
import {
  byOffset,
  type Continuation,
  type Continuing,
  findContinuation,
  oneByOne,
  passBy,
  type ReadPage,
  unreachable,
} from './continuation.ts';
import { fixedPass } from './fixed-pass.ts';
import { emptyPastEnd } from './missing-page.ts';
import { overlappingPass, TINY } from './overlapping-pass.ts';
import type { Kept, PassResult, PassSource, ScannedRecord } from './pass.ts';
import { checkedKeep, idsChange, idsNotUnique, rereadConflicts } from './repeated-ids.ts';
import { Answers } from './scan-pages.ts';
import { idsOf, isEcho } from './window.ts';

export interface ScanSource<R extends ScannedRecord> {
  /** Throws when it cannot read the page; a page refused past the end counts as empty. */
  readonly read: ReadPage<R>;
  /**
   * Stores the records of an accepted window durably. `pass` counts from 1; storing a record again is not an error. Returns
   * how many of them were new in this pass, and how many were in no pass before.
   */
  readonly keep: (records: readonly R[], pass: number) => Promise<Kept>;
  /** Rows a page should hold; the service may give fewer. */
  readonly rowsPerPage: number;
  /** A longer list counts as endless. Default 20,000,000. */
  readonly maxRecords?: number;
}

export type Proof = 'proven' | 'weak' | 'unproven';

export interface ScanReport {
  /**
   * `proven`: no record that the list showed throughout is missing. `weak`: two scans agreed, or one found as many records as
   * the service reports. `unproven`: no two scans agreed, or the service reports more records.
   */
  readonly proof: Proof;
  /** Why it is not proven, for people. */
  readonly reasons: readonly string[];
}

/** What page numbers and sizes mean at this service. */
interface Paging {
  /**
   * Sizes are honoured; sizes are ignored; every page is the whole list; every page is the first page, in the requested
   * size.
   */
  readonly kind: 'sized' | 'fixed' | 'whole' | 'first-only';
  readonly firstPage: 0 | 1;
  /** How the list continues, if page numbers are ignored. */
  readonly continues?: Continuation;
}

const PAGES: Paging = { kind: 'sized', firstPage: 0 };
const MAX_PASSES = 3;
const MAX_MISFITS = 2;
const MAX_RECORDS = 20_000_000;

type Read<R> = PassSource<R & ScannedRecord>['read'];

/** The query of a read: the page of this number, or the one that `instead` names. */
export function pageQuery(
  { pageParam, rowsPerPageParam }: Pick<Dialect, 'pageParam' | 'rowsPerPageParam'>,
  ...[page, size, instead]: Parameters<ReadPage<unknown>>
): Query {
  return instead === undefined
    ? { [pageParam]: page, [rowsPerPageParam]: size }
    : { [rowsPerPageParam]: size, ...instead };
}

/** @throws LockstepError LIST_ENDLESS, ID_NOT_UNIQUE, IDS_CHANGE; whatever `read` and `keep` throw */
export function scan<R extends ScannedRecord>(source: ScanSource<R>): Promise<ScanReport> {
  return new Scan(source).run();
}

/** What a pass has found. */
interface Found {
  newInPass: number;
  /** In no pass before. */
  newInAll: number;
}

class Scan<R extends ScannedRecord> {
  readonly #source: ScanSource<R>;
  readonly #reasons = new Set<string>();
  readonly #answers = new Answers<R>();
  readonly #continuing: Continuing<R>;
  readonly #checked: ReturnType<typeof checkedKeep<R, [pass: number]>>;
  #paging = PAGES;
  #read: Read<R>;
  #misfits = 0;
  /** Passes begun, those that were given up included. */
  #begun = 0;
  /** The number of records on the largest page. */
  #largest = 0;
  /** An id was kept twice, so ids stay the same from answer to answer. */
  #hasRepeats = false;

  constructor(source: ScanSource<R>) {
    this.#source = source;
    const read: ReadPage<R> = async (...asked) => {
      const page = await source.read(...asked);
      this.#largest = Math.max(this.#largest, page.records.length);
      return page;
    };
    this.#continuing = { read, answers: this.#answers, size: source.rowsPerPage };
    this.#read = readerOf(this.#continuing, PAGES);
    const conflicts = rereadConflicts<R>((page, size) => this.#read(page, size));
    this.#checked = checkedKeep<R, [pass: number]>(conflicts, source.keep);
  }

  async run(): Promise<ScanReport> {
    let previous: number | undefined;
    for (let pass = 1; pass <= MAX_PASSES; pass++) {
      const found: Found = { newInPass: 0, newInAll: 0 };
      const result = await this.#pass(pass, found);
      const { newInPass, newInAll } = found;
      if (result.status !== 'complete') this.#reasons.add(result.reason);
      await this.#checkIds(pass, result);
      const lack = this.#answers.lack(newInPass);
      const report = (proof: Proof) => this.#report(proof, lack);
      if (lack === undefined && result.status === 'complete') return { ...report('proven'), reasons: [] };
      if (lack === undefined && this.#answers.confirm(newInPass)) return report('weak');
      if (result.status === 'incomplete') return report('unproven');
      const isMoved = result.status === 'again' && result.isMoved;
      if (previous === newInPass && newInAll === 0 && !isMoved) return report(lack === undefined ? 'weak' : 'unproven');
      previous = newInPass;
    }
    this.#reasons.add(`${MAX_PASSES} passes did not agree`);
    return this.#report('unproven');
  }

  #report(proof: Proof, lack?: string): ScanReport {
    const reasons = [...this.#reasons, ...(lack === undefined ? [] : [lack])];
    return { proof, reasons };
  }

  /** Passes until the pages are as it reads them. */
  async #pass(pass: number, found: Found): Promise<Exclude<PassResult, { readonly status: 'misfit' }>> {
    const source = this.#sourceOf(pass, found);
    for (;;) {
      this.#answers.begin();
      found.newInPass = 0;
      this.#begun++;
      const result = await onePass(this.#paging, source);
      if (result.status !== 'misfit') return result;
      this.#reasons.add(result.reason);
      if (result.readAs !== undefined || this.#misfits++ >= MAX_MISFITS)
        this.#use({ ...this.#paging, kind: 'fixed' }); // works with any page size, and proves less
      else await this.#detectAgain();
    }
  }

  #sourceOf(pass: number, found: Found): PassSource<R> {
    const { maxRecords = MAX_RECORDS, rowsPerPage } = this.#source;
    // The order of records may depend on the request, so each pass reads other windows.
    const isOther = pass > 1 && this.#paging.kind === 'sized';
    return {
      read: this.#checked.read,
      keep: async (records) => {
        const kept = await this.#checked.keep(records, this.#begun);
        found.newInPass += kept.newInPass;
        found.newInAll += kept.newInAll;
        this.#hasRepeats ||= kept.newInAll < records.length;
        if (found.newInPass > maxRecords) throw endless(maxRecords);
        return kept;
      },
      rowsPerPage: isOther ? this.#largest - Math.floor((this.#largest * (pass - 1)) / 8) : rowsPerPage,
      saysMore: (records) => this.#answers.next(records) !== undefined,
    };
  }

  /** @throws LockstepError IDS_CHANGE if the ids are others in each answer */
  async #checkIds(pass: number, { status }: PassResult): Promise<void> {
    if (this.#hasRepeats || status === 'complete' || (status === 'again' && pass === 1)) return;
    const first = () => this.#read(0, this.#source.rowsPerPage);
    const changed = idsChange(await first(), await first());
    if (changed !== undefined) throw changed;
  }

  async #detectAgain(): Promise<void> {
    this.#use(PAGES);
    const continuationOf = (first: readonly R[]) => findContinuation(this.#continuing, first);
    this.#use(await detectPaging(this.#checked.read, this.#source.rowsPerPage, continuationOf));
  }

  #use(paging: Paging): void {
    this.#paging = paging;
    this.#read = readerOf(this.#continuing, paging);
  }
}

/** Reads pages as they are counted here, from 0; a page that the service does not have is empty. */
function readerOf<R extends ScannedRecord>(continuing: Continuing<R>, { kind, firstPage, continues }: Paging): Read<R> {
  const { read, answers } = continuing;
  if (continues?.by === 'offset' && kind === 'sized')
    return emptyPastEnd<[size: number], R>(byOffset(continuing, continues.parameter));
  if (continues !== undefined && continues.by !== 'nothing')
    return emptyPastEnd<[size: number], R>(oneByOne(continuing, continues));
  const readPage = emptyPastEnd<[size: number], R>(async (...asked) => answers.take(await read(...asked)), {
    maySkipZero: true,
  });
  return (page, size) => readPage(page + firstPage, size);
}

async function onePass<R extends ScannedRecord>(
  { kind, continues }: Paging,
  source: PassSource<R>,
): Promise<PassResult> {
  switch (kind) {
    case 'sized':
      return overlappingPass(source);
    case 'fixed': {
      const { reason, ...how } = passBy(continues?.by);
      return fixedPass({ ...source, ...how }, reason);
    }
    case 'whole':
      await source.keep(await source.read(0, source.rowsPerPage));
      return { status: 'again', reason: 'the service ignores page numbers and answers the whole list at once' };
    case 'first-only': {
      const first = await source.read(0, source.rowsPerPage);
      await source.keep(first);
      return { status: 'incomplete', reason: unreachable(first.length) };
    }
  }
}

function endless(records: number): LockstepError {
  const message = `The list has given more than ${records} records and has not ended: the service returns new records endlessly. Nothing was written there.`;
  return new LockstepError('LIST_ENDLESS', message);
}

/** Detects how pages work if they differ from the documentation, with a few reads at the beginning of the list. */
async function detectPaging<R extends ScannedRecord>(
  read: Read<R>,
  rowsPerPage: number,
  continuationOf: (first: readonly R[]) => Promise<Continuation | undefined>,
): Promise<Paging> {
  const [first, second, third] = [await read(0, rowsPerPage), await read(1, rowsPerPage), await read(2, rowsPerPage)];
  const countedFromOne = async (): Promise<Paging> => {
    const isSized = second.length > TINY ? await honoursSize(read, 1, second.length, rowsPerPage) : third.length === 0; // that is the whole list
    return { kind: isSized ? 'sized' : 'fixed', firstPage: 1 };
  };
  if (first.length === 0) return second.length > 0 ? countedFromOne() : PAGES;
  // Two pages may hold records that are equal but for their ids.
  const changed = idsChange(first, second) && idsChange(first, await read(0, rowsPerPage));
  if (changed !== undefined) throw changed;
  const isEchoed = isEcho(idsOf(first), idsOf(second));
  if (!isEchoed && second.length > 0) return { kind: 'fixed', firstPage: 0 };
  const conflict = isEchoed ? idsNotUnique(first, second) : undefined;
  if (conflict !== undefined) throw conflict;
  if (isEchoed && !isEcho(idsOf(first), idsOf(third))) return countedFromOne();
  const continues = await continuationOf(first);
  if (continues !== undefined) return { kind: KIND_BY[continues.by], firstPage: 0, continues };
  if (!isEchoed) return { kind: 'fixed', firstPage: 0 };
  const isSized = await honoursSize(read, 0, first.length, rowsPerPage);
  return { kind: isSized ? 'first-only' : 'whole', firstPage: 0 };
}

const KIND_BY = { offset: 'sized', id: 'fixed', links: 'fixed', nothing: 'first-only' } as const;

/** Whether a page returns half as many rows if the request asks for half as many. */
async function honoursSize<R extends ScannedRecord>(
  read: Read<R>,
  page: number,
  rows: number,
  rowsPerPage: number,
): Promise<boolean> {
  const smaller = Math.floor(Math.min(rows, rowsPerPage) / 2);
  return smaller > 0 && (await read(page, smaller)).length === smaller;
}
