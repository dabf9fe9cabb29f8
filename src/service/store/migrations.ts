/** The service’s tables, as SQL files beside this one. */
import type pg from 'pg';
import { type Migration, migrate, readMigrations } from '../../storage/migrate.ts';

export function serviceMigrations(): Promise<readonly Migration[]> {
  return readMigrations(new URL('migrations/', import.meta.url));
}

/** Creates or updates the service's tables; the service does not have to run. */
export async function migrateService(pool: pg.Pool): Promise<void> {
  await migrate(pool, 'service', await serviceMigrations());
}
