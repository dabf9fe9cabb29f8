/** Starts a run of a sync as the settings describe it. */
import { catalog } from '../../../jobs/catalog.ts';
import type { Lane } from '../../client/budget/budget.ts';
import type { Accounts } from '../../engine/account/accounts.ts';
import { type AppliedPlan, bindToPlan } from '../../engine/ledger/approval.ts';
import { startFailedAgain } from '../../engine/ledger/run-status.ts';
import { startRun } from '../../engine/ledger/runs.ts';
import { isBound, scopeNamed } from '../../engine/ledger/scopes/scopes.ts';
import { type Settings, type SyncSettings, syncNamed } from '../../settings/settings.ts';
import type { Database } from '../../storage/open.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';

export interface StartHow {
  readonly lane: Lane;
  readonly dryRun: boolean;
  /** For a sync of tasks: reads the items of its targets back, even if its settings do not enable that. */
  readonly reconcile?: boolean;
  /** For a dry run of contacts: stores what it would write, for a plan file. */
  readonly savePlan?: boolean;
  /** For a sync of contacts: the plan that the run applies. */
  readonly plan?: AppliedPlan;
}

/** The sync, and a transaction that its start is a part of; by default it has its own. */
export type StartArguments = readonly [name: string, how: StartHow, within?: Queryable];

export async function startSyncRun(
  { database, settings, accounts }: { database: Database; settings: Settings; accounts: Accounts },
  ...[name, how, within]: StartArguments
) {
  const { reconcile = false, savePlan = false, plan, lane, dryRun } = how;
  const sync = syncNamed(settings, name);
  // An account that was never opened has no scope yet. If it cannot be opened here, the run's worker reports why.
  if (!(await isBound(database.pool, sync.account))) await accounts.open(sync.account).catch(() => undefined);
  const type = catalog.syncTypes[sync.type];
  const scope = await scopeNamed(database.pool, sync.account);
  const start = async (db: Queryable) => {
    const options = {
      ...optionsOf(sync, settings, reconcile),
      ...(savePlan && { savePlan }),
      ...(plan && { plan: plan.id }),
    };
    if (sync.type === 'orders' && !dryRun) {
      const run = await startFailedAgain(db, { sync: name, scope, options });
      if (run) return { status: 'started' as const, run };
    }
    const begun = await startRun(db, {
      sync: name,
      type: sync.type,
      account: sync.account,
      scope,
      resource: type.resource ?? `sync:${name}`,
      options,
      phase: type.firstJob,
      lane,
      dryRun,
    });
    if (plan && begun.status === 'started') await bindToPlan(db, begun.run.id, plan);
    return begun;
  };
  return within ? start(within) : inTransaction(database.pool, start);
}

/** The options of a sync, and what its job needs from other parts of the settings. */
function optionsOf(sync: SyncSettings, { presets }: Settings, reconcile: boolean): Readonly<Record<string, unknown>> {
  switch (sync.type) {
    case 'tasks':
      return { ...sync.options, targets: sync.targets, ...(reconcile && { reconcile }) };
    case 'orders':
      return { ...sync.options, presets };
    case 'contacts':
      return sync.options;
    default:
      return sync satisfies never;
  }
}
