/**
 * Pages that a service does not have: past the end of a list, and before its first page, some services answer an empty
 * page, others 404, 400 or a failing envelope with HTTP 200. This file turns such an answer into an empty page, for all
 * lists.
 *
 * A refusal may also be an error in the middle of a list, and ending there would lose records. So a refused page is the
 * end only if the next page has no records either, the page is refused again, and the first page still gets an answer.
 */
import { LockstepError } from '../../base/errors.ts';

type Read<A extends readonly number[], R> = (page: number, ...more: A) => Promise<readonly R[]>;

const NO_SUCH_PAGE: ReadonlySet<number | undefined> = new Set([200, 400, 404, 410, 422]);

interface Ways {
  /** A refused page 0 counts as empty as well if page 1 shows that pages are counted from 1. */
  readonly maySkipZero?: boolean;
}

/** Reads pages by the service's own numbers, and returns an empty page for pages it does not have. */
export function emptyPastEnd<A extends readonly number[], R>(
  read: Read<A, R>,
  { maySkipZero = false }: Ways = {},
): Read<A, R> {
  let firstAnswered: number | undefined;
  let zero: { readonly error: unknown } | undefined;
  /** The first page past the end, by the other parameters. */
  const ends = new Map<string, number>();

  async function isAnyOn(page: number, more: A): Promise<boolean | 'refused'> {
    try {
      return (await read(page, ...more)).length > 0;
    } catch (error) {
      if (isPageRefused(error)) return 'refused';
      throw error;
    }
  }

  async function isEnd(page: number, first: number, more: A): Promise<boolean> {
    const known = ends.get(more.join());
    if (known !== undefined && page >= known) return true;
    if ((await isAnyOn(page + 1, more)) === true) return false;
    if ((await isAnyOn(page, more)) !== 'refused') return false;
    if ((await isAnyOn(first, more)) === 'refused') return false;
    ends.set(more.join(), page);
    return true;
  }

  /** A page refused once may still exist, and its records would be skipped. */
  async function zeroOrNone(error: unknown, more: A): Promise<readonly R[]> {
    if (zero !== undefined) return [];
    zero = { error };
    try {
      const records = await read(0, ...more);
      firstAnswered = 0;
      return records;
    } catch (again) {
      if (isPageRefused(again)) return [];
      throw again;
    }
  }

  return async (page, ...more) => {
    try {
      const records = await read(page, ...more);
      firstAnswered = Math.min(page, firstAnswered ?? page);
      return records;
    } catch (error) {
      if (!isPageRefused(error)) throw error;
      if (page === 0 && maySkipZero && firstAnswered !== 0) return zeroOrNone(error, more);
      if (firstAnswered !== undefined && page > firstAnswered && (await isEnd(page, firstAnswered, more))) return [];
      throw firstAnswered === undefined && zero !== undefined ? zero.error : error; // neither page exists: the first error says why
    }
  };
}

/** Whether the service answered that it has no such page. */
export function isPageRefused(error: unknown): boolean {
  return error instanceof LockstepError && error.code === 'SERVICE_REFUSED' && NO_SUCH_PAGE.has(error.httpStatus);
}
