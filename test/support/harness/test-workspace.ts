/** Workspaces put together as the command line does it, on a test's own database, which stays open when they close. */
import pino from 'pino';
import { openWorkspace, type Workspace } from '../../../src/cli/workspace/open-workspace.ts';
import { parseSettings } from '../../../src/settings/parse.ts';
import type { Database } from '../../../src/storage/open.ts';

export interface TestWorkspace {
  /** The settings, as YAML. */
  readonly text: string;
  readonly dataDir: string;
  readonly database: Pick<Database, 'pool' | 'connection'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Logs warnings to stderr; default: nothing is logged. */
  readonly isLogged?: boolean;
}

export async function testWorkspace({ text, dataDir, database, env, isLogged }: TestWorkspace): Promise<Workspace> {
  const parsed = parseSettings({ text, file: 'test.yaml', env: {} });
  if (parsed.status !== 'valid') throw new Error(JSON.stringify(parsed.problems));
  const { pool, connection } = database;
  return openWorkspace({
    settings: parsed.settings,
    dataDir,
    env,
    log: pino({ level: isLogged ? 'warn' : 'silent' }, pino.destination(2)),
    database: { pool, connection, describe: 'the test database', close: async () => {} },
  });
}
