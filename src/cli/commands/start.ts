/** `lockstep start`: the long-running process, or one of several that share the roles. */
import { type Command, InvalidArgumentError } from 'commander';
import { runningRuns } from '../../engine/ledger/runs.ts';
import { formatDuration } from '../../settings/durations.ts';
import type { Schedule } from '../../settings/schedules.ts';
import type { Settings } from '../../settings/settings.ts';
import { didYouMean, oneOf, quote } from '../../settings/words.ts';
import type { Perform, Session } from '../session.ts';
import { aborted } from '../signals.ts';
import type { Workspace } from '../wire.ts';
import { formatCount } from '../words.ts';
import { commaSeparated, portNumber } from './arguments.ts';
import { DEFAULT_PORT, warnBeyondLoopback } from './service.ts';

const ROLES = ['worker', 'scheduler', 'console', 'service'] as const;
type Role = (typeof ROLES)[number];

interface StartOptions {
  readonly roles?: readonly Role[];
  readonly port: number;
  readonly listen: string;
}

export function addStart(program: Command, perform: Perform): void {
  program
    .command('start')
    .summary('carry runs on and start syncs on schedule, until stopped')
    .description(
      'Works until it is stopped. worker carries every unfinished run on; scheduler starts the syncs of the settings when ' +
        'they are due; service serves the Sales & Productivity API; console takes the calls of outside systems, at ' +
        'the address that console.listen of the settings says. Any number of processes may share the work, on one ' +
        'database (and Redis), also on several machines. SIGTERM finishes what is in flight and exits with 0; killed, ' +
        'it loses nothing.',
    )
    .option(
      '--roles <roles>',
      `what this process does, commas between them: ${ROLES.join(', ')} (default: worker,scheduler, and service where an account uses the embedded one)`,
      readRoles,
    )
    .option('--port <port>', 'port of the role service', portNumber, DEFAULT_PORT)
    .option('--listen <host>', 'address of the role service', '127.0.0.1')
    .addHelpText(
      'after',
      `
Examples:
  $ lockstep start
  $ lockstep start --config production.yaml --roles worker`,
    )
    .action(perform(start));
}

function readRoles(text: string): readonly Role[] {
  return commaSeparated(text).map((word) => {
    const role = ROLES.find((one) => one === word);
    if (role) return role;
    throw new InvalidArgumentError(`No role ${quote(word)}${didYouMean(word, ROLES)} (there is ${oneOf(ROLES)}).`);
  });
}

async function start(session: Session, options: StartOptions): Promise<void> {
  const settings = await session.settings();
  const roles = new Set(options.roles ?? defaultRoles(settings));
  const signal = session.untilStopped('Finishing what is in flight, then stopping; once more stops at once.');
  const workspace = await session.openWorkspace();
  const ready = await begin(session, workspace, roles, options);
  session.out.say('Ctrl-C stops it.');
  session.out.result({ roles: [...roles], ...ready });
  await aborted(signal);
  await session.close();
  session.out.say('Stopped.');
}

function defaultRoles({ accounts }: Settings): readonly Role[] {
  const usesEmbedded = Object.values(accounts).some(({ url }) => url === undefined);
  return usesEmbedded ? ['worker', 'scheduler', 'service'] : ['worker', 'scheduler'];
}

interface Ready {
  url?: string;
  consoleUrl?: string;
  unfinished?: number;
  schedules?: number;
}

/** The service first: a worker of the same process then uses it rather than one of its own. */
async function begin(
  { out, log }: Session,
  workspace: Workspace,
  roles: ReadonlySet<Role>,
  { port, listen }: StartOptions,
): Promise<Ready> {
  out.say(`Working on ${workspace.database.describe}.`);
  const ready: Ready = {};
  if (roles.has('service')) {
    warnBeyondLoopback(log, listen);
    ready.url = (await workspace.service.listen({ host: listen, port })).url;
    out.say(`service: ${ready.url} (documentation: ${ready.url}/docs)`);
  }
  if (roles.has('console')) {
    ready.consoleUrl = (await workspace.serveConsole()).url;
    out.say(`console: ${ready.consoleUrl} (calls of outside systems: POST ${ready.consoleUrl}/hooks/TARGET)`);
  }
  if (roles.has('scheduler')) {
    const scheduled = Object.values(workspace.settings.syncs).filter(({ schedule }) => schedule !== undefined);
    await workspace.keepSchedules();
    ready.schedules = scheduled.length;
    if (scheduled.length === 0) out.say('scheduler: no sync has a schedule');
    for (const { name, schedule } of scheduled) if (schedule) out.say(`scheduler: ${name} ${whenDue(schedule)}`);
  }
  if (roles.has('scheduler') || roles.has('worker')) workspace.startDueSyncs();
  if (roles.has('worker')) {
    ready.unfinished = (await runningRuns(workspace.database.pool)).length;
    await workspace.work();
    await workspace.keepAuditing();
    const targets = Object.keys(workspace.settings.targets);
    if (targets.length > 0) await workspace.deliver(targets);
    out.say(`worker: carries runs on, ${formatCount(ready.unfinished)} of them unfinished now`);
  }
  return ready;
}

function whenDue(schedule: Schedule): string {
  if (schedule.kind === 'every') return `every ${formatDuration(schedule.everyMs)}`;
  return `at ${schedule.cron} (${schedule.timezone})`;
}
