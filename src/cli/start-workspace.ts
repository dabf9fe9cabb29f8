/** `import { startWorkspace } from 'lockstep'`: what `lockstep start` does, in the caller's own process; without the console, unless `roles` has it. */
import path from 'node:path';
import { allowedFor, reportRun } from '../operator/run-report.ts';
import { loadSettings } from '../settings/load.ts';
import { follow } from './follow.ts';
import { DEFAULT_DATA } from './global-options.ts';
import { createLog } from './log.ts';
import { screenOf } from './print/screen.ts';
import { openWorkspace } from './workspace/open-workspace.ts';
import { DEFAULT_PORT, defaultRoles, startRoles } from './workspace/roles.ts';
import type * as types from './workspace-types.ts';

export const startWorkspace: typeof types.startWorkspace = async (options = {}) => {
  const {
    config,
    dataDir = DEFAULT_DATA,
    cwd = process.cwd(),
    env = process.env,
    log: stream = process.stderr,
  } = options;
  const settings = await loadSettings({ configFile: config, cwd, env });
  const log = createLog(screenOf(stream), { isVerbose: false });
  for (const warning of settings.warnings) log.warn(warning);
  const workspace = await openWorkspace({ settings, env, log, dataDir: path.resolve(cwd, dataDir) });
  const { pool } = workspace.database;
  try {
    const roles = new Set(options.roles ?? defaultRoles(settings));
    const { port = DEFAULT_PORT, listen = '127.0.0.1' } = options;
    const ready = await startRoles(workspace, roles, { port, listen, log, say: () => undefined });
    return {
      ...ready,
      async runSync(name, { dryRun = false, lane = 'batch', signal = new AbortController().signal } = {}) {
        const { run } = await workspace.startSync(name, { dryRun, lane });
        const allowedPerSecond = allowedFor(run, settings);
        return reportRun(pool, await follow(run.id, { db: pool, out: silent, allowedPerSecond, signal }), settings);
      },
      close: () => workspace.close(),
    };
  } catch (error) {
    await workspace.close();
    throw error;
  }
};

const silent = { isLive: false, columns: undefined, live: () => undefined, say: () => undefined };
