/** The database that every test database is copied from: copying tables takes a third of the time that migrating them takes. */
import pino from 'pino';
import { openPostgresStore } from '../../src/client/budget/postgres-store.ts';
import { ledgerMigrations } from '../../src/engine/ledger/migrations.ts';
import { openQueue } from '../../src/engine/worker/queue.ts';
import { migrateService } from '../../src/service/store/migrations.ts';
import type { EmbeddedPostgres } from '../../src/storage/embedded/embedded.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { makePool } from '../../src/storage/pool.ts';

export const TEMPLATE = 'template_of_tests';

/** Creates the tables of all rooms and of the queue. Nothing stays connected, or Postgres would refuse to copy it. */
export async function createTemplate(server: EmbeddedPostgres['connection']): Promise<void> {
  const admin = makePool(server);
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
  const database = { ...server, database: TEMPLATE };
  const queue = openQueue({ redis: undefined, database, log: pino({ level: 'silent' }) });
  await queue.limitDelays(); // any use creates its tables
  await queue.close();
  const pool = makePool(database);
  await migrate(pool, 'ledger', await ledgerMigrations());
  await migrateService(pool);
  await openPostgresStore({ pool });
  await pool.end();
}
