/** Reads the items of links: many together if the target can, and the others one by one, until the target stops answering. */
import type { ItemRead, Target } from '../../contract/target.ts';

export interface Link {
  readonly taskId: string;
  readonly itemId: string;
}

export interface LinkRead {
  readonly link: Link;
  readonly read: ItemRead;
}

/** Single reads in flight at once, if the target's own budget allows them. */
const AT_ONCE = 4;
/** How many items to read before the results are stored. */
export function portionOf({ readItems }: Target): number {
  return readItems?.most ?? AT_ONCE;
}

/**
 * Links without a result were not read. `isFailing`: the target answered none of the last reads; if it is false, what failed
 * was the item.
 */
export async function readLinks(
  { readItem, readItems }: Target,
  links: readonly Link[],
  signal: AbortSignal,
): Promise<{ readonly reads: readonly LinkRead[]; readonly isFailing: boolean }> {
  const ids = links.map(({ itemId }) => itemId);
  const together = links.length > AT_ONCE ? ((await readItems?.read(ids, { signal })) ?? []) : [];
  // Another failure may be that of this call alone, for example if its answer is too large.
  if ('status' in together && isStop(together)) {
    return { reads: links.slice(0, 1).map((link) => ({ link, read: together })), isFailing: false };
  }
  const items = new Map(('status' in together ? [] : together).map((item) => [item.itemId, item]));
  const reads: LinkRead[] = links.flatMap((link) => {
    const item = items.get(link.itemId);
    return item === undefined ? [] : [{ link, read: { status: 'found', item } }];
  });
  const others = links.filter(({ itemId }) => !items.has(itemId));
  let isFailing = false;
  for (let from = 0; readItem !== undefined && from < others.length && !isFailing; from += AT_ONCE) {
    const few = others.slice(from, from + AT_ONCE);
    const read = await Promise.all(few.map(async (link) => ({ link, read: await readItem(link.itemId, { signal }) })));
    reads.push(...read);
    isFailing = read.every(({ read: one }) => one.status === 'later' && !isLimit(one));
    if (read.some((each) => isStop(each.read))) break;
  }
  return { reads, isFailing };
}

function isStop(read: ItemRead): boolean {
  return read.status === 'disabled' || isLimit(read);
}

/** The target asks for a pause: this says nothing about the item. */
export function isLimit(read: ItemRead): read is Extract<ItemRead, { status: 'later' }> {
  return read.status === 'later' && read.isLimited === true;
}
