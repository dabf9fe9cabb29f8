/** How one row of a load is sent. */
import type { Lane } from '../budget/budget.ts';
import { toWireId } from '../client/dialect.ts';
import type { ClaimedRow } from '../ledger/rows.ts';
import type { Account } from '../worker/accounts.ts';
import type { SendRow, SentRow } from '../worker/pump.ts';
import { inReview, SENDER_PATIENCE_MS, sent, toSent } from '../worker/sent.ts';
import { type WriteOptions, write } from '../worker/writes.ts';

export function orderSender(account: Account, lane: Lane): SendRow {
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
    return toSent(row, await write(account, 'orders.create', { ...options, body: bodyOf(row) }), 'create');
  };
}

/** An update is read back like a create: what the service took may still not stand there. */
async function sendUpdate(account: Account, row: ClaimedRow, options: WriteOptions): Promise<SentRow> {
  const body = { ...bodyOf(row), id: toWireId(row.recordId ?? '') };
  const report = await write(account, 'orders.update', { ...options, body });
  const { written } = report;
  if (written.status === 'refused' && written.httpStatus === 404) {
    const detail = `order ${row.recordId} is no longer there: ${written.message}`;
    return sent(report, { ...inReview(row, 'ORDER_GONE'), detail });
  }
  return toSent(row, report, 'update');
}

/** The amount goes as a number, as the contract has it: its digits are few enough for one to carry exactly. */
function bodyOf({ fields, clientId }: ClaimedRow): Readonly<Record<string, unknown>> {
  const { amount } = fields;
  return { ...fields, ...(amount !== undefined && { amount: Number(amount) }), client_id: toWireId(clientId ?? '') };
}
