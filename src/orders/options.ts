/** What a load of orders can be told, as its run keeps it. */
import { z } from 'zod';
import type { Run } from '../engine/ledger/runs.ts';

export const ordersOptions = z.object({
  /** An order that is there already: left as it is, brought in line where it differs, or its row rejected. */
  existing: z.enum(['skip', 'update', 'fail']),
  /** Customers that are missing are created first; else their rows are rejected. */
  createCustomers: z.boolean(),
  /** Stops before the first write, for a person to say go; `resumeRun` goes on. */
  confirm: z.boolean(),
});

export type OrdersOptions = z.infer<typeof ordersOptions>;

/**
 * The same file is the same load, whatever it is asked this time: what is asked now and was not then, as the command line
 * says it. Only a load that is salted (`--again`) does that.
 */
export function notDoneAsAsked(
  { options }: Pick<Run, 'options'>,
  { existing, createCustomers }: Pick<OrdersOptions, 'existing' | 'createCustomers'>,
): readonly string[] {
  return [
    ...(options.existing === existing ? [] : [`--existing ${existing}`]),
    ...(createCustomers && options.createCustomers !== true ? ['--create-customers'] : []),
  ];
}

/** The code of the error that a load is paused with until a person has said go. */
export const AWAITS_CONFIRMATION = 'AWAITS_CONFIRMATION';
