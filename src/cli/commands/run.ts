/** `lockstep run SYNC`: runs a sync now, or joins the run of it that is unfinished, and follows it to its end. */
import { type Command, Option } from 'commander';
import type { Lane } from '../../budget/budget.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import { LockstepError } from '../../errors.ts';
import { syncNamed } from '../../settings/settings.ts';
import { carryAndReport, leaveToWorker, STOP_WORDS } from '../carry.ts';
import { type ExitCode, FAILED, wrongUse } from '../errors.ts';
import type { Perform, Session } from '../session.ts';
import type { Workspace } from '../wire.ts';

interface RunOptions {
  readonly dryRun?: boolean;
  readonly detach?: boolean;
  readonly lane?: Lane;
  readonly reconcile?: boolean;
}

export function addRun(program: Command, perform: Perform): void {
  program
    .command('run')
    .summary('run a configured sync now and follow it')
    .description(
      'Runs a sync of the settings now and follows it to its end. It brings its own worker, so nothing else has to be ' +
        'running, and works on this run only: other unfinished runs are left to a worker (lockstep start) and to ' +
        'lockstep runs resume. If an earlier run of the sync is unfinished, that one is joined and brought to its end ' +
        'instead; a dry run is always a run of its own, which only reads. Ctrl-C finishes the calls in flight and leaves ' +
        'the run so that the same command resumes it; a second Ctrl-C stops at once, which loses nothing either.',
    )
    .argument('<sync>', 'name of the sync in the settings')
    .option('--dry-run', 'read and decide everything, write nothing, and show what would be written')
    .option('--detach', 'start the run and return at once; a worker carries it on (lockstep start)')
    .option(
      '--reconcile',
      'of a sync of tasks: read all linked items of its targets back, and repair what has diverged',
    )
    .addOption(
      new Option('--lane <lane>', 'share of the rate budget: interactive goes before batch, which waits its turn')
        .choices(['interactive', 'batch'])
        .default(undefined, 'interactive on a terminal, else batch'),
    )
    .addHelpText(
      'after',
      `
Examples:
  $ lockstep run nightly-contacts
  $ lockstep run nightly-contacts --dry-run
  $ lockstep run task-mirror --reconcile
  $ lockstep run nightly-contacts --json | tail -1 | jq .counts`,
    )
    .action(perform(run));
}

async function run(session: Session, name: string, options: RunOptions): Promise<ExitCode> {
  const settings = await session.settings();
  const { account, job } = syncNamed(settings, name); // a misspelt name needs no database to be told
  const reconcile = options.reconcile === true;
  if (reconcile && job !== 'tasks') {
    throw wrongUse(
      `--reconcile reads the items of targets back, and sync "${name}" has none: it is of the type ${job}`,
    );
  }
  const signal = session.untilStopped(STOP_WORDS);
  const workspace = await session.openWorkspace();
  const isDetached = options.detach === true;
  // A secret that cannot be read is told here rather than by a worker; a detached run's worker may know more secrets.
  if (!isDetached) await workspace.accounts.open(account);
  const lane = options.lane ?? (session.out.isLive ? 'interactive' : 'batch');
  const begun = await startOrJoin(session, workspace, name, {
    lane,
    dryRun: options.dryRun === true,
    reconcile,
  });
  if (isDetached) return leaveToWorker(session, workspace, begun.run);
  return carryAndReport(session, workspace, begun.run, { signal, isOurs: begun.isOurs });
}

/** @throws LockstepError RUN_IN_THE_WAY where another sync writes the same records */
export async function startOrJoin(
  { out, hint }: Session,
  workspace: Workspace,
  name: string,
  how: { lane: Lane; dryRun: boolean; reconcile?: boolean },
): Promise<{ run: Run; isOurs: boolean }> {
  const begun = await workspace.startSync(name, how);
  if (begun.status === 'started') {
    out.say(`Started ${how.dryRun ? 'dry run' : 'run'} ${begun.run.id} of ${name}.`);
    return { run: begun.run, isOurs: true };
  }
  const { run } = begun;
  if (run.sync !== name) {
    const message =
      `Sync "${name}" waits for ${run.title}, which writes the same ${run.resource} of account "${run.account}" and is ` +
      `unfinished as ${run.id}. Look at it with: ${hint(`runs show ${run.id}`)}`;
    throw new LockstepError('RUN_IN_THE_WAY', message, { exitCode: FAILED });
  }
  out.say(`Run ${run.id} of ${name} is unfinished: joining it. (${hint(`runs cancel ${run.id}`)} ends it for good.)`);
  return { run, isOurs: false };
}
