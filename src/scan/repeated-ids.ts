/**
 * Ids that stand for more than one record: the member that was taken for the id is none, and all but one of the records
 * that share it would be lost in silence. Records that are the same in everything are one record shown twice, and no harm.
 */
import { LockstepError } from '../errors.ts';
import type { ScannedRecord, ScanSource } from './scan.ts';

/** Reads a page once more where two records on it share an id and differ: one may just have changed its place. */
export function rereadConflicts<R extends ScannedRecord>(read: ScanSource<R>['read']): ScanSource<R>['read'] {
  return async (page, size) => {
    const records = await read(page, size);
    if (sharedId(records) === undefined) return records;
    const again = await read(page, size);
    const id = sharedId(again);
    if (id !== undefined) throw notUnique(id, 'on one page of a list');
    return again;
  };
}

/** The error for two pages of the same ids, read one after the other, that differ in most of their contents. */
export function idsNotUnique(
  before: readonly ScannedRecord[],
  after: readonly ScannedRecord[],
): LockstepError | undefined {
  const hashes = new Map(before.map(({ id, hash }) => [id, hash]));
  const changed = after.filter(({ id, hash }) => hashes.get(id) !== hash);
  const [first] = changed;
  return first !== undefined && changed.length * 2 > after.length
    ? notUnique(first.id, 'on two pages of a list')
    : undefined;
}

function sharedId(records: readonly ScannedRecord[]): string | undefined {
  const hashes = new Map<string, string | undefined>();
  for (const { id, hash } of records) {
    if (hashes.has(id) && hashes.get(id) !== hash) return id;
    hashes.set(id, hash);
  }
  return undefined;
}

/** The error for an id that stands for two records. */
export function notUnique(id: string, where: string): LockstepError {
  const message = `Two records ${where} carry the id ${id} and differ, so that this is no id: name the member that tells the records apart in the account’s dialect.idField.`;
  return new LockstepError('ID_NOT_UNIQUE', message);
}
