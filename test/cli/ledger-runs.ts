/** Runs in a ledger, and the command line that shows them. */
import { afterAll } from 'vitest';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import type { Verdict } from '../../src/engine/ledger/rows.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import type { NewRun } from '../../src/engine/ledger/runs.ts';
import { aRun } from '../engine/ledger/fresh-ledger.ts';
import { freshDatabase } from '../support/database.ts';
import { command, databaseUrl, scratchFolders } from './command.ts';

const NIGHTLY = { sync: 'nightly-contacts', account: 'demo', phase: 'scan-contacts' };

/** For the file that calls it. */
export async function openLedgerRuns() {
  const folder = scratchFolders();
  const database = await freshDatabase();
  afterAll(() => database.close());
  const { pool } = database;
  const env = { DATABASE_URL: databaseUrl(database.connection) };

  /** A run with these rows, each given as `source_id verdict reason label`. */
  async function runWith(rows: readonly string[], end?: 'done' | 'failed', run: Partial<NewRun> = {}): Promise<string> {
    const { id } = await aRun(database, { ...NIGHTLY, ...run });
    for (const [n, row] of rows.entries()) {
      const [sourceId, verdict, reason, ...label] = row.split(' ');
      const settled = { verdict: verdict as Verdict, ...(reason !== undefined && { reason }) };
      await addRows(pool, id, [{ n, sourceId: sourceId ?? '', label: label.join(' '), ...settled }]);
    }
    if (end) await endRun(pool, id, end, end === 'failed' ? { code: 'SERVICE_AWAY', message: 'away' } : undefined);
    return id;
  }

  async function runs(...args: readonly string[]) {
    const cwd = await folder({ withSettings: true });
    return { cwd, ...(await command(['runs', ...args], { cwd, env })) };
  }

  return { database, env, folder, runWith, runs };
}
