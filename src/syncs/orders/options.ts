/** The options of a load, as its run keeps them. */
import { z } from 'zod';
import type { Run } from '../../engine/ledger/runs.ts';
import { approvalOptions } from '../approval.ts';

export const ordersOptions = z.object({
  /** What to do with an existing order: leave it unchanged, update it if it differs, or reject its row. */
  existing: z.enum(['skip', 'update', 'fail']),
  /** Whether to create missing customers first; otherwise their rows are rejected. */
  createCustomers: z.boolean(),
  /** Pauses before the first write until a person approves; `approveRun` resumes the load. */
  confirm: z.boolean(),
  ...approvalOptions.shape,
});

export type OrdersOptions = z.infer<typeof ordersOptions>;

/**
 * The same file is the same load, whatever its options are. Returns the options that are asked for now and were not asked for
 * then, as on the command line. Only a salted load (`--again`) applies them.
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
