/** Guesses which of several names was meant. */

/** The candidate closest to `word`: up to a third of its letters may differ, or one of two; case, spaces, `_` and `-` are ignored. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const plainWord = plain(word);
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const target = plain(candidate);
    const allowed = Math.max(1, Math.floor(Math.max(plainWord.length, target.length) / 3));
    const distance = editDistance(plainWord, target);
    const isAlike = distance <= allowed && distance < Math.min(plainWord.length, target.length);
    if (isAlike && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { candidate, distance };
  }
  return best?.candidate;
}

function plain(word: string): string {
  return word
    .slice(0, 100)
    .toLowerCase()
    .replaceAll(/[-_\s]/g, '');
}

/**
 * How many letters must be added, removed, changed or swapped with their neighbour to turn one word into the other. If the
 * lengths differ by more than 20, the result is the length of the longer word.
 */
export function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 20) return Math.max(a.length, b.length);
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substituted = cell(previous, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let cost = Math.min(cell(previous, column) + 1, cell(current, column - 1) + 1, substituted);
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (row > 1 && column > 1 && swapped) cost = Math.min(cost, cell(beforePrevious, column - 2) + 1);
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return cell(previous, b.length);
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
