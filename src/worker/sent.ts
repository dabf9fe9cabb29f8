/** What became of one written row, as the dispatcher records it. */
import type { ClaimedRow, RowAction, RowResult } from '../ledger/rows.ts';
import type { SentRow } from './row-source.ts';
import type { WriteReport } from './writes.ts';

/** A sender waits this long for the budget before it gives the worker's slot back: longer waits hold up other accounts. */
export const SENDER_PATIENCE_MS = 2_000;

/** What the answer to one write means for its row and its run. */
export function toSent(row: ClaimedRow, report: WriteReport, action: RowAction): SentRow {
  const { sourceId } = row;
  const { written } = report;
  switch (written.status) {
    case 'applied':
      return sent(report, { sourceId, state: 'acked', spent: true, action });
    case 'in-doubt':
      return sent(report, { sourceId, state: 'unknown', spent: true, action, detail: written.message });
    case 'given-up': {
      const detail = `${row.sends + report.calls} times without a clear answer: ${written.message}`;
      return sent(report, { ...inReview(row, 'GAVE_UP'), action, detail });
    }
    case 'refused': {
      const refusal = { sourceId, spent: true, action, reason: 'REFUSED_BY_SERVICE', detail: written.message };
      // Some services answer 200 with an error and keep the record all the same: the read-back tells.
      const isToBeReadBack = written.httpStatus === 200 && action !== 'update';
      return sent(
        report,
        isToBeReadBack ? { ...refusal, state: 'unknown' } : { ...refusal, state: 'settled', verdict: 'rejected' },
      );
    }
    case 'not-now': {
      const { stop } = written;
      return { ...sent(report, { sourceId, state: 'ready', spent: false }), ...(stop && { stop }) };
    }
    default:
      return written satisfies never;
  }
}

export function inReview({ sourceId }: ClaimedRow, reason: string): RowResult {
  return { sourceId, state: 'settled', spent: true, verdict: 'review', reason };
}

export function sent({ calls, limited }: WriteReport, result: RowResult): SentRow {
  return { result, calls, limited };
}
