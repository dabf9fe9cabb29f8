/** Audits: the debts that a read of a list pays, and the runs that read a list only for audits. */
import type pg from 'pg';
import type { Logger } from 'pino';
import { type Repeated, repeat } from '../../base/repeat.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { type AuditingRead, areAuditsDue, dueAudits, payDebts } from '../ledger/audit-debts.ts';
import { type Run, startRun } from '../ledger/runs.ts';
import type { Exclusive } from '../worker/exclusive.ts';
import type { JobContext } from '../worker/job.ts';

/**
 * Pays the debts that were due when the read began; pays none if a crash of the database lost the read. Dry runs pay
 * too, because they read the same facts.
 */
export async function payAudits(
  { pool, run, log }: JobContext<unknown>,
  exclusive: Exclusive,
  read: AuditingRead,
): Promise<void> {
  if (!(await areAuditsDue(pool, run, read))) return;
  const violations = await exclusive.transaction((db) => payDebts(db, run, read));
  for (const { run: of, row, reason, ids } of violations)
    log.warn({ run: of, row, reason, ids }, 'an audit did not find exactly one record for a row of an earlier run');
}

/**
 * Starts a run for each list of these accounts that has due audits, and returns these runs and the unfinished ones. Any
 * number of processes may call it: the ledger allows one unfinished run per list.
 */
export async function startDueAudits(
  db: Queryable,
  accounts: readonly string[],
  log?: Logger,
): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (const { account, scope, resource } of await dueAudits(db, accounts)) {
    const sync = `audit:${scope}:${resource}`;
    const begun = await startRun(db, {
      ...{ sync, type: 'audit', account, scope, resource: `audit:${resource}`, lane: 'batch', dryRun: false },
      ...{ phase: 'audit-list', title: `audit of ${resource}`, options: { resource } },
    });
    if (begun.status === 'started') log?.info({ sync, run: begun.run.id }, 'run started');
    runs.push(begun.run);
  }
  return runs;
}

const LOOK_MS = 1_000;

/** Starts audits when they are due, until closed; a runner executes them. */
export function keepAuditing(needs: {
  readonly pool: pg.Pool;
  readonly accounts: () => readonly string[];
  readonly attend: (run: Run) => Promise<void>;
  readonly log: Logger;
}): Repeated {
  const { pool, accounts, attend, log } = needs;
  const look = async () => {
    for (const run of await startDueAudits(pool, accounts(), log)) await attend(run);
  };
  const failed = (error: unknown) => log.warn({ err: error }, 'the due audits could not be started');
  return repeat(look, { pauseMs: () => LOOK_MS, failed });
}
