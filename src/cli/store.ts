/**
 * The database that the settings name, brought to the present: all that is needed to look at runs or to administer the
 * service. Kept apart from wire.ts, whose queue and client take longer to load than such a command to run.
 */
import type { Logger } from 'pino';
import { migrate } from '../database/migrate.ts';
import { type Database, openDatabase } from '../database/open.ts';
import { ledgerMigrations } from '../engine/ledger/migrations.ts';
import { migrateService } from '../service/store/migrations.ts';
import type { Settings } from '../settings/settings.ts';

export interface StoreOptions {
  readonly settings: Settings;
  readonly dataDir: string;
  readonly log: Logger;
}

const CONNECTIONS = 12;

/** With the ledger's tables. */
export function openLedger(options: StoreOptions): Promise<Database> {
  return openStore(options, (database) => migrate(database.pool, 'ledger', ledgerMigrations));
}

/** With the service's tables. */
export function openServiceStore(options: StoreOptions): Promise<Database> {
  return openStore(options, (database) => migrateService(database.pool));
}

async function openStore(
  { settings, dataDir, log }: StoreOptions,
  prepare: (database: Database) => Promise<void>,
): Promise<Database> {
  const url = settings.database.url?.reveal() ?? 'embedded';
  const database = await openDatabase({ url, dataDir, log, maxConnections: CONNECTIONS });
  try {
    await prepare(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
