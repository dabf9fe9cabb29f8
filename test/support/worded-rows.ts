/** The rows of a run as people see them. */
import type pg from 'pg';
import { sentenceFor } from '../../src/base/reasons/reasons.ts';
import type { Run } from '../../src/engine/ledger/runs.ts';
import { type ReportedRow, reportRows } from '../../src/engine/ledger/views/row-pages.ts';

export interface WordedRow extends ReportedRow {
  /** What a person reads about it. */
  readonly detail: string;
}

export async function wordedRows(pool: pg.Pool, { id }: Pick<Run, 'id'>): Promise<readonly WordedRow[]> {
  const rows: WordedRow[] = [];
  for await (const row of reportRows(pool, id)) rows.push({ ...row, detail: sentenceFor(row.reason, row.facts) });
  return rows;
}
