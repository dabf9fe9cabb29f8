/** Reads a list again, whole, to check rows of earlier runs that were sent again after their outcome was unknown. */
import { z } from 'zod';
import { nextPass } from '../src/engine/ledger/match-index.ts';
import { endRun } from '../src/engine/ledger/run-status.ts';
import { exclusively } from '../src/engine/worker/exclusive.ts';
import { defineJob } from '../src/engine/worker/job.ts';
import { readCustomers } from '../src/syncs/customers/read-customers.ts';
import { readOrders } from '../src/syncs/orders/read-orders.ts';

export const auditList = defineJob({
  name: 'audit-list',
  options: z.object({ resource: z.enum(['customers', 'orders']) }),
  waitsInPlace: true,
  run: (context) =>
    exclusively(context, async (exclusive) => {
      const read = { customers: readCustomers, orders: readOrders }[context.options.resource];
      await read(context, exclusive, await nextPass(context.pool, context.run.id));
      await exclusive.transaction((db) => endRun(db, context.run.id, 'done'));
      return { status: 'finished' };
    }),
});
