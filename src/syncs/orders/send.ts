/** How one row of a load is sent. */
import type { Lane } from '../../client/budget/budget.ts';
import { type Kind, type LongIds, toBodyId } from '../../client/call/dialect.ts';
import type { Account } from '../../engine/account/account.ts';
import { type WriteOptions, write } from '../../engine/account/writes.ts';
import type { ClaimedRow } from '../../engine/ledger/rows.ts';
import type { SendRow } from '../../engine/worker/row-source.ts';
import { SENDER_PATIENCE_MS, type SentRow, sent, toSent } from '../../engine/worker/sent.ts';

/** `longIds`: how the service's lists write long ids. */
export function orderSender(account: Account, lane: Lane, longIds: (kind: Kind) => LongIds): SendRow {
  return (row, { dispatchBefore, stopWaiting }) => {
    const isCreate = row.action === 'create';
    const { order_id, description, amount, status } = row.fields;
    const options: WriteOptions = {
      lane,
      stopWaiting,
      dispatchBefore,
      maxWaitMs: SENDER_PATIENCE_MS,
      sends: row.sends,
      record: row.sourceId,
      // Member by member: a spread of a row's fields takes several times as long.
      body: {
        order_id,
        client_id: toBodyId(row.clientId ?? '', longIds('customers')),
        description,
        // As a number, as the contract says: it has few enough digits for a number to hold it exactly.
        amount: amount === undefined ? undefined : Number(amount),
        status,
        id: isCreate ? undefined : toBodyId(row.recordId ?? '', longIds('orders')),
      },
    };
    if (!isCreate) return sendUpdate(account, row, options);
    return write(account, 'orders.create', options).then((report) => toSent(row, report, 'create'));
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
