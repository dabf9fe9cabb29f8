/** A ledger whose problems are looked at, with a sync of contacts. */
import { afterAll, beforeEach } from 'vitest';
import type { Run } from '../../src/engine/ledger/runs.ts';
import { keyOf, type Problem } from '../../src/operator/alerts/problem.ts';
import { findProblems } from '../../src/operator/current-problems.ts';
import { aRun, freshLedger } from '../engine/ledger/fresh-ledger.ts';
import { settingsOf } from '../settings/problems-in.ts';

export const SETTINGS = settingsOf(`accounts: { acme: {} }
syncs: { nightly: { type: contacts, account: acme } }
targets:
  hook: { type: webhook, url: https://hook.example, secret: { env: S } }
  mail: { type: webhook, url: https://mail.example, secret: { env: S } }`);
const NIGHTLY = { sync: 'nightly', account: 'acme', scope: 'acme' };

/** For the file that calls it. Each test begins without problems. */
export async function openProblems() {
  const database = await freshLedger();
  beforeEach(async () => {
    await database.pool.query(`truncate ledger.runs, ledger.inputs, ledger.verdicts, ledger.audit_debts, ledger.schedules,
      ledger.paused_syncs, ledger.suspensions, ledger.target_states, ledger.service_states, ledger.deliveries, ledger.alerts, ledger.decisions cascade`);
  });
  afterAll(() => database.close());

  const problems = () => findProblems(database.pool, SETTINGS);
  async function one(): Promise<Problem> {
    const [problem, ...more] = await problems();
    if (problem === undefined || more.length > 0) throw new Error(`expected one problem, found ${1 + more.length}`);
    return problem;
  }

  return {
    database,
    problems,
    one,
    keys: async () => (await problems()).map(keyOf),
    begin: (more: Partial<Run> = {}) => aRun(database, { ...NIGHTLY, ...more }),
  };
}
