/**
 * Pages that a service does not have: some answer 404 to a page past the end of the list where others answer an empty one.
 * It is taken for empty where a page before it was answered. A first page that is gone, or never was, is no end: the error
 * stands.
 */
import { LockstepError } from '../errors.ts';

type Read<A extends readonly number[], R> = (page: number, ...more: A) => Promise<readonly R[]>;

const NOT_FOUND = 404;

interface Ways {
  readonly isMissing?: (error: unknown) => boolean;
  /** Page 0 counts as empty as well, until page 1 has shown whether pages are counted from there. */
  readonly maySkipZero?: boolean;
}

/** Reads pages by the service's own numbers, and gives none for those it does not have. */
export function emptyPastEnd<A extends readonly number[], R>(
  read: Read<A, R>,
  { isMissing = isMissingPage, maySkipZero = false }: Ways = {},
): Read<A, R> {
  let firstAnswered: number | undefined;
  let zero: { readonly error: unknown } | undefined;
  return async (page, ...more) => {
    try {
      const records = await read(page, ...more);
      firstAnswered = Math.min(page, firstAnswered ?? page);
      return records;
    } catch (error) {
      if (!isMissing(error) || page === firstAnswered) throw error;
      if (firstAnswered !== undefined) return [];
      if (zero !== undefined) throw zero.error; // neither page is one: the first says why
      if (page !== 0 || !maySkipZero) throw error;
      zero = { error };
      return [];
    }
  };
}

function isMissingPage(error: unknown): boolean {
  return error instanceof LockstepError && error.httpStatus === NOT_FOUND;
}
