/**
 * Detects ids shared by several records. Then the member used as the id is not an id, and all but one of these records
 * would be lost silently. Identical records are one record shown twice and do no harm. It also detects ids that change from
 * answer to answer, with which each record would be treated as several.
 */
import { LockstepError } from '../../base/errors.ts';
import type { Kept, ScannedRecord } from './pass.ts';
import type { Window } from './window.ts';

type Read<R> = (page: number, size: number) => Promise<readonly R[]>;

/** Reads a page again if two records on it share an id and differ: one may just have moved. */
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

/** Two pages show a record differently: two records share its id, or it has changed, and replicas or caches do not agree yet. */
export class ShownApart extends LockstepError {
  override readonly name = 'ShownApart';
  readonly id: string;

  constructor(id: string, message: string) {
    super('ID_NOT_UNIQUE', message);
    this.id = id;
  }
}

/** Checks this many conflicts, then only a sample: each check costs reads. */
const ALWAYS_CHECKED = 20;
const THEN_ONE_IN = 100;

/**
 * Checks records that `keep` reports with other content in the same pass. A record that changed or moved between two reads
 * does no harm; two records that exist at the same time do.
 */
export function checkedKeep<R extends ScannedRecord, A extends readonly unknown[]>(
  read: Read<R>,
  keep: (records: readonly R[], ...more: A) => Promise<Kept>,
): { readonly read: Read<R>; readonly keep: (records: readonly R[], ...more: A) => Promise<Kept> } {
  const pageOf = new WeakMap<readonly R[], Window>();
  /** By the number of the call to `keep`. */
  const pages: (Window | undefined)[] = [];
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

/** @throws ShownApart if both exist at once: one was seen before and after the other */
async function checkApart<R extends ScannedRecord>(
  read: Read<R>,
  id: string,
  one: Window,
  other: Window,
): Promise<void> {
  if (one.page === other.page && one.size === other.size) return;
  const hashOn = async ({ page, size }: Window) => (await read(page, size)).find((record) => record.id === id)?.hash;
  const before = await hashOn(one);
  const between = before === undefined ? undefined : await hashOn(other);
  if (between === undefined || between === before) return;
  if ((await hashOn(one)) === before) throw new ShownApart(id, notUnique(id, 'on two pages of a list').message);
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

/** The error for an id that two records share. */
export function notUnique(id: string, where: string): LockstepError {
  const message = `Two records ${where} have the same id ${id} but differ: either this member is not an id, or the service lists one record twice. Set the name of the id member in the account’s dialect.idField, or correct the record at the service.`;
  return new LockstepError('ID_NOT_UNIQUE', message);
}

/** The error for two answers of the same records, none of which has the same id in both. */
export function idsChange(
  before: readonly ScannedRecord[],
  after: readonly ScannedRecord[],
): LockstepError | undefined {
  const ids = new Set(before.map(({ id }) => id));
  const equal = after.filter(({ hash }, i) => hash !== undefined && hash === before[i]?.hash);
  const [one, other] = [before[0], after[0]];
  if (one === undefined || other === undefined || equal.length * 2 <= Math.max(before.length, after.length))
    return undefined;
  if (after.some(({ id }) => ids.has(id))) return undefined;
  const message = `The service gives the same record another id in each answer (${one.id}, then ${other.id}), so no record can be recognised again. Set the name of a member that stays the same in the account’s dialect.idField.`;
  return new LockstepError('IDS_CHANGE', message);
}
