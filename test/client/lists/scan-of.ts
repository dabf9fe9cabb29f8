/** Scans of lists that a test makes. */
import type { ReadPage } from '../../../src/client/lists/continuation.ts';
import type { ScannedRecord } from '../../../src/client/lists/pass.ts';
import { scan } from '../../../src/client/lists/scan.ts';
import type { DriftingList } from './drifting-list.ts';

/** Answers that say nothing beside their records. */
export function bare<R extends ScannedRecord>(
  read: (page: number, size: number) => Promise<readonly R[]>,
): ReadPage<R> {
  return async (page, size) => ({ records: await read(page, size) });
}

export async function scanOf(list: DriftingList, rowsPerPage = 50) {
  const keep = list.keeper();
  let pages = 0;
  const read: ReadPage<ScannedRecord> = async (...asked) => {
    pages++;
    return list.answer(...asked);
  };
  const report = await scan({ read, keep: keep.keep, rowsPerPage });
  return { report, seen: keep.seen, pages };
}

export function missed(list: DriftingList, seen: ReadonlySet<string>): readonly string[] {
  return list.persistent().filter((id) => !seen.has(id));
}
