/** What became of one written row, as the dispatcher records it. */
import type { Attempt, ClaimedRow, RowAction } from '../engine/ledger/rows.ts';
import type { SentRow } from './row-source.ts';
import type { WriteReport } from './writes.ts';

/** A sender waits this long for the budget before it gives the worker's slot back: longer waits hold up other accounts. */
export const SENDER_PATIENCE_MS = 2_000;

/** What the answer to one write means for its row and its run. */
export function toSent(row: ClaimedRow, report: WriteReport, action: RowAction): SentRow {
  const { written } = report;
  switch (written.status) {
    case 'applied':
      return sent(report, { ...spent(row, action), outcome: 'acked' });
    case 'in-doubt':
      return sent(report, { ...spent(row, action), outcome: 'unknown', facts: { answer: written.message } });
    case 'given-up': {
      const facts = { sends: row.sends + report.calls, answer: written.message };
      return sent(report, { ...spent(row, action), outcome: 'unknown', verdict: 'review', reason: 'GAVE_UP', facts });
    }
    case 'refused': {
      const refusal = {
        ...spent(row, action),
        reason: 'REFUSED_BY_SERVICE',
        facts: { http: written.httpStatus, answer: written.message },
      };
      // Some services answer 200 with an error and keep the record all the same: the read-back tells.
      const isToBeReadBack = written.httpStatus === 200 && action !== 'update';
      return sent(
        report,
        isToBeReadBack ? { ...refusal, outcome: 'unknown' } : { ...refusal, outcome: 'refused', verdict: 'rejected' },
      );
    }
    case 'not-now': {
      const { stop } = written;
      return { ...sent(report, unsent(row)), ...(stop && { stop }) };
    }
    default:
      return written satisfies never;
  }
}

/** A row that was sent: every result of it but the outcome. */
export function spent(row: ClaimedRow, action: RowAction): Omit<Attempt, 'outcome'> {
  const { n, chunk, sends } = row;
  return { n, chunk, sends: sends + 1, action };
}

/** A row that was not sent, or certainly not taken, and is ready again. */
export function unsent({ n, chunk, sends, action }: ClaimedRow): Attempt {
  return { n, chunk, sends, action, outcome: 'unsent' };
}

export function sent({ calls, limited, http, ms }: WriteReport, result: Omit<Attempt, 'http' | 'ms'>): SentRow {
  return { result: { ...result, http, ms }, calls, limited };
}
