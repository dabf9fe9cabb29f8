/** Notices that another process has updated Lockstep, while this one works with the earlier version. */
import { setTimeout as delay } from 'node:timers/promises';
import { LockstepError } from '../../base/errors.ts';
import { ledgerMigrations } from '../../engine/ledger/migrations.ts';
import { migrationsOf, refuseLater } from '../../storage/migrate.ts';
import type { Queryable } from '../../storage/queryable.ts';

const LOOK_MS = 1_000;

/** Resolves once a later version has migrated the ledger's tables, with SCHEMA_NEWER, or with undefined once the signal aborts. */
export async function laterVersion(db: Queryable, signal: AbortSignal): Promise<LockstepError | undefined> {
  const known = await ledgerMigrations();
  while (!signal.aborted) {
    try {
      refuseLater('ledger', await migrationsOf(db, 'ledger'), known);
    } catch (error) {
      if (error instanceof LockstepError) return error;
      // The database is away: all other parts of the process say so.
    }
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}
