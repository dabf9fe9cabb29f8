/**
 * Pages that a service does not have: past the end of a list, and before its first page, some services answer an empty
 * page, others 404, 400 or a failing envelope with HTTP 200. This file turns such an answer into an empty page, for all
 * lists.
 *
 * A refusal may also be an error in the middle of a list, and ending there would lose records; or the list has just grown. So a
 * refused page is read again: it is the end only if it is refused again, the page after it has no records either, and the first
 * page still gets an answer.
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

  async function answerTo(page: number, more: A): Promise<readonly R[] | 'refused'> {
    try {
      return await read(page, ...more);
    } catch (error) {
      if (isPageRefused(error)) return 'refused';
      throw error;
    }
  }

  /** The records of a page that was refused: none if it is past the end. Refused: it is neither answered nor past the end. */
  async function pastEnd(page: number, first: number, more: A): Promise<readonly R[] | 'refused'> {
    const known = ends.get(more.join());
    if (known !== undefined && page >= known) return [];
    const next = await answerTo(page + 1, more);
    const again = await answerTo(page, more);
    if (again !== 'refused') return again;
    const isMiddle = next !== 'refused' && next.length > 0;
    if (isMiddle || (await answerTo(first, more)) === 'refused') return 'refused';
    ends.set(more.join(), page);
    return [];
  }

  /** A page refused once may still exist, and its records would be skipped. */
  async function zeroOrNone(error: unknown, more: A): Promise<readonly R[]> {
    if (zero !== undefined) return [];
    zero = { error };
    const again = await answerTo(0, more);
    if (again === 'refused') return [];
    firstAnswered = 0;
    return again;
  }

  /** The records of a refused page. Throws the refusal if it is not about a page that does not exist. */
  async function afterRefusal(error: unknown, page: number, more: A): Promise<readonly R[]> {
    if (page === 0 && maySkipZero && firstAnswered !== 0) return zeroOrNone(error, more);
    if (firstAnswered === undefined) throw zero?.error ?? error; // neither page exists: the first error says why
    const records = page > firstAnswered ? await pastEnd(page, firstAnswered, more) : 'refused';
    if (records === 'refused') throw error;
    return records;
  }

  return async (page, ...more) => {
    try {
      const records = await read(page, ...more);
      firstAnswered = Math.min(page, firstAnswered ?? page);
      return records;
    } catch (error) {
      if (!isPageRefused(error)) throw error;
      return afterRefusal(error, page, more);
    }
  };
}

/** Whether the service answered that it has no such page. */
export function isPageRefused(error: unknown): boolean {
  return error instanceof LockstepError && error.code === 'SERVICE_REFUSED' && NO_SUCH_PAGE.has(error.httpStatus);
}
