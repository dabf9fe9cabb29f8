/** The service's tables, as SQL files beside this one; a migration is never changed. */
import type pg from 'pg';
import { migrate, readMigrations } from '../../storage/migrate.ts';

/** Creates or updates the service's tables; the service does not have to run. */
export async function migrateService(pool: pg.Pool): Promise<void> {
  await migrate(pool, 'service', await readMigrations(new URL('migrations/', import.meta.url)));
}
