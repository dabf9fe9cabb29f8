/**
 * Ids that stand for more than one record: the member that was taken for the id is none, and all but one of the records
 * that share it would be lost in silence. Records that are the same in everything are one record shown twice, and no harm.
 */
import { LockstepError } from '../errors.ts';
import type { Kept, ScannedRecord } from './scan.ts';

type Read<R> = (page: number, size: number) => Promise<readonly R[]>;

/** Reads a page once more where two records on it share an id and differ: one may just have changed its place. */
export function rereadConflicts<R extends ScannedRecord>(read: Read<R>): Read<R> {
  return async (page, size) => {
    const records = await read(page, size);
    if (sharedId(records) === undefined) return records;
    const again = await read(page, size);
    const id = sharedId(again);
    if (id !== undefined) throw notUnique(id, 'on one page of a list');
    return again;
  };
}

interface Page {
  readonly page: number;
  readonly size: number;
}

/** Looks at every one of so many conflicts, and at one in so many of the others: each costs reads. */
const ALWAYS_CHECKED = 20;
const THEN_ONE_IN = 100;

/**
 * Checks what `keep` says was seen with other content in the same pass. A record that was changed, or changed its place,
 * between two reads is no harm; two that are there at the same time are.
 */
export function checkedKeep<R extends ScannedRecord, A extends readonly unknown[]>(
  read: Read<R>,
  keep: (records: readonly R[], ...more: A) => Promise<Kept>,
): { readonly read: Read<R>; readonly keep: (records: readonly R[], ...more: A) => Promise<Kept> } {
  const pageOf = new WeakMap<readonly R[], Page>();
  /** By the number of the call to `keep`. */
  const pages: (Page | undefined)[] = [];
  let conflicts = 0;
  return {
    async read(page, size) {
      const records = await read(page, size);
      pageOf.set(records, { page, size });
      return records;
    },
    async keep(records, ...more) {
      const here = pageOf.get(records);
      pages.push(here);
      const kept = await keep(records, ...more);
      for (const { id, keptIn } of kept.otherwise ?? []) {
        const there = pages[keptIn];
        const isChecked = ++conflicts <= ALWAYS_CHECKED || conflicts % THEN_ONE_IN === 0;
        if (isChecked && here !== undefined && there !== undefined) await checkApart(read, id, there, here);
      }
      return kept;
    },
  };
}

/** @throws LockstepError ID_NOT_UNIQUE where both are there at once: one before and after the other was seen */
async function checkApart<R extends ScannedRecord>(read: Read<R>, id: string, one: Page, other: Page): Promise<void> {
  if (one.page === other.page && one.size === other.size) return;
  const hashOn = async ({ page, size }: Page) => (await read(page, size)).find((record) => record.id === id)?.hash;
  const before = await hashOn(one);
  const between = before === undefined ? undefined : await hashOn(other);
  if (between === undefined || between === before) return;
  if ((await hashOn(one)) === before) throw notUnique(id, 'on two pages of a list');
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
