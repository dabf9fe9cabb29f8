/** What a long-running process does: its roles, and starting them in one workspace. */
import type { Logger } from 'pino';
import { runningRuns } from '../engine/ledger/runs.ts';
import { formatDuration } from '../settings/durations.ts';
import { isLoopback } from '../settings/fields.ts';
import type { Schedule } from '../settings/schedules.ts';
import type { Settings } from '../settings/settings.ts';
import type { Workspace } from './wire.ts';
import { formatCount } from './words.ts';

export const ROLES = ['worker', 'scheduler', 'console', 'service'] as const;
export type Role = (typeof ROLES)[number];

export const DEFAULT_PORT = 4100;

export interface Ready {
  /** Address of the embedded service, if the process has that role. */
  url?: string;
  /** Address for calls from outside systems, if the process has the role console. */
  consoleUrl?: string;
  /** Runs that the worker found unfinished. */
  unfinished?: number;
  /** Syncs with a schedule. */
  schedules?: number;
}

export interface RoleOptions {
  /** Port of the role service. */
  readonly port: number;
  readonly listen: string;
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
  { port, listen, log, say }: RoleOptions,
): Promise<Ready> {
  say(`Working on ${workspace.database.describe}.`);
  const ready: Ready = {};
  if (roles.has('service')) {
    warnBeyondLoopback(log, listen);
    ready.url = (await workspace.service.listen({ host: listen, port })).url;
    say(`service: ${ready.url} (documentation: ${ready.url}/docs)`);
  }
  if (roles.has('console')) {
    ready.consoleUrl = (await workspace.serveConsole()).url;
    say(`console: ${ready.consoleUrl} (outside systems call POST ${ready.consoleUrl}/hooks/TARGET)`);
  }
  if (roles.has('scheduler')) {
    const scheduled = Object.values(workspace.settings.syncs).filter(({ schedule }) => schedule !== undefined);
    await workspace.keepSchedules();
    ready.schedules = scheduled.length;
    if (scheduled.length === 0) say('scheduler: no sync has a schedule');
    for (const { name, schedule } of scheduled) if (schedule) say(`scheduler: ${name} ${whenDue(schedule)}`);
  }
  if (roles.has('scheduler') || roles.has('worker')) workspace.startDueSyncs();
  if (roles.has('worker')) {
    ready.unfinished = (await runningRuns(workspace.database.pool)).length;
    await workspace.work();
    await workspace.keepAuditing();
    workspace.keepPruning();
    const targets = Object.keys(workspace.settings.targets);
    if (targets.length > 0) await workspace.deliver(targets);
    say(`worker: ready, ${formatCount(ready.unfinished)} unfinished now`);
  }
  return ready;
}

function whenDue(schedule: Schedule): string {
  if (schedule.kind === 'every') return `every ${formatDuration(schedule.everyMs)}`;
  return `at ${schedule.cron} (${schedule.timezone})`;
}

/** Warns if other machines can reach the service. */
export function warnBeyondLoopback(log: Logger, host: string): void {
  if (isLoopback(host)) return;
  log.warn(
    `--listen ${host}: other machines can reach the service, and API keys and records are sent without TLS. Put a proxy with TLS in front of it, or listen on 127.0.0.1`,
  );
}
