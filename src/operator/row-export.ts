/** The rows of a run as CSV (RFC 4180), for a spreadsheet or another program. */
import { sentenceFor } from '../base/reasons/reasons.ts';
import { guarded } from '../csv/formulas.ts';
import type { Verdict } from '../engine/ledger/rows.ts';
import type { Run } from '../engine/ledger/runs.ts';
import { reportRows } from '../engine/ledger/views/row-pages.ts';
import type { Queryable } from '../storage/queryable.ts';
import { hintsFor } from './hints.ts';

export const EXPORT_TITLES = ['source_id', 'label', 'verdict', 'reason', 'detail', 'record_id', 'action', 'sends'];

/** A line per row, or per row of one verdict, without the titles. `hint` completes commands. */
export async function* exportedLines(
  db: Queryable,
  run: Run,
  verdict: Verdict | undefined,
  hint: (command: string) => string,
): AsyncGenerator<string> {
  const hints = hintsFor(hint, run);
  for await (const row of reportRows(db, run.id, verdict)) {
    const { sourceId, label, reason, facts, recordId, action, sends } = row;
    yield csvLine([sourceId, label, row.verdict, reason, sentenceFor(reason, facts, hints), recordId, action, sends]);
  }
}

/** Lines under their titles. */
export async function* titled(titles: readonly string[], lines: AsyncIterable<string>): AsyncGenerator<string> {
  yield csvLine(titles);
  yield* lines;
}

const TO_QUOTE = /[",\r\n]|^\s|\s$/;

/** One line of CSV (RFC 4180) that a spreadsheet shows and never executes. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: string | number | null): string {
  const text = guarded(String(cell ?? ''));
  return TO_QUOTE.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
