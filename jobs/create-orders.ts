/** Sends what a load of orders decided: creates orders and, if the options say so, updates orders that differ. */
import { toBodyId } from '../src/client/call/dialect.ts';
import { knownLongIds } from '../src/engine/account/list-shapes.ts';
import { write } from '../src/engine/account/writes.ts';
import { defineJob, type JobContext } from '../src/engine/worker/job.ts';
import { type SendRow, writeOptions } from '../src/engine/worker/row-source.ts';
import { sendReady } from '../src/engine/worker/send-ready.ts';
import { toSent } from '../src/engine/worker/sent-row.ts';
import { ordersRunOptions } from '../src/syncs/orders/options.ts';
import { openUpdateMode, sendUpdate } from '../src/syncs/orders/send-update.ts';
import { createdId } from '../src/syncs/record-now.ts';

export const createOrders = defineJob({
  name: 'create-orders',
  options: ordersRunOptions,
  parallel: 2, // while one drains at the end of its slice, the other uses the budget
  run: async (context) => sendReady(context, await orderSender(context), 'settle-orders'),
});

/** How one row of a load is sent. */
async function orderSender(context: JobContext<unknown>): Promise<SendRow> {
  const { account, run, pool } = context;
  const updates = await openUpdateMode(pool, run, account.settleMs);
  const longIds = await knownLongIds(context);
  return async (row, how) => {
    const isCreate = row.action === 'create';
    const { order_id, description, amount, status } = row.fields;
    const options = {
      ...writeOptions(run.lane, row, how),
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
