/** What a load of orders can be told, as its run keeps it. */
import { z } from 'zod';

export const ordersOptions = z.object({
  /** An order that is there already: left as it is, brought in line where it differs, or its row rejected. */
  existing: z.enum(['skip', 'update', 'fail']),
  /** Customers that are missing are created first; else their rows are rejected. */
  createCustomers: z.boolean(),
  /** Stops before the first write, for a person to say go; `resumeRun` goes on. */
  confirm: z.boolean(),
});

export type OrdersOptions = z.infer<typeof ordersOptions>;

/** The code of the error that a load is paused with until a person has said go. */
export const AWAITS_CONFIRMATION = 'AWAITS_CONFIRMATION';
