/** `import { startWorkspace } from 'lockstep'`: what `lockstep start` does, in the caller's own process; without the console, unless `roles` has it. */
import path from 'node:path';
import { z } from 'zod';
import { wrongUse } from '../base/errors.ts';
import { optionProblems } from '../base/options.ts';
import { allowedFor, reportRun } from '../operator/run-report.ts';
import { loadSettings } from '../settings/load.ts';
import { follow } from './follow.ts';
import { DEFAULT_DATA } from './global-options.ts';
import { createLog } from './log.ts';
import { screenOf } from './print/screen.ts';
import { openWorkspace } from './workspace/open-workspace.ts';
import { DEFAULT_PORT, defaultRoles, ROLES, startRoles } from './workspace/roles.ts';
import type * as types from './workspace-types.ts';

const isObject = (value: unknown) => typeof value === 'object' && value !== null;

/** Checked at run time too: a misspelt `dryRun` would write. */
const workspaceOptions = z.strictObject({
  config: z.string().optional(),
  dataDir: z.string().default(DEFAULT_DATA),
  cwd: z.string().optional(),
  env: z.custom<NonNullable<types.WorkspaceOptions['env']>>(isObject).optional(),
  roles: z.array(z.enum(ROLES)).optional(),
  port: z.int().min(0).max(65_535).default(DEFAULT_PORT),
  listen: z.string().default('127.0.0.1'),
  log: z.custom<NonNullable<types.WorkspaceOptions['log']>>(isObject).optional(),
});

const syncOptions = z.strictObject({
  dryRun: z.boolean().default(false),
  lane: z.enum(['interactive', 'batch']).default('batch'),
  signal: z.instanceof(AbortSignal).optional(),
});

export const startWorkspace: typeof types.startWorkspace = async (given = {}) => {
  const options = checked('startWorkspace', workspaceOptions, given);
  const {
    config,
    dataDir,
    port,
    listen,
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
    const ready = await startRoles(workspace, roles, { port, listen, log, say: () => undefined });
    return {
      ...ready,
      async runSync(sync, wanted = {}) {
        const name = checked('runSync', z.string(), sync);
        const { dryRun, lane, signal = new AbortController().signal } = checked('runSync', syncOptions, wanted);
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

function checked<Schema extends z.ZodType>(method: string, schema: Schema, options: unknown): z.output<Schema> {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  throw wrongUse(`${method} cannot use its options: ${optionProblems(parsed.error)}`, 'WORKSPACE_OPTIONS_INVALID');
}

const silent = { isLive: false, columns: undefined, live: () => undefined, say: () => undefined };
