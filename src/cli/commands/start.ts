/** `lockstep start`: the long-running process, or one of several that share the roles. */
import { InvalidArgumentError } from 'commander';
import { type ListenAddress, listenAddress } from '../../settings/fields.ts';
import { didYouMean, oneOf, quote } from '../../settings/message-parts.ts';
import type { Command } from '../command.ts';
import { logConsole, logEvents } from '../log.ts';
import type { Perform, Session } from '../session.ts';
import { aborted } from '../signals.ts';
import { laterVersion } from '../workspace/readiness.ts';
import { DEFAULT_PORT, defaultRoles, ROLES, startRoles, takeOverSettings } from '../workspace/roles.ts';
import type { Role } from '../workspace-types.ts';
import { commaSeparated, portNumber } from './arguments.ts';

interface StartOptions {
  readonly roles?: readonly Role[];
  readonly port: number;
  readonly listen: string;
  readonly health?: ListenAddress;
}

export function define(command: Command, perform: Perform): void {
  command
    .description(
      'Runs continuously until it is stopped. The role worker works on every unfinished run; scheduler plans the starts of ' +
        'syncs; service serves the Sales & Productivity API; console serves the web pages and accepts calls from outside systems, at the ' +
        'address console.listen of the settings. Worker and scheduler both start syncs that are due. Any number of processes, also on ' +
        'several machines, can share the work on one database (and Redis). On SIGHUP the process reads the settings again: new ' +
        'work uses the changed accounts, syncs, schedules, targets and alert channels; settings with a problem are refused. On SIGTERM it ' +
        'finishes the work in flight and exits with 0. It exits with 2 if a later version of Lockstep has changed the tables. If it is ' +
        'killed, nothing is lost. Without a terminal, it writes ' +
        'only a log, to stderr, one JSON object per line.',
    )
    .option(
      '--roles <roles>',
      `roles of this process, separated by commas: ${ROLES.join(', ')} (default: worker,scheduler,console, and service if an account uses the embedded one)`,
      readRoles,
    )
    .option('--port <port>', 'port of the role service', portNumber, DEFAULT_PORT)
    .option('--listen <host>', 'address of the role service', '127.0.0.1')
    .option(
      '--health <address>',
      'serve /healthz, /readyz and /metrics here, instead of health.listen of the settings',
      readAddress,
    )
    .examples(`
  $ lockstep start
  $ lockstep start --config production.yaml --roles worker --health 127.0.0.1:4041`)
    .action(perform(start));
}

function readRoles(text: string): readonly Role[] {
  return commaSeparated(text).map((word) => {
    const role = ROLES.find((one) => one === word);
    if (role) return role;
    throw new InvalidArgumentError(`No role ${quote(word)}${didYouMean(word, ROLES)} (expected ${oneOf(ROLES)}).`);
  });
}

function readAddress(text: string): ListenAddress {
  const parsed = listenAddress.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError('Expected an address and a port, such as 127.0.0.1:4040.');
}

async function start(session: Session, options: StartOptions): Promise<void> {
  const restoreConsole = logConsole(session.log);
  await run(session, options).finally(restoreConsole);
}

async function run(session: Session, options: StartOptions): Promise<void> {
  const settings = await session.settings();
  const roles = new Set<Role>(options.roles ?? [...defaultRoles(settings), 'console']);
  const isChosen = options.roles !== undefined;
  const { log, out } = session;
  logEvents(log);
  if (!out.isLive) out.useLog(log);
  const again = out.isLive ? 'Press Ctrl-C again to stop at once.' : 'A second signal stops it at once.';
  const signal = session.untilStopped(`Finishing work in flight, then stopping. ${again}`, out.say);
  const workspace = await session.openWorkspace();
  const { port, listen, health } = options;
  const ready = await startRoles(workspace, roles, { port, listen, health, isChosen, log, say: out.say });
  session.whenReloaded((read) => takeOverSettings(workspace, roles, read, log));
  if (out.isLive) out.say('Ctrl-C stops it.');
  out.result({ roles: [...roles], ...ready });
  const later = await Promise.race([aborted(signal), laterVersion(workspace.database.pool, signal)]);
  if (later) out.say('A later version of Lockstep has changed the tables. Finishing work in flight, then stopping.');
  await session.close();
  if (later) throw later;
  out.say('Stopped.');
}
