/** The ledger's tables: the durable record of runs, rows, links and deliveries. Schema `ledger`; a migration is never changed. */
import { readMigrations } from '../../database/migrate.ts';

export const ledgerMigrations = await readMigrations(new URL('migrations/', import.meta.url));
