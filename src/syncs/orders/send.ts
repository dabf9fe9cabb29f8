/** How one row of a load is sent. */

import type { Lane } from '../../client/budget/budget.ts';
import { type LongIds, toBodyId } from '../../client/call/dialect.ts';
import type { Kind } from '../../contract/kinds.ts';
import type { Account } from '../../engine/account/account.ts';
import { write } from '../../engine/account/writes.ts';
import { type SendRow, writeOptions } from '../../engine/worker/row-source.ts';
import { toSent } from '../../engine/worker/sent-row.ts';
import { createdId } from '../created-id.ts';
import { sendUpdate } from './send-update.ts';
import type { UpdateMode } from './update-mode.ts';

/** `longIds`: how the service's lists write long ids; `updates`: what is known of its updates. */
export function orderSender(
  account: Account,
  lane: Lane,
  longIds: (kind: Kind) => LongIds,
  updates: UpdateMode,
): SendRow {
  return async (row, how) => {
    const isCreate = row.action === 'create';
    const { order_id, description, amount, status } = row.fields;
    const options = {
      ...writeOptions(lane, row, how),
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
    if (!isCreate) return sendUpdate(account, row, options, updates);
    const report = await write(account, 'orders.create', options);
    return toSent(row, report, 'create', createdId(account, 'orders', report));
  };
}
