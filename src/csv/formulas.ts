/**
 * Cells that a spreadsheet shows and never executes, and the way back.
 *
 * An apostrophe is put before what begins like a formula, at the cell's beginning and after each line break in it (a program
 * that splits lines first sees a cell begin there). Numbers stay numbers: -12.50. What had the apostrophe already gets a
 * second one, so that `withoutGuard` always gives back what was written. Not PapaParse's `escapeFormulae: true`: it misses
 * cells with line breaks and has no way back.
 */

/** Signs a spreadsheet may execute; full-width ones in Japanese and Chinese editions. Spaces before them are no shield. */
const LIVE = /(?:[\t\r]|(?:[^\S\r\n]|\u200b)*[=+\-@\uff1d\uff0b\uff0d\uff20])/.source;
const TO_GUARD = new RegExp(`(?<=^|[\\r\\n])(?='*${LIVE})`, 'g');
const GUARDED = new RegExp(`(?<=^|[\\r\\n])'(?='*${LIVE})`, 'g');
const MAY_BE_LIVE = /[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?\d+(?:[.,]\d+)*$/;

export function guarded(cell: string): string {
  return !MAY_BE_LIVE.test(cell) || NUMBER.test(cell) ? cell : cell.replace(TO_GUARD, "'");
}

/** Undoes `guarded`, for files that Lockstep wrote. */
export function withoutGuard(cell: string): string {
  return cell.includes("'") ? cell.replace(GUARDED, '') : cell;
}
