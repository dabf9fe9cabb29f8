/** Lists of a vendor that come in pages: each page is read by the cursor that the page before it names. */
import { z } from 'zod';
import type { UnreadItem } from '../../../contract/target.ts';
import { mapAsked } from './item-calls.ts';
import type { Asked } from './item-target.ts';

export interface Page<Item> {
  readonly items: readonly Item[];
  /** The cursor of the page after it; absent on the last. A page may have fewer items than it was asked for. */
  readonly next?: string | null | undefined;
}

export interface Pages<Item> {
  /** No more pages than this are read. */
  readonly most: number;
  /** The first page without a cursor. */
  read(cursor: string | undefined): Promise<Asked<Page<Item>>>;
  /** For a vendor that keeps a place in a list for a while only: whether it says that the place is lost. */
  isLost?(asked: Asked<unknown>): boolean;
}

/**
 * Reads pages until `isEnough`; from the first again, once, if the place in the list is lost, for example because a limit paused the
 * calls. `isWhole`: nothing that is needed is on a page that was not read.
 */
async function readPages<Item>(
  pages: Pages<Item>,
  isEnough: (items: readonly Item[]) => boolean,
): Promise<Asked<{ readonly isWhole: boolean }>> {
  let cursor: string | undefined;
  for (let count = 1; count <= pages.most; count++) {
    const asked = await pages.read(cursor);
    if (cursor !== undefined && pages.isLost?.(asked)) return readPages({ ...pages, isLost: () => false }, isEnough);
    if (asked.status !== 'ok') return asked;
    const { items, next } = asked.value;
    if (isEnough(items) || !next) return { status: 'ok', value: { isWhole: true } };
    cursor = next;
  }
  return { status: 'ok', value: { isWhole: false } };
}

/** Finds the first matching item. `isWhole`: if no item matches, the whole list was read. */
export async function findInPages<Item>(
  pages: Pages<Item>,
  isWanted: (item: Item) => boolean,
): Promise<Asked<{ readonly found: Item | undefined; readonly isWhole: boolean }>> {
  let found: Item | undefined;
  const reading = readPages(pages, (items) => {
    found = items.find(isWanted);
    return found !== undefined;
  });
  return mapAsked(reading, (read) => ({ found, ...read }));
}

/** Whether one of the pages that are read has a matching item. */
export async function isInPages<Item>(pages: Pages<Item>, isWanted: (item: Item) => boolean): Promise<Asked<boolean>> {
  return mapAsked(findInPages(pages, isWanted), ({ found }) => found !== undefined);
}

/** All items of a list; refused if it has more pages. `remedy`: what to do then. */
export async function readWhole<Item>(
  pages: Pages<Item>,
  { what, remedy }: { readonly what: string; readonly remedy: string },
): Promise<Asked<readonly Item[]>> {
  const all: Item[] = [];
  const asked = await readPages(pages, (items) => {
    all.push(...items);
    return false;
  });
  if (asked.status !== 'ok') return asked;
  if (asked.value.isWhole) return { status: 'ok', value: all };
  const detail = `the list of ${what} has more than ${pages.most} pages: ${remedy}`;
  return { status: 'refused', reason: 'TOO_MANY_ITEMS', detail };
}

/** After this many pages of changes, a read ends once it has passed the time from which it reads. */
const ENOUGH_PAGES = 20;

interface Changed {
  /** Undefined if the vendor cannot show the changes in their order. */
  readonly changedAt?: Date | undefined;
}

type ReadChanged<Item> = (since: Date, cursor: string | undefined) => Promise<Asked<Page<Item>>>;

/**
 * What has changed since then, by pages that show the longest unchanged items first. An item that changes again leaves its place
 * and moves the ones after it to earlier pages. So each pass begins at the time up to which the list was read. Where many items changed
 * at one time, a pass has several pages: it is repeated until it shows again all that the pass before has shown. A list without an
 * order is read in this way to its end.
 *
 * `until`: more has changed since then, which the next reading shows.
 */
