/** Runs that a process works on. */
import type { Migration } from '../../database/migrate.ts';

export const attended: Migration = {
  name: '011-attended',
  sql: `
    -- When a process that works on the run last said so; long ago: no process does.
    alter table ledger.runs add attended_at timestamptz;
  `,
};
