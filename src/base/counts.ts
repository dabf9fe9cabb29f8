/** Numbers of things in texts for people. */

/** Making one is slow, and a page has many numbers. */
const COUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** `1,234,567`. */
export function formatCount(n: number): string {
  return COUNT.format(n);
}

/** `1 row`, `2 rows`; `many`: the plural if it is not formed with an s. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}

/** `A, B and 1,234 more`, of `count` in all. */
export function firstOf(first: readonly (string | number)[], count: number, between = ', '): string {
  return `${first.join(between)}${count > first.length ? ` and ${formatCount(count - first.length)} more` : ''}`;
}