export async function readChanges<Item extends Changed>(
  read: ReadChanged<Item>,
  since: Date,
  idOf: (item: Item) => string,
): Promise<Asked<{ readonly items: readonly Item[]; readonly until: Date | undefined }>> {
  const items = new Map<string, Item>();
  const readUntil = (until: Date | undefined) =>
    ({ status: 'ok', value: { items: [...items.values()], until } }) as const;
  let from = since;
  let pages = 0;
  /** The items that the pass before has shown, if it has to be confirmed. */
  let before: ReadonlySet<string> | undefined;
  for (;;) {
    const asked = await readPass(read, from, (item) => items.set(idOf(item), item), idOf);
    if (asked.status !== 'ok') return from > since ? readUntil(from) : asked;
    const pass = asked.value;
    pages += pass.pages;
    const isConfirmed = pass.pages === 1 || (before !== undefined && [...before].every((id) => pass.shown.has(id)));
    before = isConfirmed ? undefined : pass.shown;
    if (!isConfirmed) continue;
    if (pass.isLast) return readUntil(undefined);
    if (pages >= ENOUGH_PAGES) return readUntil(pass.latest);
    from = pass.latest;
  }
}

/** The pages from one time on, up to the first that has a later item, or to the end of the list. */
interface Pass {
  readonly pages: number;
  /** The items without a later time. */
  readonly shown: ReadonlySet<string>;
  readonly latest: Date;
  readonly isLast: boolean;
}

async function readPass<Item extends Changed>(
  read: ReadChanged<Item>,
  from: Date,
  keep: (item: Item) => void,
  idOf: (item: Item) => string,
): Promise<Asked<Pass>> {
  const shown = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const asked = await read(from, cursor);
    if (asked.status !== 'ok') return asked;
    const { items, next } = asked.value;
    items.forEach(keep);
    const shownBefore = shown.size;
    for (const item of items.filter(({ changedAt = from }) => changedAt <= from)) shown.add(idOf(item));
    const latest = items.reduce((time, { changedAt = time }) => (changedAt > time ? changedAt : time), from);
    if (latest > from || !next) return { status: 'ok', value: { pages, shown, latest, isLast: !next } };
    const isRepeated = shown.size === shownBefore && (items.length > 0 || next === cursor);
    if (isRepeated) return { status: 'refused', reason: 'LIST_ENDLESS', detail: 'the list shows a page again' };
    cursor = next;
  }
}

/** Items that are looked for in a list are looked for together, because the list is read from its beginning each time. */
export const MOST_TOGETHER = 2_000;
/** At most one page of a list is read for this many wanted items. */
const READS_PER_PAGE = 10;

/**
 * The items of these ids that a list shows, whatever the number of its pages. `isWhole`: the whole list was read, so it does not
 * have those that are `left`.
 */
export async function collectInPages<Item extends { readonly itemId: string }>(
  pages: Pages<Item>,
  itemIds: readonly string[],
): Promise<Asked<{ readonly items: readonly Item[]; readonly left: ReadonlySet<string>; readonly isWhole: boolean }>> {
  const left = new Set(itemIds);
  const items: Item[] = [];
  const most = Math.ceil(itemIds.length / READS_PER_PAGE);
  const reading = readPages({ ...pages, most }, (page) => {
    items.push(...page.filter(({ itemId }) => left.delete(itemId)));
    return left.size === 0;
  });
  return mapAsked(reading, (read) => ({ items, left, ...read }));
}

/** A list that shows the newest items first, by `timeOf`, up to the page that reaches back to `since`. */
export function newestFirst<Item>(
  pages: Pages<Item>,
  since: Date,
  timeOf: (item: Item) => Date | undefined,
): Pages<Item> {
  return {
    ...pages,
    async read(cursor) {
      const asked = await pages.read(cursor);
      if (asked.status !== 'ok') return asked;
      const { items } = asked.value;
      const oldest = items.map(timeOf).findLast((time) => time !== undefined) ?? since;
      const isOver = oldest < since;
      return isOver ? { status: 'ok', value: { items } } : asked;
    },
  };
}

const MAX_SHOWN = 60;

/**
 * The item of a list as `schema` reads it, or why it cannot be read: the others are read without it. `idName`: the member that
 * names it.
 */
export function orUnread<Item>(schema: z.ZodType<Item>, idName: string): z.ZodType<Item | UnreadItem> {
  const named = z.object({ [idName]: z.union([z.string(), z.number()]) }).transform((item) => String(item[idName]));
  return z.unknown().transform((given) => {
    const read = schema.safeParse(given);
    if (read.success) return read.data;
    const [issue] = read.error.issues;
    const id = named.safeParse(given).data ?? JSON.stringify(given).slice(0, MAX_SHOWN);
    return { unreadId: id, why: `${issue?.path.join('.')}: ${issue?.message}` };
  });
}
