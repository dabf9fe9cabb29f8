/**
 * One line of CSV (RFC 4180) that a spreadsheet shows and never executes. Cells come from contacts and from the service:
 * one that begins like a formula, or has a line that does, is led by an apostrophe. Numbers stay numbers.
 */

const LIVE = /(^|[\r\n])[=+\-@\t\r]/;
const PLAIN_NUMBER = /^[+-]?\d+(\.\d+)?$/;
const TO_QUOTE = /[",\r\n]|^\s|\s$/;

export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: string | number | null): string {
  const text = harmless(String(cell ?? ''));
  return TO_QUOTE.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function harmless(text: string): string {
  return LIVE.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
}
