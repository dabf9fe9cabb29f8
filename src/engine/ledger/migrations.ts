/** The ledger's tables: the durable record of runs, rows, links and deliveries. Schema `ledger`. */
import { type Migration, readMigrations } from '../../storage/migrate.ts';

export function ledgerMigrations(): Promise<readonly Migration[]> {
  return readMigrations(new URL('migrations/', import.meta.url));
}
