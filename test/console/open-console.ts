/** A console on a test's own database, with the settings as YAML. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { PLAIN_HINTS } from '../../src/base/reasons/reasons.ts';
import type { ConsoleNeeds } from '../../src/console/needs.ts';
import { type Console, startConsole } from '../../src/console/server.ts';
import { startRun } from '../../src/engine/ledger/runs.ts';
import { warningsOf } from '../../src/operator/settings-check.ts';
import { parseSettings } from '../../src/settings/parse.ts';
import { readSecret } from '../../src/settings/secrets.ts';
import { syncNamed } from '../../src/settings/settings.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';

export const SETTINGS = `
accounts: { acme: { url: "https://sales.example", apiKey: { env: KEY }, budget: { requests: 30, per: 1m } } }
console: { listen: "127.0.0.1:0" }
`;

export interface ConsoleOptions
  extends Partial<
    Pick<
      ConsoleNeeds,
      | 'examine'
      | 'hint'
      | 'accounts'
      | 'openAccount'
      | 'queue'
      | 'names'
      | 'targets'
      | 'log'
      | 'checkSettings'
      | 'dataDir'
      | 'maxUploadBytes'
    >
  > {
  readonly database: FreshDatabase;
  readonly text?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** For the file that calls it: a console on a database of its own. */
export async function freshConsole(options: Omit<ConsoleOptions, 'database'> = {}) {
  const database = await freshDatabase();
  const web = await openConsole({ database, ...options });
  afterAll(async () => {
    await web.close();
    await database.close();
  });
  return { database, web };
}

export async function openConsole({ database, text = SETTINGS, env = {}, ...needs }: ConsoleOptions): Promise<Console> {
  const parsed = parseSettings({ text, file: 'lockstep.yaml', env: {} });
  if (parsed.status !== 'valid') throw new Error(JSON.stringify(parsed.problems));
  const { pool, connection } = database;
  const { settings } = parsed;
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-test-'));
  const console = await startConsole({
    pool,
    database: `Postgres at ${connection.host}:${connection.port}`,
    names: () => Object.keys(settings.targets),
    targets: { open: async (name) => Promise.reject(new Error(`no target ${name} here`)) },
    settings: () => settings,
    checkSettings: async () => ({ problem: undefined, warnings: await warningsOf(settings, env) }),
    startSync: async (sync, how) => {
      const { type, account } = syncNamed(settings, sync);
      return startRun(pool, { sync, type, account, resource: sync, options: {}, phase: 'scan-contacts', ...how });
    },
    accounts: {
      inspect: async (name) => Promise.reject(new Error(`no account ${name} here`)),
      identify: async (name) => Promise.reject(new Error(`no account ${name} here`)),
    },
    openAccount: async (name) => Promise.reject(new Error(`no account ${name} here`)),
    examine: async (name) => Promise.reject(new Error(`no account ${name} here`)),
    queue: async () => ({
      depth: async () => ({}),
      jobs: async () => [],
      bull: async () => Promise.reject(new Error('no queue here')),
    }),
    dataDir,
    readSecret: (ref) => readSecret(ref, env),
    hint: PLAIN_HINTS.command,
    ...needs,
  });
  return {
    ...console,
    async close() {
      await console.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
