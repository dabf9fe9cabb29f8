/** A console with syncs, two of them with a schedule. */
import { beforeEach } from 'vitest';
import type { NewRun } from '../../src/engine/ledger/runs.ts';
import { aRun } from '../engine/ledger/fresh-ledger.ts';
import { freshConsole, SETTINGS } from './open-console.ts';

/** The longest name that the settings allow. */
export const LONG = 'weekly__'.repeat(8);

export const SYNCS = `${SETTINGS}
syncs:
  nightly: { type: contacts, account: acme, schedule: { cron: "0 2 * * *", timezone: Europe/Berlin } }
  by-hand: { type: contacts, account: acme }
  ${LONG}: { type: contacts, account: acme, schedule: { every: 1h } }
`;

/** For the file that calls it. Each test begins without runs and schedules. */
export async function openSyncsConsole() {
  const { database, web } = await freshConsole({ text: SYNCS });
  beforeEach(() =>
    database.pool.query('truncate ledger.runs, ledger.schedules, ledger.paused_syncs, ledger.console_actions cascade'),
  );

  /** Returns the id of a new run. */
  async function begin(sync: string, more: Partial<NewRun> = {}): Promise<string> {
    const run = { sync, account: 'acme', resource: sync, phase: 'import-customers', ...more };
    return (await aRun(database, run)).id;
  }

  return { database, web, begin };
}
