/**
 * A scan with pages of a size that the service accepts. The contract does not say how many rows a page may have, and a service may
 * refuse a larger one instead of giving fewer rows. As long as it has answered no page, smaller ones are requested.
 */
import { LockstepError } from '../../base/errors.ts';
import type { ScannedRecord } from './pass.ts';
import { type ScanReport, type ScanSource, scan } from './scan.ts';

/** Common maxima. */
const ACCEPTED_SIZES = [100, 50, 20, 10, 5];
/** The share of the wanted size that is tried if the service fails: it may not finish a larger page in time. */
const QUICK_SHARE = 1 / 5;
/** The message of a failing envelope has to be about sizes: with HTTP 200, a service reports every error. */
const SIZE_WORDS =
  /per[ _-]?page|page[ _-]?size|\b(rows|limit|max(imum)?|at most|too (large|big|many|high|long)|timed? ?out)\b/i;

export interface FittingSource<R extends ScannedRecord> extends ScanSource<R> {
  /** Whether the service gave no answer that can be used, after retries. */
  readonly hasFailed: (error: unknown) => boolean;
}

/** @throws what `scan` throws; if no size helps, the error for the wanted one */
export async function fittingScan<R extends ScannedRecord>(source: FittingSource<R>): Promise<ScanReport> {
  const { rowsPerPage: wanted, hasFailed } = source;
  let isAnswered = false;
  const read: ScanSource<R>['read'] = async (...asked) => {
    const page = await source.read(...asked);
    isAnswered = true;
    return page;
  };
  const scanBy = (rowsPerPage: number) => scan({ ...source, read, rowsPerPage });
  try {
    return await scanBy(wanted);
  } catch (error) {
    if (isAnswered) throw error;
    const quick = Math.floor(wanted * QUICK_SHARE);
    const smaller = hasFailed(error) ? [quick] : mayBeTheSize(error) ? ACCEPTED_SIZES : [];
    for (const size of smaller.filter((one) => one > 0 && one < wanted)) {
      try {
        return await scanBy(size);
      } catch (again) {
        if (isAnswered) throw again;
      }
    }
    throw error;
  }
}

function mayBeTheSize(error: unknown): boolean {
  if (!(error instanceof LockstepError) || error.code !== 'SERVICE_REFUSED') return false;
  if (error.httpStatus === 200) return SIZE_WORDS.test(error.message);
  return error.httpStatus === 400 || error.httpStatus === 413 || error.httpStatus === 422;
}
