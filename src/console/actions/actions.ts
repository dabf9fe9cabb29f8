/** What people do through the console. Each action is allowed to operators only, and is kept with who did it and when. */
import { formatCount, plural } from '../../base/counts.ts';
import { codeOf } from '../../base/errors.ts';
import type { Lane } from '../../client/budget/budget.ts';
import { awaitsApproval } from '../../engine/ledger/approval.ts';
import { keepAction } from '../../engine/ledger/console/console-actions.ts';
import { type Run, readRun } from '../../engine/ledger/runs.ts';
import { pauseSync, unpauseSync } from '../../engine/ledger/schedules.ts';
import { scopeNamed } from '../../engine/ledger/scopes/scopes.ts';
import { probeSoon, resumeAccount, suspendByHand, suspensionOf } from '../../engine/ledger/scopes/suspensions.ts';
import { confirmSameTenant, declareOtherTenant, type IdentityNeeds } from '../../operator/account-identity.ts';
import { acknowledgeProblems, cancelRun, reopenRun, retryLoad } from '../../operator/run-actions.ts';
import { planOf, writesOf } from '../../operator/run-plan.ts';
import { accountNamed, syncNamed } from '../../settings/settings.ts';
import { requireOperator } from '../access/guard.ts';
import type { Person } from '../access/people.ts';

export interface ActionNeeds extends IdentityNeeds {
  /** Starts a run of a sync, or returns the unfinished run that blocks it. */
  readonly startSync: (
    name: string,
    how: { lane: Lane; dryRun: boolean },
  ) => Promise<{ readonly status: 'started' | 'busy'; readonly run: Run }>;
  /** Completes a command with the options of this process. */
  readonly hint: (command: string) => string;
}

/** What was done, in a sentence, and the run to look at next. */
export interface Done {
  readonly said: string;
  readonly run?: string;
  /** A code, if nothing was done. */
  readonly refused?: string;
  /** What it was about, if that is known only now. */
  readonly about?: string;
  /** What was done, if that is known only now. */
  readonly action?: string;
}

interface How {
  readonly reason?: string | undefined;
  /** Who does it. */
  readonly by: string;
  /** The name of the plan to approve, as it was seen; default: the plan of the moment. */
  readonly seen?: string | undefined;
  /** How many orders of the plan of a load to approve; default: all. */
  readonly first?: number | undefined;
  /** Whether a run is cancelled only if it awaits approval. */
  readonly declines?: boolean;
}

type Perform = (needs: ActionNeeds, about: string, how: How) => Promise<Done>;

export const RUN_ACTIONS = ['cancel', 'resume', 'retry', 'acknowledge'] as const;
export type RunAction = (typeof RUN_ACTIONS)[number];
/** What a page asks about before it is done. */
export const CONFIRMED_ACTIONS = ['cancel', 'retry', 'acknowledge'] as const satisfies readonly RunAction[];
export type ConfirmedAction = (typeof CONFIRMED_ACTIONS)[number];
export const SYNC_ACTIONS = ['run', 'dry-run', 'pause', 'resume'] as const;
export type SyncAction = (typeof SYNC_ACTIONS)[number];
export const ACCOUNT_ACTIONS = ['try-key', 'suspend', 'resume', 'rebind', 'fresh'] as const;
export type AccountAction = (typeof ACCOUNT_ACTIONS)[number];

const ON_RUNS: Readonly<Record<RunAction, Perform>> = {
  async cancel({ pool }, id, { by, declines }) {
    const run = await readRun(pool, id);
    await cancelRun(pool, run, by, declines);
    if (awaitsApproval(run))
      return { said: `Run ${id} is not approved: nothing more is sent.`, run: id, action: 'decline-run' };
    return { said: `Run ${id} is cancelled: nothing more is sent.`, run: id };
  },
  async resume({ pool, hint }, id, { by, seen, first }) {
    const run = await readRun(pool, id);
    if (!(await reopenRun(pool, run, { by, seen: seen ?? run.planId, first }, hint)))
      return { said: `Run ${id} is running already; nothing has changed.`, run: id, refused: 'RUNNING_ALREADY' };
    if (!awaitsApproval(run)) return { said: `Run ${id} was resumed.`, run: id };
    if (first === undefined) return { said: `Run ${id} was approved.`, run: id, action: 'approve-run' };
    const orders = first === 1 ? 'order' : `${formatCount(first)} orders`;
    const said = `Run ${id} was approved for the first ${orders}. It then waits for approval of the others.`;
    return { said, run: id, action: 'approve-first-orders' };
  },
  async retry(needs, id) {
    const { pool, hint } = needs;
    const run = await readRun(pool, id);
    const rows = await retryLoad(pool, run, hint);
    if (rows !== undefined) return { said: `Run ${id} was opened again to retry ${plural(rows, 'row')}.`, run: id };
    return start(needs, run.sync, run.dryRun);
  },
  async acknowledge({ pool, hint }, id, { by }) {
    await acknowledgeProblems(pool, await readRun(pool, id), by, hint);
    return { said: `Run ${id} is acknowledged: Home and alerts leave it out.`, run: id };
  },
};

const ON_SYNCS: Readonly<Record<SyncAction, Perform>> = {
  run: (needs, name) => start(needs, name, false),
  'dry-run': (needs, name) => start(needs, name, true),
  async pause({ pool, settings }, name, { reason }) {
    syncNamed(settings(), name);
    await pauseSync(pool, name, reason);
    return { said: `${name} is paused: no scheduler starts it.` };
  },
  async resume({ pool, settings }, name) {
    if (!(await unpauseSync(pool, name))) syncNamed(settings(), name); // one that left the settings may still be paused
    return { said: `${name} starts on schedule again.` };
  },
};

