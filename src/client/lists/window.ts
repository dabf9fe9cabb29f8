/** Windows of a list that is paged by number: page `p` of size `s` holds the positions `p·s … (p+1)·s − 1`. Pure. */

export interface Window {
  readonly page: number;
  readonly size: number;
}

/** The first position of a window, counted from 0. */
export function windowStart({ page, size }: Window): number {
  return page * size;
}

/** The position after the last one of a window. */
export function windowEnd({ page, size }: Window): number {
  return (page + 1) * size;
}

/** The overlap a scan starts with, in rows: 3% of a page, at least one. */
export function smallestOverlap(sizeMax: number): number {
  return Math.max(1, Math.ceil(sizeMax * 0.03));
}

/**
 * The window that reaches furthest and begins at least `overlap` rows before `end`, with a size between half of `sizeMax`
 * and `sizeMax`. Sizes vary because a window begins at a multiple of its size.
 */
export function nextWindow(end: number, overlap: number, sizeMax: number): Window {
  const latestStart = Math.max(0, end - overlap);
  let best: Window = { page: 0, size: sizeMax };
  for (let size = sizeMax; size >= Math.max(1, sizeMax >> 1); size--) {
    const window = { page: Math.floor(latestStart / size), size };
    if (windowEnd(window) > windowEnd(best)) best = window;
  }
  return best;
}

/**
 * Compares the order of the ids that two windows share: none shared, the same order, or another order. A row shown
 * twice counts once.
 */
export function compareShared(before: readonly string[], after: readonly string[]): 'none' | 'same' | 'reordered' {
  const inBefore = new Set(before);
  const inAfter = new Set(after);
  const sharedBefore = [...inBefore].filter((id) => inAfter.has(id));
  if (sharedBefore.length === 0) return 'none';
  const sharedAfter = [...inAfter].filter((id) => inBefore.has(id));
  return sharedBefore.every((id, i) => id === sharedAfter[i]) ? 'same' : 'reordered';
}

/** Whether `after` begins like `before`: then the page number is ignored, or counted from 1. */
export function isEcho(before: readonly string[], after: readonly string[]): boolean {
  return after.length > 0 && after.every((id, i) => id === before[i]);
}

export function idsOf(records: readonly { readonly id: string }[]): readonly string[] {
  return records.map((record) => record.id);
}
