/** The settings of a target that is a table in Postgres. */
import { z } from 'zod';
import { duration } from './durations.ts';
import { flag, secret } from './fields.ts';
import { count } from './rate.ts';

/** Postgres silently cuts off longer names, so two names could mean the same table. */
const MAX_NAME_BYTES = 63;

const table = z
  .string()
  .regex(/^[^.\p{Cc}]+(\.[^.\p{Cc}]+)?$/u, 'expected the name of a table, such as public.lockstep_tasks')
  .refine((name) => name.split('.').every((part) => Buffer.byteLength(part) <= MAX_NAME_BYTES), {
    error: `a name in Postgres has at most ${MAX_NAME_BYTES} bytes`,
  });

export const postgres = z.strictObject({
  type: z.literal('postgres').describe('A table in Postgres with one row per task, or per version of a task.'),
  url: secret.describe('Address of the database: postgres://user:password@host:5432/database.'),
  table: table
    .prefault('public.lockstep_tasks')
    .describe(
      'Name of the table with its schema, in the same case as in Postgres; without a schema it is in public. Default: public.lockstep_tasks.',
    ),
  history: flag.describe('Write one row per version of a task instead of one per task. Default: false.'),
  createTable: flag.describe('Create the table if it is missing. Default: false.'),
  timeout: duration({ minMs: 10, maxMs: 300_000 })
    .prefault('15s')
    .describe('Timeout for connecting and for each statement. Default: 15s.'),
  concurrency: count.max(100).prefault(4).describe('Maximum connections per process. Default: 4.'),
});
