/** Notices that another process has updated Lockstep, while this one works with the earlier version. */

import { LockstepError } from '../../base/errors.ts';
import { pause } from '../../base/pause.ts';
import { migrationsOf, refuseLater } from '../../storage/migrate.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { allMigrations } from './all-migrations.ts';

const LOOK_MS = 2_000;

/** Resolves with SCHEMA_NEWER once a later version has migrated any table, or with undefined once the signal aborts. */
export async function laterVersion(db: Queryable, signal: AbortSignal): Promise<LockstepError | undefined> {
  const rooms = await allMigrations();
  while (!signal.aborted) {
    try {
      for (const [room, known] of Object.entries(rooms)) refuseLater(room, await migrationsOf(db, room), known);
    } catch (error) {
      if (error instanceof LockstepError) return error;
      // The database is away: all other parts of the process say so.
    }
    await pause(LOOK_MS, signal);
  }
  return undefined;
}
