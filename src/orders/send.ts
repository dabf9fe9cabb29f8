/** How one row of a load is sent. */
import type { Lane } from '../budget/budget.ts';
import { type Kind, type LongIds, toBodyId } from '../client/dialect.ts';
import type { ClaimedRow } from '../engine/ledger/rows.ts';
import type { Account } from '../worker/accounts.ts';
import type { SendRow, SentRow } from '../worker/row-source.ts';
import { SENDER_PATIENCE_MS, sent, spent, toSent } from '../worker/sent.ts';
import { type WriteOptions, write } from '../worker/writes.ts';

/** `longIds`: how the service's lists write long ids. */
export function orderSender(account: Account, lane: Lane, longIds: (kind: Kind) => LongIds): SendRow {
  const bodyOf = (row: ClaimedRow) => ({
    ...contentOf(row),
    client_id: toBodyId(row.clientId ?? '', longIds('customers')),
  });
  return async (row, { dispatchBefore, stopWaiting }) => {
    const options = {
      lane,
      stopWaiting,
      dispatchBefore,
      maxWaitMs: SENDER_PATIENCE_MS,
      sends: row.sends,
      record: row.sourceId,
    };
    if (row.action === 'create')
      return toSent(row, await write(account, 'orders.create', { ...options, body: bodyOf(row) }), 'create');
    const id = toBodyId(row.recordId ?? '', longIds('orders'));
    return sendUpdate(account, row, { ...options, body: { ...bodyOf(row), id } });
  };
}

/** An update is read back like a create: what the service took may still not stand there. */
async function sendUpdate(account: Account, row: ClaimedRow, options: WriteOptions): Promise<SentRow> {
  const report = await write(account, 'orders.update', options);
  const { written } = report;
  if (written.status === 'refused' && written.httpStatus === 404) {
    const facts = { order: row.recordId, answer: written.message };
    const gone = { outcome: 'refused', verdict: 'review', reason: 'ORDER_GONE', facts } as const;
    return sent(report, { ...spent(row, 'update'), ...gone });
  }
  return toSent(row, report, 'update');
}

/** The amount goes as a number, as the contract has it: its digits are few enough for one to carry exactly. */
function contentOf({ fields }: ClaimedRow): Readonly<Record<string, unknown>> {
  const { amount } = fields;
  return { ...fields, ...(amount !== undefined && { amount: Number(amount) }) };
}
