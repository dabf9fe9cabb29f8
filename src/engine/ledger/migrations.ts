/** The ledger's tables: the durable record of runs, rows, links and deliveries. Schema `ledger`; a migration is never changed. */
import type { Migration } from '../../database/migrate.ts';
import { runs } from './migrations/001-runs.ts';
import { suspensions } from './migrations/002-suspensions.ts';
import { orders } from './migrations/003-orders.ts';
import { tasks } from './migrations/004-tasks.ts';
import { quickUpdates } from './migrations/005-quick-updates.ts';
import { itemReports } from './migrations/006-item-reports.ts';
import { scopes } from './migrations/007-scopes.ts';
import { auditDebts } from './migrations/008-audit-debts.ts';
import { attended } from './migrations/011-attended.ts';
import { setClock } from './migrations/012-set-clock.ts';
import { writtenOnce } from './migrations/014-written-once.ts';
import { reads } from './migrations/016-reads.ts';
import { unchanged } from './migrations/017-unchanged.ts';
import { creations } from './migrations/018-creations.ts';

export const ledgerMigrations: readonly Migration[] = [
  runs,
  suspensions,
  orders,
  tasks,
  quickUpdates,
  itemReports,
  scopes,
  auditDebts,
  attended,
  setClock,
  writtenOnce,
  reads,
  unchanged,
  creations,
];
