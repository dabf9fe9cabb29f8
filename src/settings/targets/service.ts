/** The settings of a target that is another account of the service. */
import { z } from 'zod';
import { name } from '../fields.ts';
import { count } from '../rate.ts';
import type { TargetOf } from './common.ts';
import { columns, create } from './items.ts';

export const service = z.strictObject({
  type: z.literal('service').describe('Tasks of another account.'),
  account: name.describe('Name of the account whose tasks are marked; not one whose tasks are delivered here.'),
  create,
  columns,
  concurrency: count
    .max(1000)
    .prefault(100)
    .describe('Deliveries of each process at once; the budget of the account paces their calls. Default: 100.'),
});

export type ServiceTarget = TargetOf<typeof service>;
