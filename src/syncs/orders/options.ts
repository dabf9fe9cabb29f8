/** The options of a load, as its run keeps them. */
import { z } from 'zod';
import type { Run } from '../../engine/ledger/runs.ts';
import { ordersOptions as inSettings } from '../../settings/schema-sync.ts';
import { approvalOptions } from '../guards.ts';

export const ordersRunOptions = z.object({
  existing: inSettings.shape.existing,
  createCustomers: inSettings.shape.createCustomers,
  /** Pauses before the first write until a person approves; `approveRun` resumes the load. */
  confirm: z.boolean(),
  /** Why the lines of the file may not be orders: then a person has to approve the load. */
  doubt: z.string().optional(),
  ...approvalOptions.shape,
});

/** The options of a run that loads the files of a folder. */
export const watchOptions = z.object({
  ...inSettings.shape,
  /** The directory with the user's own presets, an absolute path. */
  presets: z.string().optional(),
});

export type OrdersOptions = z.infer<typeof ordersRunOptions>;

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
