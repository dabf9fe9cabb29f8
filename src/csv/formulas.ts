/**
 * Cells that a spreadsheet shows and never executes, and the way back.
 *
 * A spreadsheet splits a file by its own list separator and quotes, which need not be those of the file: the cell `a;=1+1` of
 * a comma file is two cells to a German Excel. So an apostrophe is put before what begins like a formula at the cell's
 * beginning and behind each character where another program may see a cell begin: a separator, a quote, a line break. A
 * `sep=` line would only help with the programs that know it, and hides the byte order mark from them. Numbers stay numbers:
 * -12.50. What had the apostrophe already gets a second one, so that `withoutGuard` always gives back what was written.
 * Not PapaParse's `escapeFormulae: true`: it misses cells with line breaks and has no way back.
 */

/** Behind these a cell may begin. */
const BEGINS = /(?<=^|[\r\n\t,;|"])/.source;
/** Signs a spreadsheet may execute; full-width ones in Japanese and Chinese editions. Spaces before them are no shield. */
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
