/** How one row of a contact sync is sent, and what its answer means for the row and the run. */
import type { Lane } from '../budget/budget.ts';
import { importBody, toWireId } from '../client/dialect.ts';
import type { ClaimedRow } from '../ledger/rows.ts';
import type { Account } from '../worker/accounts.ts';
import type { SendRow, SentRow } from '../worker/pump.ts';
import { inReview, SENDER_PATIENCE_MS, sent, toSent } from '../worker/sent.ts';
import { type WriteOptions, type Written, write } from '../worker/writes.ts';

/** Whether customers/import works at this service, as far as is known. */
export interface ImportMode {
  /** `undefined`: not known, tried first and created where it is refused. */
  works: boolean | undefined;
  /** Imports refused in a row while nothing is known. */
  refusals: number;
}

/** Imports refused in a row after which customers are created straight away. */
const REFUSALS_TO_BELIEVE = 3;

export function contactSender(account: Account, lane: Lane, mode: ImportMode): SendRow {
  return async (row, { dispatchBefore, stopWaiting }) => {
    const options = {
      lane,
      stopWaiting,
      dispatchBefore,
      maxWaitMs: SENDER_PATIENCE_MS,
      sends: row.sends,
      record: row.sourceId,
    };
    if (row.action === 'update') return sendUpdate(account, row, options);
    if (row.action === 'create' || mode.works === false) return sendCreate(account, row, options);
    const body = importBody(account.dialect, row.sourceId, row.fields);
    const report = await write(account, 'customers.import', { ...options, body });
    const { written } = report;
    if (written.status === 'applied') mode.works = true;
    if (mode.works === true || !isImportRefused(written)) return toSent(row, report, 'import');
    mode.refusals++;
    if (written.httpStatus === 405 || written.httpStatus === 501 || mode.refusals >= REFUSALS_TO_BELIEVE)
      mode.works = false;
    const created = await sendCreate(account, row, options); // refused is "not applied" (A3): creating cannot double it
    return { ...created, calls: report.calls + created.calls, limited: report.limited + created.limited };
  };
}

/** The record as it stands there, with what changed put over it; the match index brought both together. */
async function sendUpdate(account: Account, row: ClaimedRow, options: WriteOptions): Promise<SentRow> {
  const body = { ...row.fields, id: toWireId(row.recordId ?? '') };
  const report = await write(account, 'customers.update', { ...options, body });
  const { written } = report;
  if (written.status === 'applied')
    return sent(report, { sourceId: row.sourceId, state: 'settled', spent: true, verdict: 'updated' });
  if (written.status === 'refused' && written.httpStatus === 404) {
    const detail = `customer ${row.recordId} is no longer there: ${written.message}`;
    return sent(report, { ...inReview(row, 'CUSTOMER_GONE'), detail });
  }
  return toSent(row, report, 'update');
}

async function sendCreate(account: Account, row: ClaimedRow, options: WriteOptions): Promise<SentRow> {
  return toSent(row, await write(account, 'customers.create', { ...options, body: row.fields }), 'create');
}

/** What services say of a record that is there. */
const IS_THERE = /\balready\b|\bduplicate|\bbeen taken\b/i;

/** Only a refusal that may be about importing as such leads to creating: not one about a record that is there. */
function isImportRefused(written: Written): written is Extract<Written, { status: 'refused' }> {
  if (written.status !== 'refused') return false;
  if ([404, 405, 415, 501].includes(written.httpStatus)) return true;
  return [200, 400, 422].includes(written.httpStatus) && !IS_THERE.test(written.message);
}
