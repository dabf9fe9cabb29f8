/** Reads a list again, whole, to check rows of earlier runs that were sent again after their outcome was unknown. */
import { z } from 'zod';
import { readCustomers } from '../src/customers/read-customers.ts';
import { nextPass } from '../src/engine/ledger/records.ts';
import { readOrders } from '../src/orders/read-orders.ts';
import { exclusively } from '../src/worker/exclusive.ts';
import { defineJob } from '../src/worker/job.ts';

export const auditList = defineJob({
  name: 'audit-list',
  summary: 'checks rows of earlier runs that were sent again',
  options: z.object({ resource: z.enum(['customers', 'orders']) }),
  waitsInPlace: true,
  run: (context) =>
    exclusively(context, async (exclusive) => {
      const read = { customers: readCustomers, orders: readOrders }[context.options.resource];
      await read(context, exclusive, await nextPass(context.pool, context.run.id));
      return { status: 'finished' };
    }),
});
