/** What it costs to delete the rows of old runs by age, and to reuse their space. The ledger is filled with a year of runs. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ledgerMigrations } from '../src/engine/ledger/migrations.ts';
import { type PrunedLedger, pruneLedger } from '../src/engine/ledger/retention/prune.ts';
import { migrate } from '../src/storage/migrate.ts';
import { openDatabase } from '../src/storage/open.ts';
import { type Cost, measureCost } from './cost.ts';
import { fillLedger } from './ledger-large-fill.ts';
import type { Row } from './table.ts';

const ROWS = 3_000_000;
const KEPT_MS = 30 * 24 * 3_600_000;

export async function retention(): Promise<readonly Row[]> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const { pool, close } = await openDatabase({ url: 'embedded', dataDir: dir });
  const measured = async <T>(work: () => Promise<T>): Promise<[done: T, cost: Cost, ms: number]> => {
    const costOf = await measureCost(pool);
    const startedAt = performance.now();
    const done = await work();
    return [done, await costOf(), performance.now() - startedAt];
  };
  try {
    await migrate(pool, 'ledger', await ledgerMigrations());
    await fillLedger(pool, ROWS);
    const filled = await pool.query<{ count: string }>('select count(*) from ledger.inputs');
    const ages = { rowsMs: KEPT_MS, runsMs: undefined };
    const [pruned, ...deleting] = await measured(() => pruneLedger(pool, ages));
    const [, ...vacuum] = await measured(() => pool.query('vacuum analyze'));
    return [
      costRow(`${pruned.rows} of ${filled.rows[0]?.count} rows deleted`, pruned, deleting),
      costRow('their space reused', pruned, vacuum),
    ];
  } finally {
    await close();
    await rm(dir, { recursive: true, force: true });
  }
}

function costRow(what: string, { rows }: PrunedLedger, [cost, ms]: [cost: Cost, ms: number]): Row {
  const cpuUs = (1_000 * (cost.nodeCpuMs + cost.postgresCpuMs)) / rows;
  return {
    what,
    wanted: '-',
    got: `${(ms / 1_000).toFixed(1)} s; a row: ${cpuUs.toFixed(0)} µs of CPU, ${(cost.walBytes / rows).toFixed(0)} bytes of WAL`,
    isMet: true,
  };
}
