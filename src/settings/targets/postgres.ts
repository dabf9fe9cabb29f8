/** The settings of a Postgres target. */
import { z } from 'zod';
import { duration } from '../durations.ts';
import { secret } from '../fields.ts';
import { count } from '../rate.ts';
import type { TargetOf } from './common.ts';

/** Postgres cuts off longer names without a word, so that two of them may come to mean one table. */
const MAX_NAME_BYTES = 63;

const table = z
  .string()
  .regex(/^[^.\p{Cc}]+(\.[^.\p{Cc}]+)?$/u, 'expected the name of a table, such as public.lockstep_tasks')
  .refine((name) => name.split('.').every((part) => Buffer.byteLength(part) <= MAX_NAME_BYTES), {
    error: `a name in Postgres has at most ${MAX_NAME_BYTES} bytes`,
  });

export const postgres = z.strictObject({
  type: z.literal('postgres').describe('A table of a Postgres, with one row a task.'),
  url: secret.describe('postgres://user:password@host:5432/database of the Postgres.'),
  table: table
    .prefault('public.lockstep_tasks')
    .describe(
      'Table with its schema, in the case that it has in Postgres; without a schema it is in public. Default: public.lockstep_tasks.',
    ),
  createTable: z.boolean().prefault(false).describe('Create the table where it is missing. Default: false.'),
  timeout: duration({ minMs: 10, maxMs: 300_000 })
    .prefault('15s')
    .describe('How long connecting may take, and how long a statement. Default: 15s.'),
  concurrency: count.max(100).prefault(4).describe('Connections of each process at most. Default: 4.'),
});

export type PostgresTarget = TargetOf<typeof postgres>;
