/** What a long-running process does: its roles, and starting them in one workspace. */
import type { Logger } from 'pino';
import { plural } from '../../base/counts.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { runningRuns } from '../../engine/ledger/runs.ts';
import { strandedDeliveries, strandedWords } from '../../operator/deliveries.ts';
import { scheduleWords } from '../../operator/schedule-words.ts';
import { isLoopback, type ListenAddress } from '../../settings/fields.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Ready, Role } from '../workspace-types.ts';
import type { Workspace } from './open-workspace.ts';

export const ROLES = ['worker', 'scheduler', 'console', 'service'] as const satisfies readonly Role[];

export const DEFAULT_PORT = 4100;

export interface RoleOptions {
  /** Port of the role service. */
  readonly port: number;
  readonly listen: string;
  /** Default: `health.listen` of the settings. */
  readonly health?: ListenAddress | undefined;
  /** Whether the caller named the roles; otherwise the console is left out if its port is in use. Default: true. */
  readonly isChosen?: boolean;
  readonly log: Logger;
  readonly say: (line: string) => void;
}

/** Worker and scheduler, and also the service if an account uses the embedded one. */
export function defaultRoles({ accounts }: Settings): readonly Role[] {
  const usesEmbedded = Object.values(accounts).some(({ url }) => url === undefined);
  return usesEmbedded ? ['worker', 'scheduler', 'service'] : ['worker', 'scheduler'];
}

/** Starts the service first, so that a worker in the same process uses it. */
export async function startRoles(
  workspace: Workspace,
  roles: ReadonlySet<Role>,
  { port, listen, health = workspace.settings.health, isChosen = true, log, say }: RoleOptions,
): Promise<Ready> {
  say(`Working on ${workspace.database.describe}.`);
  workspace.database.keepRunning?.();
  const ready: Ready = {};
  let isStarted = false;
  if (health) {
    ready.healthUrl = (await workspace.serveHealth(health, () => isStarted)).url;
    say(`health: ${ready.healthUrl}/healthz, /readyz and /metrics`);
  }
  if (roles.has('service')) {
    warnBeyondLoopback(log, listen);
    ready.url = (await workspace.service.listen({ host: listen, port })).url;
    say(`service: ${ready.url} (documentation: ${ready.url}/docs)`);
  }
  if (roles.has('console')) {
    ready.consoleUrl = await startConsole(workspace, { isChosen, log });
    if (ready.consoleUrl)
      say(`console: ${ready.consoleUrl} (outside systems call POST ${ready.consoleUrl}/hooks/TARGET)`);
  }
  if (roles.has('scheduler')) {
    const scheduled = Object.values(workspace.settings.syncs).filter(({ schedule }) => schedule !== undefined);
    await workspace.keepSchedules();
    ready.schedules = scheduled.length;
    if (scheduled.length === 0) say('scheduler: no sync has a schedule');
    for (const { name, schedule } of scheduled) if (schedule) say(`scheduler: ${name} ${scheduleWords(schedule)}`);
  }
  if (roles.has('scheduler') || roles.has('worker')) workspace.startDueSyncs();
  if (roles.has('worker')) {
    ready.unfinished = (await runningRuns(workspace.database.pool)).length;
    await workspace.work();
    await workspace.keepAuditing();
    workspace.watchServices();
    workspace.keepTryingKeys();
    workspace.keepPruning();
    await deliverAndAlert(workspace, log);
    say(`worker: ready, ${plural(ready.unfinished, 'unfinished run')}`);
  }
  isStarted = true;
  return ready;
}

async function deliverAndAlert(workspace: Workspace, log: Logger): Promise<void> {
  await workspace.deliver(Object.keys(workspace.settings.targets));
  await workspace.alert();
  for (const counts of await strandedDeliveries(workspace.database.pool, workspace.settings))
    log.warn({ target: counts.target }, `target not in the settings: ${strandedWords(counts)}`);
}

/** A role that no one chose must not stop the others: a second process on this machine has no console. */
async function startConsole(
  workspace: Workspace,
  { isChosen, log }: { readonly isChosen: boolean; readonly log: Logger },
): Promise<string | undefined> {
  try {
    return (await workspace.serveConsole()).url;
  } catch (error) {
    if (isChosen || codeOf(error) !== 'CONSOLE_PORT_IN_USE') throw error;
    log.warn(`no console in this process: ${messageOf(error)}`);
    return undefined;
  }
}

/** Takes over settings that were read again, in a process with these roles, and logs what has changed. */
export async function takeOverSettings(
  workspace: Workspace,
  roles: ReadonlySet<Role>,
  settings: Settings,
  log: Logger,
): Promise<void> {
  const { accounts, syncs, targets, alerts, needRestart } = await workspace.takeOver(settings);
  if (roles.has('scheduler')) await workspace.keepSchedules();
  if (roles.has('worker')) {
    workspace.watchServices();
    await deliverAndAlert(workspace, log);
  }
  for (const warning of settings.warnings) log.warn(warning);
  const changes = Object.entries({ accounts, syncs, targets, alerts }).flatMap(([section, kinds]) =>
    Object.entries(kinds).flatMap(([kind, names]) =>
      names.length > 0 ? [`${section} ${kind}: ${names.join(', ')}`] : [],
    ),
  );
  log.info(`settings read again: ${changes.join('; ') || 'no account, sync, target or alert channel has changed'}`);
  if (needRestart.length > 0)
    log.warn(`restart this process to use the changed settings under ${needRestart.join(', ')}`);
}

/** Warns if other machines can reach the service. */
export function warnBeyondLoopback(log: Logger, host: string): void {
  if (isLoopback(host)) return;
  log.warn(
    `--listen ${host}: other machines can reach the service, and API keys and records are sent without TLS. Put a proxy with TLS in front of it, or listen on 127.0.0.1`,
  );
}
