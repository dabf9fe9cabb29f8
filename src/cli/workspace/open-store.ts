/**
 * Opens the database of the settings and migrates it: all that a command needs to show runs or to administer the service.
 * Separate from open-workspace.ts, because loading its queue and client takes longer than such a command.
 */
import type { Logger } from 'pino';
import type { InSpan } from '../../base/trace-span.ts';
import { ledgerMigrations } from '../../engine/ledger/migrations.ts';
import { migrateService } from '../../service/store/migrations.ts';
import type { Settings } from '../../settings/settings.ts';
import { migrate } from '../../storage/migrate.ts';
import { type Database, openDatabase } from '../../storage/open.ts';

export interface StoreOptions {
  readonly settings: Settings;
  readonly dataDir: string;
  readonly log: Logger;
  /** Each query is done in a span. */
  readonly inSpan?: InSpan | undefined;
}

/** Beside one for each job at work. */
const MORE_CONNECTIONS = 4;

/** Migrates the ledger's tables. */
export function openLedger(options: StoreOptions): Promise<Database> {
  return openStore(options, async (database) => migrate(database.pool, 'ledger', await ledgerMigrations()));
}

/** Migrates the service's tables. */
export function openServiceStore(options: StoreOptions): Promise<Database> {
  return openStore(options, (database) => migrateService(database.pool));
}

async function openStore(
  { settings, dataDir, log, inSpan }: StoreOptions,
  prepare: (database: Database) => Promise<void>,
): Promise<Database> {
  const url = settings.database.url?.reveal() ?? 'embedded';
  const maxConnections = settings.worker.concurrency + MORE_CONNECTIONS;
  const database = await openDatabase({ url, dataDir, log, maxConnections, inSpan });
  try {
    await prepare(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
