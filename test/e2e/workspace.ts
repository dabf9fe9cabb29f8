/** A service with one tenant, on a database of its own, and settings that point to it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startService } from '../../src/service/server.ts';
import { seedWorkspace } from '../../src/service/testbed/seed.ts';
import { databaseUrl } from '../cli/command.ts';
import { freshDatabase } from '../support/database.ts';
import { commandsIn } from './commands.ts';

export const KEY = 'the-key-of-the-e2e-tenant';

export type E2eWorkspace = Awaited<ReturnType<typeof openWorkspace>>;

/** `budget`: flow-style YAML of the account's budget. */
export async function openWorkspace({
  contacts = 60,
  budget = '{ requests: 1000, per: 1s, settle: 400ms, timeout: 2s }',
} = {}) {
  const database = await freshDatabase();
  const cwd = await mkdtemp(path.join(os.tmpdir(), 'lockstep-e2e-'));
  const env = { DATABASE_URL: databaseUrl(database.connection), E2E_KEY: KEY };
  const service = await startService({ pool: database.pool });
  const { url } = service;
  await seedWorkspace(database.pool, { contacts, tenants: [{ name: 'acme', key: KEY }] });
  await writeFile(path.join(cwd, 'lockstep.yaml'), settings(url, budget));
  return {
    ...commandsIn({ cwd, env }),
    cwd,
    env,
    database,
    url,
    /** The records that were made according to the service's commit log, by operation. */
    async commits(operation: string): Promise<number> {
      const counted = await database.pool.query('select count(*)::int as n from service.commits where operation = $1', [
        operation,
      ]);
      return counted.rows[0].n;
    },
    async close(): Promise<void> {
      await service.close();
      await database.close();
      await rm(cwd, { recursive: true, force: true });
    },
  };
}

export function settings(url: string, budget = '{ requests: 1000, per: 1s }'): string {
  return `
accounts:
  acme: { url: "${url}", apiKey: { env: E2E_KEY }, budget: ${budget} }
syncs:
  nightly: { job: contacts, account: acme }
`;
}
