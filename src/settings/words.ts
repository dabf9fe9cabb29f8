/** Words for messages: quoting what was written, naming what it is, and guessing what was meant. */

/** A value as a message shows it: quoted, shortened, and without control characters that would reach the terminal. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 39)}…` : text);
}

/** What kind of value was found, in the words of someone who writes YAML. */
export function yamlKind(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'boolean') return `${value}`;
  return 'a map';
}

/** `a`, `b` or `c`. */
export function oneOf(choices: readonly string[]): string {
  if (choices.length < 2) return choices.join('');
  return `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

/** `; did you mean "x"?` for the candidate closest to `word`, or nothing when none is close. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const match = closest(word, candidates);
  return match === undefined ? '' : `; did you mean ${quote(match)}?`;
}

/** The candidate a hurried hand may have meant: a third of its letters may be wrong; case, `_` and `-` do not count. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const plainWord = plain(word);
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const target = plain(candidate);
    const allowed = Math.max(1, Math.floor(Math.max(plainWord.length, target.length) / 3));
    const distance = editDistance(plainWord, target);
    if (distance <= allowed && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { candidate, distance };
  }
  return best?.candidate;
}

/** Levenshtein distance, counting two swapped neighbours as one edit. */
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

function plain(word: string): string {
  return word
    .slice(0, 100)
    .toLowerCase()
    .replaceAll(/[-_\s]/g, '');
}
