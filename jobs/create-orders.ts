/** Sends what a load of orders decided: creates orders, and updates those that differ where that is wished. */
import { openRows } from '../src/ledger/rows.ts';
import { markTrouble } from '../src/ledger/runs.ts';
import { ordersOptions } from '../src/orders/options.ts';
import { orderSender } from '../src/orders/send.ts';
import { defineJob } from '../src/worker/job.ts';
import { pump } from '../src/worker/pump.ts';

export const createOrders = defineJob({
  name: 'create-orders',
  summary: 'creates orders, and updates those that differ',
  options: ordersOptions,
  parallel: 2, // one drains at the end of its slice while the other keeps the budget in use
  async run(context) {
    const { pool, run, account } = context;
    const sendRow = orderSender(account, run.lane);
    let isAnswering = false;
    const pumped = await pump(context, async (row, how) => {
      const sent = await sendRow(row, how);
      isAnswering ||= sent.result.state === 'acked' || sent.result.state === 'settled';
      return sent;
    });
    if (pumped.status === 'stopped') {
      if (isAnswering) await markTrouble(pool, run.id, false); // a service that comes and goes is not one that stays away
      throw pumped.cause;
    }
    if (pumped.status === 'more') return { status: 'again', inMs: 0 };
    const open = await openRows(pool, run.id);
    return open.ready + open.intent === 0 ? { status: 'next', job: 'settle-orders' } : { status: 'idle' };
  },
});
