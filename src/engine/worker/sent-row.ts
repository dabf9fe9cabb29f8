/** The outcome of one written row, as the dispatcher records it. */
import type { Stop } from '../account/failure.ts';
import type { WriteReport } from '../account/writes.ts';
import type { Attempt, ClaimedRow, RowAction } from '../ledger/rows.ts';

/** A row's result, and what it means for the run. */
export interface SentRow {
  readonly result: Attempt;
  /** Number of calls, and how many were answered with a rate limit. */
  readonly calls: number;
  readonly limited: number;
  /** Why no more rows are sent for now. */
  readonly stop?: Stop;
}

type Called = Omit<WriteReport, 'written'>;

const REFUSED = 'REFUSED_BY_SERVICE';
const ACKED = { outcome: 'acked' } as const;
const NOT_CALLED: Called = { calls: 0, limited: 0, http: undefined, ms: 0 };

/** What the answer to one write means for its row and its run. `id`: the created record's, if the answer has one. */
export function toSent(row: ClaimedRow, report: WriteReport, action: RowAction, id?: string): SentRow {
  const { written } = report;
  switch (written.status) {
    case 'applied':
      return sent(row, action, report, id === undefined ? ACKED : { ...ACKED, facts: { id } });
    case 'in-doubt': {
      const facts = { ...(written.isThere && { http: report.http }), answer: written.message };
      // A rate limit spends no attempt.
      const sends = written.wasLimited ? row.sends - 1 : row.sends;
      return sent({ ...row, sends }, action, report, {
        outcome: 'unknown',
        ...(written.isThere && { reason: REFUSED }),
        facts,
      });
    }
    case 'given-up': {
      // An earlier attempt may have been applied: the read-back shows it.
      const sends = row.sends + report.calls - 1;
      return sent({ ...row, sends }, action, report, { outcome: 'unknown', facts: { answer: written.message } });
    }
    case 'refused': {
      const why = { reason: REFUSED, facts: { http: written.httpStatus, answer: written.message } };
      // Some services answer 200 with an error and still store the record: the read-back shows it.
      const isToBeReadBack = written.httpStatus === 200 && action !== 'update';
      if (isToBeReadBack) return sent(row, action, report, { ...why, outcome: 'unknown' });
      return sent(row, action, report, { ...why, outcome: 'refused', verdict: 'rejected' });
    }
    case 'not-now': {
      const { stop } = written;
      return { ...notSent(row, report), ...(stop && { stop }) };
    }
    default:
      return written satisfies never;
  }
}

/** The same for an update, whose record may be gone. */
export function toSentUpdate(row: ClaimedRow, report: WriteReport, kind: 'customer' | 'order'): SentRow {
  const { written } = report;
  if (written.status !== 'refused' || written.httpStatus !== 404) return toSent(row, report, 'update');
  const reason = kind === 'customer' ? 'CUSTOMER_GONE' : 'ORDER_GONE';
  const facts = { [kind]: row.recordId, answer: written.message };
  return sent(row, 'update', report, { outcome: 'refused', verdict: 'review', reason, facts });
}

export function sent(
  { n, chunk, sends }: ClaimedRow,
  action: RowAction,
  { calls, limited, http, ms }: Called,
  result: Omit<Attempt, 'n' | 'chunk' | 'sends' | 'action' | 'http' | 'ms'>,
): SentRow {
  return { result: { n, chunk, sends: sends + 1, action, http, ms, ...result }, calls, limited };
}

/** A row that was not sent, or certainly not accepted, and is ready again. */
export function notSent(
  { n, chunk, sends, action }: ClaimedRow,
  { calls, limited, http, ms }: Called = NOT_CALLED,
): SentRow {
  return { result: { n, chunk, sends, action, outcome: 'unsent', http, ms }, calls, limited };
}
