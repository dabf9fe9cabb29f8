/**
 * Escapes cells so that a spreadsheet shows them and never executes them, and reverses this.
 *
 * A spreadsheet splits a file by its own list separator and quotes, which need not be those of the file: the cell
 * `a;=1+1` of a comma file is two cells to a German Excel. So an apostrophe is inserted before anything that begins
 * like a formula, at the beginning of the cell and after each character where another program may start a new cell: a
 * separator, a quote, a line break. A `sep=` line would help only in programs that know it, and would hide the byte
 * order mark from them. Numbers stay numbers: -12.50. A text that already has the apostrophe gets a second one, so
 * `withoutGuard` always restores the original. Not PapaParse's `escapeFormulae: true`: it misses cells with line breaks
 * and cannot be reversed.
 */

/** A cell may begin after these characters. */
const BEGINS = /(?<=^|[\r\n\t,;|"])/.source;
/**
 * Signs that a spreadsheet may execute, including full-width ones in Japanese and Chinese editions. Spaces before them
 * do not prevent it.
 */
const LIVE = /(?:[\t\r]|(?:[^\S\r\n\t]|\u200b)*[=+\-@\uff1d\uff0b\uff0d\uff20])/.source;
const TO_GUARD = new RegExp(`${BEGINS}(?='*${LIVE})`, 'g');
const GUARDED = new RegExp(`${BEGINS}'(?='*${LIVE})`, 'g');
const MAY_BE_LIVE = /[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?\d+(?:[.,]\d+)*$/;

export function guarded(cell: string): string {
  return !MAY_BE_LIVE.test(cell) || NUMBER.test(cell) ? cell : cell.replace(TO_GUARD, "'");
}

/** Undoes `guarded`, for files that Lockstep wrote. */
export function withoutGuard(cell: string): string {
  return cell.includes("'") ? cell.replace(GUARDED, '') : cell;
}
