/** How one row of a load is sent. */
import type { Lane } from '../../client/budget/budget.ts';
import { type Kind, type LongIds, toBodyId } from '../../client/call/dialect.ts';
import type { Account } from '../../engine/account/account.ts';
import { type WriteOptions, write } from '../../engine/account/writes.ts';
import type { ClaimedRow } from '../../engine/ledger/rows.ts';
import type { SendRow } from '../../engine/worker/row-source.ts';
import { SENDER_PATIENCE_MS, type SentRow, sent, toSent } from '../../engine/worker/sent.ts';
import { createdId } from '../created-id.ts';

/** `longIds`: how the service's lists write long ids. */
export function orderSender(account: Account, lane: Lane, longIds: (kind: Kind) => LongIds): SendRow {
  return async (row, { dispatchBefore, stopWaiting }) => {
    const isCreate = row.action === 'create';
    const options: WriteOptions = {
      lane,
      stopWaiting,
      dispatchBefore,
      maxWaitMs: SENDER_PATIENCE_MS,
      sends: row.sends,
      record: row.sourceId,
      body: {
        ...row.fields,
        // As a number, as the contract says: it has few enough digits for a number to hold it exactly.
        amount: row.fields.amount === undefined ? undefined : Number(row.fields.amount),
        client_id: toBodyId(row.clientId ?? '', longIds('customers')),
        id: isCreate ? undefined : toBodyId(row.recordId ?? '', longIds('orders')),
      },
    };
    if (!isCreate) return sendUpdate(account, row, options);
    const report = await write(account, 'orders.create', options);
    return toSent(row, report, 'create', createdId(account, 'orders', report));
  };
}

/** An update is read back like a create: the service may have accepted it without storing it. */
async function sendUpdate(account: Account, row: ClaimedRow, options: WriteOptions): Promise<SentRow> {
  const report = await write(account, 'orders.update', options);
  const { written } = report;
  if (written.status === 'refused' && written.httpStatus === 404) {
    const facts = { order: row.recordId, answer: written.message };
    const gone = { outcome: 'refused', verdict: 'review', reason: 'ORDER_GONE', facts } as const;
    return sent(row, 'update', report, gone);
  }
  return toSent(row, report, 'update');
}
