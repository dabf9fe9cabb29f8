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