const ON_ACCOUNTS: Readonly<Record<AccountAction, Perform>> = {
  async 'try-key'({ pool, settings }, account) {
    accountNamed(settings(), account);
    const scope = await scopeNamed(pool, account);
    if ((await suspensionOf(pool, scope))?.code !== 'KEY_REFUSED')
      return { said: `The key of ${account} is not refused; nothing has changed.`, refused: 'NOT_REFUSED' };
    await probeSoon(pool, scope);
    return { said: `A worker tries the key of ${account} now. If the service accepts it, the account resumes.` };
  },
  async suspend({ pool, settings }, account, { by, reason }) {
    accountNamed(settings(), account);
    await suspendByHand(pool, await scopeNamed(pool, account), { by, reason });
    return { said: `${account} is suspended: its runs wait until someone resumes it.` };
  },
  async resume({ pool, settings }, account) {
    if (await resumeAccount(pool, await scopeNamed(pool, account)))
      return { said: `${account} is resumed: its runs continue.` };
    accountNamed(settings(), account); // one that left the settings may still be suspended
    return { said: `${account} was not suspended by a person; nothing has changed.`, refused: 'NOT_SUSPENDED' };
  },
  async rebind(needs, account, { by }) {
    const { pool, hint } = needs;
    const { tenant, address, paused, cancelled } = await confirmSameTenant(needs, account, by);
    for (const id of paused) await reopenRun(pool, await readRun(pool, id), { by }, hint);
    const runs =
      paused.length === 0 ? '' : ` ${plural(paused.length, 'paused run continues', 'paused runs continue')}.`;
    return { said: `${account} at ${address} is tenant ${tenant}.${runs}${cancelledWords(cancelled)}` };
  },
  async fresh(needs, account, { by }) {
    const { tenant, address, cancelled } = await declareOtherTenant(needs, account, by);
    const runs = cancelledWords(cancelled);
    return { said: `${account} at ${address} is another tenant, ${tenant}, without links and history.${runs}` };
  },
};

function cancelledWords(runs: readonly string[]): string {
  return runs.length === 0 ? '' : ` ${plural(runs.length, 'unfinished run')} of the earlier tenant cancelled.`;
}

async function start({ startSync }: ActionNeeds, name: string, dryRun: boolean): Promise<Done> {
  const { status, run } = await startSync(name, { lane: 'interactive', dryRun });
  if (status === 'busy') {
    const said = `Nothing was started: run ${run.id} of ${run.title} is unfinished.`;
    return { said, run: run.id, refused: 'RUN_IN_THE_WAY' };
  }
  return { said: `${dryRun ? 'A dry run' : 'A run'} of ${name} has begun: ${run.id}.`, run: run.id };
}

export interface Taking {
  readonly person: Person;
  readonly via: 'page' | 'api';
}

/** Who decides or approves, for the ledger. */
export function byWords({ person }: Taking): string {
  return `${person.name} in the console`;
}

/** How each action is kept: `cancel-run`, `try-key`. */
function acting<Action extends string>(
  on: Readonly<Record<Action, Perform>>,
  kind: string,
  named: readonly NoInfer<Action>[] = [],
) {
  /** @throws LockstepError of the action, CONSOLE_NOT_ALLOWED, SETTINGS_NAME_UNKNOWN */
  return (
    needs: ActionNeeds,
    taking: Taking,
    action: Action,
    about: string,
    how: Omit<How, 'by'> = {},
  ): Promise<Done> =>
    keeping(needs, taking, named.includes(action) ? action : `${action}-${kind}`, about, () =>
      on[action](needs, about, { ...how, by: byWords(taking) }),
    );
}

export const actOnRun = acting(ON_RUNS, 'run');
export const actOnSync = acting(ON_SYNCS, 'sync', ['run', 'dry-run']);
export const actOnAccount = acting(ON_ACCOUNTS, 'account', ['try-key']);

/** Approves a large load if `typed` is the number of orders that it writes. @throws as actOnRun */
export function approveTyped(
  needs: ActionNeeds,
  taking: Taking,
  id: string,
  { typed, seen }: Pick<How, 'seen'> & { readonly typed: string },
): Promise<Done> {
  return keeping(needs, taking, 'approve-run', id, async () => {
    const plan = await planOf(needs.pool, await readRun(needs.pool, id), needs.settings());
    if (typed.replaceAll(/\D/g, '') === String(writesOf(plan)))
      return ON_RUNS.resume(needs, id, { by: byWords(taking), seen });
    const said = `Nothing was approved: the number of orders to write is ${formatCount(writesOf(plan))}.`;
    return { said, refused: 'NUMBER_DIFFERS' };
  });
}

/** Does what only operators may do, and keeps it with who did it. @throws LockstepError CONSOLE_NOT_ALLOWED */
export async function keeping<Result extends Done>(
  { pool }: Pick<ActionNeeds, 'pool'>,
  { person, via }: Taking,
  action: string,
  about: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const keep = ({ refused, about: known = about, action: done = action }: Partial<Done>) =>
    keepAction(pool, { who: person.name, via, action: done, about: known, refused });
  const allowed = async () => {
    requireOperator(person);
    return work();
  };
  const done = await allowed().catch(async (error: unknown) => {
    await keep({ refused: codeOf(error) ?? 'UNEXPECTED' });
    throw error;
  });
  await keep(done); // if that fails, it was done all the same, so it is not kept as refused
  return done;
}
