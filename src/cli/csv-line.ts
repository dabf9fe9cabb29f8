/** One line of CSV (RFC 4180) that a spreadsheet shows and never executes. */
import { guarded } from '../csv/formulas.ts';

const TO_QUOTE = /[",\r\n]|^\s|\s$/;

export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: string | number | null): string {
  const text = guarded(String(cell ?? ''));
  return TO_QUOTE.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
