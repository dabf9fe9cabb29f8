/**
 * The drift-proof scan: reads a list that is paged by number while records come and go, and reports its confidence.
 *
 * `page` is an offset, so a delete during the scan shifts records left and a plain loop skips one. If the list honours
 * page sizes, windows overlap and witness each other (overlapping-pass.ts): with a stable total order and consistent
 * single pages the scan sees every record that exists throughout. Otherwise scans are repeated until two agree. Source:
 * our choice; the contract says only that pages start at 0 and that rows_per_page sets their size (docs/contract.md,
 * "Limits" 1).
 */
import { LockstepError } from '../../base/errors.ts';
import { fixedPass } from './fixed-pass.ts';
import { emptyPastEnd } from './missing-page.ts';
import { overlappingPass, TINY } from './overlapping-pass.ts';
import type { Kept, PassResult, PassSource, ScannedRecord } from './pass.ts';
import { checkedKeep, idsNotUnique, rereadConflicts } from './repeated-ids.ts';
import { idsOf, isEcho } from './window.ts';

export interface ScanSource<R extends ScannedRecord> {
  /** Reads one page: its records in the list's order. Throws when it cannot; a page refused past the end counts as empty. */
  readonly read: (page: number, size: number) => Promise<readonly R[]>;
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
  /** `proven`: no record that existed throughout is missing. `weak`: two scans agreed. `unproven`: no two scans agreed. */
  readonly proof: Proof;
  /** Why it is not proven, for people. */
  readonly reasons: readonly string[];
  readonly seen: number;
  readonly pages: number;
  readonly passes: number;
}

/** What page numbers and sizes mean at this service. */
interface Paging {
  /**
   * Sizes are honoured; sizes are ignored; every page is the whole list; every page is the first page, in the requested
   * size.
   */
  readonly kind: 'sized' | 'fixed' | 'whole' | 'first-only';
  readonly firstPage: 0 | 1;
}

const MAX_PASSES = 3;
const MAX_MISFITS = 2;
const MAX_RECORDS = 20_000_000;

/** @throws LockstepError LIST_ENDLESS, ID_NOT_UNIQUE; whatever `read` and `keep` throw */
export async function scan<R extends ScannedRecord>(source: ScanSource<R>): Promise<ScanReport> {
  const { maxRecords = MAX_RECORDS } = source;
  const reasons = new Set<string>();
  let pages = 0;
  let seen = 0;
  let paging: Paging = { kind: 'sized', firstPage: 0 };
  let misfits = 0;
  let previous: number | undefined;
  const readOnce = emptyPastEnd<[size: number], R>(source.read, { maySkipZero: true });
  const checked = checkedKeep<R, [pass: number]>(
    rereadConflicts<R>((page, size) => {
      pages++;
      return readOnce(page + paging.firstPage, size);
    }),
    source.keep,
  );
  const { read } = checked;
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const total = { newInPass: 0, newInAll: 0 };
    const keep = async (records: readonly R[]) => {
      const kept = await checked.keep(records, pass);
      total.newInPass += kept.newInPass;
      total.newInAll += kept.newInAll;
      if (total.newInPass > maxRecords) throw endless(maxRecords);
      return kept;
    };
    const view: PassSource<R> = { read, keep, rowsPerPage: source.rowsPerPage };
    let result = await onePass(paging, view);
    while (result.status === 'misfit') {
      reasons.add(result.reason);
      if (misfits++ < MAX_MISFITS) {
        paging = { kind: 'sized', firstPage: 0 };
        paging = await detectPaging(read, source.rowsPerPage);
      } else {
        paging = { ...paging, kind: 'fixed' }; // works with any page size, and proves less
      }
      result = await onePass(paging, view);
    }
    seen += total.newInAll;
    const report = { seen, pages, passes: pass };
    if (result.status === 'complete') return { proof: 'proven', reasons: [], ...report };
    reasons.add(result.reason);
    if (result.status !== 'again') return { proof: 'unproven', reasons: [...reasons], ...report };
    if (previous === total.newInPass && total.newInAll === 0)
      return { proof: 'weak', reasons: [...reasons], ...report };
    previous = total.newInPass;
  }
  reasons.add(`${MAX_PASSES} scans did not agree`);
  return { proof: 'unproven', reasons: [...reasons], seen, pages, passes: MAX_PASSES };
}

async function onePass<R extends ScannedRecord>(paging: Paging, source: PassSource<R>): Promise<PassResult> {
  switch (paging.kind) {
    case 'sized':
      return overlappingPass(source);
    case 'fixed':
      return fixedPass(source);
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

function unreachable(rows: number): string {
  return `the service ignores page numbers, so the records after the first ${rows} cannot be read: set the name of the page parameter in the account’s dialect.pageParam`;
}

function endless(records: number): LockstepError {
  const message = `The list has given more than ${records} records and has not ended: the service returns new records endlessly. Nothing was written there.`;
  return new LockstepError('LIST_ENDLESS', message);
}

/** Detects how pages work if they differ from the documentation, with three or four reads at the beginning of the list. */
async function detectPaging<R extends ScannedRecord>(
  read: ScanSource<R>['read'],
  rowsPerPage: number,
): Promise<Paging> {
  const [first, second, third] = [await read(0, rowsPerPage), await read(1, rowsPerPage), await read(2, rowsPerPage)];
  const countedFromOne = async (): Promise<Paging> => {
    const isSized = second.length > TINY ? await honoursSize(read, 1, second.length, rowsPerPage) : third.length === 0; // that is the whole list
    return { kind: isSized ? 'sized' : 'fixed', firstPage: 1 };
  };
  if (first.length === 0) return second.length > 0 ? countedFromOne() : { kind: 'sized', firstPage: 0 };
  if (!isEcho(idsOf(first), idsOf(second))) return { kind: 'fixed', firstPage: 0 };
  const conflict = idsNotUnique(first, second);
  if (conflict !== undefined) throw conflict;
  if (!isEcho(idsOf(first), idsOf(third))) return countedFromOne();
  const isSized = await honoursSize(read, 0, first.length, rowsPerPage);
  return { kind: isSized ? 'first-only' : 'whole', firstPage: 0 };
}

/** Whether a page returns half as many rows if the request asks for half as many. */
async function honoursSize<R extends ScannedRecord>(
  read: ScanSource<R>['read'],
  page: number,
  rows: number,
  rowsPerPage: number,
): Promise<boolean> {
  const smaller = Math.floor(Math.min(rows, rowsPerPage) / 2);
  return smaller > 0 && (await read(page, smaller)).length === smaller;
}
