/** Sends what a load of orders decided: creates orders, and updates those that differ where that is wished. */
import { ordersOptions } from '../src/orders/options.ts';
import { orderSender } from '../src/orders/send.ts';
import { defineJob } from '../src/worker/job.ts';
import { sendReady } from '../src/worker/send-ready.ts';
import { knownLongIds } from '../src/worker/shapes.ts';

export const createOrders = defineJob({
  name: 'create-orders',
  summary: 'creates orders, and updates those that differ',
  options: ordersOptions,
  parallel: 2, // one drains at the end of its slice while the other keeps the budget in use
  run: async (context) => {
    const { account, run } = context;
    return sendReady(context, orderSender(account, run.lane, await knownLongIds(context)), 'settle-orders');
  },
});
