/** Sends what a load of orders decided: creates orders and, if the options say so, updates orders that differ. */

import { knownLongIds } from '../src/engine/account/list-shapes.ts';
import { defineJob } from '../src/engine/worker/job.ts';
import { sendReady } from '../src/engine/worker/send-ready.ts';
import { ordersOptions } from '../src/syncs/orders/options.ts';
import { orderSender } from '../src/syncs/orders/send.ts';
import { openUpdateMode } from '../src/syncs/orders/update-mode.ts';

export const createOrders = defineJob({
  name: 'create-orders',
  summary: 'creates orders, and updates orders that differ',
  options: ordersOptions,
  parallel: 2, // while one drains at the end of its slice, the other uses the budget
  run: async (context) => {
    const { account, run, pool } = context;
    const updates = await openUpdateMode(pool, run, account.settleMs);
    const sender = orderSender(account, run.lane, await knownLongIds(context), updates);
    return sendReady(context, sender, 'settle-orders');
  },
});
