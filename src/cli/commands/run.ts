/** `lockstep run SYNC`: runs a sync now, or joins its unfinished run, and follows it to the end. */
import { LockstepError, wrongUse } from '../../base/errors.ts';
import { LANES, type Lane } from '../../client/budget/budget.ts';
import { AWAITS_CONFIRMATION, type Run } from '../../engine/ledger/runs.ts';
import { pausedSyncs } from '../../engine/ledger/schedules.ts';
import { hintsFor } from '../../operator/hints.ts';
import { reportRun } from '../../operator/run-report.ts';
import { pausedWords } from '../../operator/sync-list.ts';
import { syncNamed } from '../../settings/settings.ts';
import { askForApproval } from '../ask-approval.ts';
import type { Command } from '../command.ts';
import { type ExitCode, FAILED } from '../errors.ts';
import type { Replacing } from '../export-file.ts';
import { planPath, savedPlan } from '../plan-file.ts';
import { problemLines } from '../print/problem-lines.ts';
import type { Perform, Session } from '../session.ts';
import { leaveToWorker, STOP_WORDS, workAndReport } from '../work-on-run.ts';
import type { Workspace } from '../workspace/open-workspace.ts';
import type { StartHow } from '../workspace/start-sync.ts';

interface RunOptions extends Replacing {
  readonly dryRun?: boolean;
  readonly detach?: boolean;
  readonly lane?: Lane;
  readonly reconcile?: boolean;
  readonly plan?: string;
}

export function define(command: Command, perform: Perform): void {
  command
    .description(
      'Runs a sync of the settings now and follows it to the end. The command has its own worker, so no other process ' +
        'needs to run. It works on this run only: other unfinished runs are left to a worker (lockstep start) and to ' +
        'lockstep runs resume. If an earlier run of the sync is unfinished, the command joins and finishes that run ' +
        'instead; a dry run is always a new run, which only reads. Ctrl-C finishes the calls in flight and stops; the ' +
        'same command then resumes the run. A second Ctrl-C stops at once, and loses nothing either.',
    )
    .argument('<sync>', 'name of the sync in the settings')
    .option('--dry-run', 'read and decide everything, write nothing, and show what would be written')
    .option('--plan <file>', 'for a sync of contacts: a dry run that saves what it would write, for lockstep apply')
    .option('--force', 'replace the file of --plan if it exists')
    .option('--detach', 'start the run and return at once; a worker (lockstep start) works on it')
    .option(
      '--reconcile',
      'for a sync of tasks: read all linked items of its targets back, and repair items that have drifted',
    )
    .choice(
      '--lane <lane>',
      'share of the rate budget: interactive goes before batch; default: interactive on a terminal, otherwise batch',
      LANES,
    )
    .examples(`
  $ lockstep run nightly-contacts
  $ lockstep run nightly-contacts --dry-run
  $ lockstep run nightly-contacts --plan plan.ndjson
  $ lockstep run task-mirror --reconcile
  $ lockstep run nightly-contacts --json | tail -1 | jq .counts`)
    .action(perform(run));
}

async function run(session: Session, name: string, options: RunOptions): Promise<ExitCode> {
  const settings = await session.settings();
  const { account, type } = syncNamed(settings, name); // reports a misspelt name before a database is opened
  const reconcile = options.reconcile === true;
  if (reconcile && type !== 'tasks') {
    throw wrongUse(
      `--reconcile reads the items of targets back, but sync "${name}" is of type ${type} and has no targets`,
    );
  }
  if (options.plan !== undefined && type !== 'contacts') {
    throw wrongUse(`--plan is for syncs of contacts and for orders load, and sync "${name}" is of type ${type}`);
  }
  const planFile = await planPath(session.cwd, options);
  const signal = session.untilStopped(STOP_WORDS);
  const workspace = await session.openWorkspace();
  await tellPause(session, workspace, name);
  const isDetached = options.detach === true;
  // Reports an unreadable secret here rather than in a worker. The worker of a detached run may have more secrets.
  if (!isDetached) await workspace.accounts.open(account);
  const lane = options.lane ?? (session.out.isLive ? 'interactive' : 'batch');
  const begun = await startOrJoin(session, workspace, name, {
    lane,
    dryRun: options.dryRun === true || planFile !== undefined,
    savePlan: planFile !== undefined,
    reconcile,
  });
  if (isDetached) return leaveToWorker(session, workspace, begun.run);
  let isLeft = false;
  return workAndReport(session, workspace, begun.run, {
    signal,
    isOurs: begun.isOurs,
    told: () => (isLeft ? ['unknown'] : []),
    ...(planFile !== undefined && { results: (ended: Run) => savedPlan(session, workspace, ended, planFile) }),
    onPaused: async (paused) => {
      if (paused.errorCode !== AWAITS_CONFIRMATION || !session.canAsk) return 'leave';
      const { database, settings } = workspace;
      const report = await reportRun(database.pool, paused, settings);
      const samples = await problemLines(database.pool, report, hintsFor(session.hint, paused), ['unknown']);
      session.out.say('', paused.error ?? '', ...samples);
      const answer = await askForApproval(session, workspace, paused, signal);
      isLeft = answer === 'leave';
      return answer;
    },
  });
}

async function tellPause({ out, hint }: Session, { database }: Workspace, name: string): Promise<void> {
  const paused = (await pausedSyncs(database.pool)).get(name);
  if (!paused) return;
  out.say(
    `Sync ${name} is paused ${pausedWords(paused)}: no scheduler starts it. This run starts anyway. Resume the schedule with: ${hint(`syncs resume ${name}`)}`,
  );
}

/** @throws LockstepError RUN_IN_THE_WAY if another sync writes the same records */
export async function startOrJoin(
  { out, hint }: Session,
  workspace: Workspace,
  name: string,
  how: StartHow,
): Promise<{ run: Run; isOurs: boolean }> {
  const begun = await workspace.startSync(name, how);
  if (begun.status === 'started') {
    out.say(`Started ${how.dryRun ? 'dry run' : 'run'} ${begun.run.id} of ${name}.`);
    return { run: begun.run, isOurs: true };
  }
  const { run } = begun;
  if (run.sync !== name) {
    const message =
      `Sync "${name}" must wait for ${run.title}: its run ${run.id} is unfinished and writes the same ${run.resource} of ` +
      `account "${run.account}". See that run with: ${hint(`runs show ${run.id}`)}`;
    throw new LockstepError('RUN_IN_THE_WAY', message, { exitCode: FAILED });
  }
  out.say(`Run ${run.id} of ${name} is unfinished: joining it. (To end it for good: ${hint(`runs cancel ${run.id}`)})`);
  return { run, isOurs: false };
}
