/** How one row of a contact sync is sent, and what its answer means for the row and the run. */

import type { Lane } from '../budget/budget.ts';
import type { CallOptions } from '../client/client.ts';
import { importBody, toWireId } from '../client/dialect.ts';
import type { NotSent, Outcome, Refused } from '../client/outcome.ts';
import type { ClaimedRow, RowAction, RowResult } from '../ledger/rows.ts';
import { MAX_SENDS } from '../ledger/rows.ts';
import type { Account } from '../worker/accounts.ts';
import type { SendRow, SentRow } from '../worker/pump.ts';
import { ComeBack, isKeyRefused, keyRefused, troubleOf } from '../worker/trouble.ts';

/** Whether customers/import works at this service, as far as is known. */
export interface ImportMode {
  /** `undefined`: not known, tried first and created where it is refused. */
  works: boolean | undefined;
  /** Imports refused in a row while nothing is known. */
  refusals: number;
}

/** Imports refused in a row after which customers are created straight away. */
const REFUSALS_TO_BELIEVE = 3;
/** A sender waits this long for the budget before it gives the worker's slot back. */
const PATIENCE_MS = 10_000;

export function contactSender(account: Account, lane: Lane, mode: ImportMode): SendRow {
  return async (row, { dispatchBefore, stopWaiting }) => {
    const options: CallOptions = { lane, stopWaiting, dispatchBefore, maxWaitMs: PATIENCE_MS };
    if (row.action === 'update') return sendUpdate(account, row, options);
    if (row.action === 'create' || mode.works === false) return sendCreate(account, row, options);
    const body = importBody(account.dialect, row.sourceId, row.fields);
    const outcome = await account.client.call('customers.import', { ...options, body });
    if (outcome.status === 'applied') mode.works = true;
    if (outcome.status !== 'refused' || !isImportRefused(outcome, mode)) return toSent(account, row, outcome, 'import');
    mode.refusals++;
    if (outcome.httpStatus === 405 || outcome.httpStatus === 501 || mode.refusals >= REFUSALS_TO_BELIEVE)
      mode.works = false;
    const created = await sendCreate(account, row, options); // refused is "not applied" (A3): creating cannot double it
    return { ...created, calls: created.calls + 1 };
  };
}

/** The record as it stands there, with what changed put over it; the match index brought both together. */
async function sendUpdate(account: Account, row: ClaimedRow, options: CallOptions): Promise<SentRow> {
  const body = { ...row.fields, id: toWireId(row.recordId ?? '') };
  const outcome = await account.client.call('customers.update', { ...options, body });
  if (outcome.status === 'applied') {
    return called({ sourceId: row.sourceId, state: 'settled', spent: true, verdict: 'updated' });
  }
  if (outcome.status === 'unknown' && row.sends + 1 >= MAX_SENDS) {
    return called(review(row, 'GAVE_UP', `updated ${MAX_SENDS} times without an answer: ${outcome.message}`));
  }
  if (outcome.status === 'refused' && outcome.httpStatus === 404) {
    return called(review(row, 'CUSTOMER_GONE', `customer ${row.recordId} is no longer there: ${outcome.message}`));
  }
  return toSent(account, row, outcome, 'update');
}

async function sendCreate(account: Account, row: ClaimedRow, options: CallOptions): Promise<SentRow> {
  const outcome = await account.client.call('customers.create', { ...options, body: row.fields });
  return toSent(account, row, outcome, 'create');
}

/** Only a refusal that may be about importing as such leads to creating: not one about the key or a record that is there. */
function isImportRefused(refused: Refused, mode: ImportMode): boolean {
  if (mode.works === true || isKeyRefused(refused.httpStatus, refused.message)) return false;
  return [200, 400, 404, 405, 415, 422, 501].includes(refused.httpStatus);
}

function toSent(account: Account, row: ClaimedRow, outcome: Outcome, action: RowAction): SentRow {
  const { sourceId } = row;
  switch (outcome.status) {
    case 'applied':
      return called({ sourceId, state: 'acked', spent: true, action });
    case 'limited':
      return { ...called({ sourceId, state: 'ready', spent: false }), limited: 1 };
    case 'unknown':
      return called({ sourceId, state: 'unknown', spent: true, action, detail: outcome.message });
    case 'not-sent':
      return {
        result: { sourceId, state: 'ready', spent: false },
        calls: 0,
        limited: 0,
        ...stopFor(account, outcome),
      };
    case 'refused':
      return refused(account, row, outcome, action);
    default:
      return outcome satisfies never;
  }
}

function refused(account: Account, row: ClaimedRow, outcome: Refused, action: RowAction): SentRow {
  const { sourceId } = row;
  if (isKeyRefused(outcome.httpStatus, outcome.message)) {
    const stop = keyRefused(account, outcome.httpStatus, outcome.message);
    return { ...called({ sourceId, state: 'ready', spent: false }), stop };
  }
  // A conflict says that it may be there already: the read-back tells.
  if (outcome.httpStatus === 409)
    return called({ sourceId, state: 'unknown', spent: true, action, detail: outcome.message });
  return called({
    sourceId,
    state: 'settled',
    spent: true,
    action,
    verdict: 'rejected',
    reason: 'REFUSED_BY_SERVICE',
    detail: outcome.message,
  });
}

/** Out of time or patience is the row's own business; a service that cannot be reached is the run's. */
function stopFor(account: Account, outcome: NotSent): { stop?: SentRow['stop'] } {
  const trouble = troubleOf(outcome, account, 'sending');
  if (trouble instanceof ComeBack && !trouble.isTrouble && outcome.reason !== 'budget') return {};
  return { stop: trouble };
}

function review(row: ClaimedRow, reason: string, detail: string): RowResult {
  return { sourceId: row.sourceId, state: 'settled', spent: true, verdict: 'review', reason, detail };
}

function called(result: RowResult): SentRow {
  return { result, calls: 1, limited: 0 };
}
