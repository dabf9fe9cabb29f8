/** `lockstep apply FILE`: makes exactly the writes of a saved plan that are still as a person saw them. */
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { LockstepError, wrongUse } from '../../base/errors.ts';
import { type AppliedPlan, readPlanFile } from '../../engine/ledger/approval.ts';
import { runRemedy } from '../../engine/ledger/run-remedy.ts';
import { resumeRun } from '../../engine/ledger/run-status.ts';
import { type Run, readRun } from '../../engine/ledger/runs.ts';
import { syncNamed } from '../../settings/settings.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { beginPlannedLoad } from '../../syncs/orders/begin-load.ts';
import type { Command } from '../command.ts';
import { type ExitCode, FAILED } from '../errors.ts';
import { reportFinished, resultsOf } from '../orders/load.ts';
import { resultsDir } from '../orders/results-dir.ts';
import { type GivenPlan, readPlan } from '../plan-file.ts';
import type { Perform, Session } from '../session.ts';
import { thisPerson } from '../this-person.ts';
import { STOP_WORDS, workAndReport } from '../work-on-run.ts';
import type { Workspace } from '../workspace/open-workspace.ts';

interface ApplyOptions {
  readonly results?: string;
}

export function define(command: Command, perform: Perform): void {
  command
    .description(
      'Makes the writes of a plan that `lockstep run SYNC --plan FILE` or `lockstep orders load FILE --plan FILE` has saved, ' +
        'and no others. It reads the contacts and the records of the service again; a load keeps the rows that the plan was ' +
        'made from, whatever its file says now. A row whose contact or record has changed since is not written ' +
        '(PLAN_MOVED), nor is a row that is new (NOT_IN_PLAN). A plan that was changed is refused. The same command after a ' +
        'crash resumes; applied again, a plan writes nothing twice.',
    )
    .argument('<file>', 'a plan that --plan has saved')
    .option(
      '--results <dir>',
      'for a load of orders: write every line with its result to DIR, as `lockstep orders load` does',
    )
    .examples(`
  $ lockstep run nightly-contacts --plan plan.ndjson
  $ lockstep apply plan.ndjson
  $ lockstep orders load orders.csv --account acme --plan orders.plan
  $ lockstep apply orders.plan --results results/`)
    .action(perform(apply));
}

async function apply(session: Session, name: string, options: ApplyOptions): Promise<ExitCode> {
  const file = path.resolve(session.cwd, name);
  const results = options.results && (await resultsDir(session.cwd, options.results));
  const given = await readPlan(file);
  const signal = session.untilStopped(STOP_WORDS);
  const workspace = await session.openWorkspace();
  const { pool } = workspace.database;
  const planning = await planningRun(pool, file, given);
  await refuseChanges(session, workspace, planning);
  const plan = { id: planning.id, by: thisPerson() };
  const isLoad = planning.type === 'orders';
  const begun = isLoad
    ? await beginPlannedLoad(pool, planning, plan)
    : await workspace.startSync(planning.sync, { lane: planning.lane, dryRun: false, plan });
  const { run, status } = begun;
  if (status === 'finished') {
    session.out.say(`${run.title} was loaded before, as run ${run.id}: nothing is written.`);
    return reportFinished(session, workspace, run, { results }, signal);
  }
  await joinOrRefuse(session, pool, run, plan);
  const isOurs = status === 'new' || status === 'started';
  session.out.say(`${isOurs ? 'Started' : 'Resuming'} run ${run.id} of ${run.title}: it applies the plan in ${name}.`);
  return workAndReport(session, workspace, run, {
    signal,
    isOurs,
    ...(isLoad && { results: (ended: Run) => resultsOf(session, workspace, ended, results) }),
  });
}

/** The dry run that saved the plan. @throws LockstepError PLAN_UNKNOWN, PLAN_CHANGED */
async function planningRun(db: Queryable, file: string, { id, sha256 }: GivenPlan): Promise<Run> {
  const saved = await readPlanFile(db, id);
  if (!saved) {
    const message = `This ledger has not saved the plan ${file}: it is of another data directory, or too old. Save a new plan`;
    throw wrongUse(message, 'PLAN_UNKNOWN');
  }
  if (saved.sha256 !== sha256) {
    const message = `The plan ${file} is not the file that was saved: it was changed, or its dry run has saved another file since. Save a new plan`;
    throw wrongUse(message, 'PLAN_CHANGED');
  }
  return readRun(db, id);
}

const WITHOUT_EFFECT = ['rowsPerPage', 'approveAbove', 'approveAboveShare', 'savePlan'];

/** @throws LockstepError PLAN_ACCOUNT_DIFFERS, PLAN_SETTINGS_DIFFER: the plan was made under other settings */
async function refuseChanges(session: Session, { accounts }: Workspace, planning: Run): Promise<void> {
  const { account, sync: name, scope, type } = planning;
  if (type !== 'orders') {
    const sync = syncNamed(await session.settings(), name);
    const options: Readonly<Record<string, unknown>> = sync.options;
    const names = new Set([...Object.keys(options), ...Object.keys(planning.options)]);
    const differ = [...names].filter(
      (one) => !WITHOUT_EFFECT.includes(one) && !isDeepStrictEqual(options[one], planning.options[one]),
    );
    if (sync.type !== type) differ.push('type');
    if (sync.account !== account) differ.push('account');
    if (differ.length > 0) {
      const message = `The plan was made with other settings of sync "${name}": ${differ.join(', ')}. Save a new plan`;
      throw wrongUse(message, 'PLAN_SETTINGS_DIFFER');
    }
  }
  const { scope: now } = await accounts.open(account);
  if (now === scope) return;
  const message = `The plan was made for another tenant than account "${account}" is now. Save a new plan`;
  throw wrongUse(message, 'PLAN_ACCOUNT_DIFFERS');
}

/** Resumes an unfinished run of the same plan. @throws LockstepError RUN_IN_THE_WAY if it is another run */
async function joinOrRefuse({ hint }: Session, db: Queryable, run: Run, { id }: AppliedPlan): Promise<void> {
  if (run.options.plan !== id) {
    const { remedy, command } = runRemedy(run);
    const message = `Run ${run.id} of ${run.title} is unfinished, and writes the same ${run.resource}. ${remedy} (${hint(command)}), or end it (${hint(`runs cancel ${run.id}`)}). Then apply the plan`;
    throw new LockstepError('RUN_IN_THE_WAY', message, { exitCode: FAILED });
  }
  if (run.status === 'paused' || run.status === 'failed') await resumeRun(db, run.id);
}
