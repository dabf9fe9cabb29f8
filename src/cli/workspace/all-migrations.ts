/** The migrations of every room that has tables; a room is also the name of its schema. */
import { budgetMigrations } from '../../client/budget/postgres-store.ts';
import { ledgerMigrations } from '../../engine/ledger/migrations.ts';
import { serviceMigrations } from '../../service/store/migrations.ts';
import type { Migration } from '../../storage/migrate.ts';

export async function allMigrations(): Promise<Readonly<Record<string, readonly Migration[]>>> {
  const [ledger, budget, service] = await Promise.all([ledgerMigrations(), budgetMigrations(), serviceMigrations()]);
  return { ledger, budget, service };
}
