/** A service process with one tenant, on a database of its own, and settings that point to it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { seedWorkspace } from '../../src/service/testbed/seed.ts';
import { databaseUrl } from '../cli/command.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { lockstep, type Running, type Surroundings, startLockstep } from './cli-process.ts';

export const KEY = 'the-key-of-the-e2e-tenant';

export interface E2eWorkspace extends Surroundings {
  readonly database: FreshDatabase;
  readonly service: Running;
  readonly url: string;
  /** Runs a command on this workspace; its last line is JSON. */
  run(...args: readonly string[]): ReturnType<typeof lockstep>;
  /** The records that were made according to the service's commit log, by operation. */
  commits(operation: string): Promise<number>;
  close(): Promise<void>;
}

export interface WorkspaceOptions {
  readonly contacts?: number;
  /** Flow-style YAML of the account's budget. */
  readonly budget?: string;
  readonly testbed?: object;
}

export async function openWorkspace(options: WorkspaceOptions = {}): Promise<E2eWorkspace> {
  const { contacts = 60, budget = '{ requests: 1000, per: 1s, settle: 400ms, timeout: 2s }', testbed = {} } = options;
  const database = await freshDatabase();
  const cwd = await mkdtemp(path.join(os.tmpdir(), 'lockstep-e2e-'));
  const around = { cwd, env: { DATABASE_URL: databaseUrl(database.connection), E2E_KEY: KEY } };
  const args = ['service', '--json', '--port', '0', '--tenant', 'acme', '--key-env', 'E2E_KEY'];
  const service = startLockstep([...args, '--testbed', JSON.stringify(testbed)], around);
  const { url } = await service.ready();
  await seedWorkspace(database.pool, { contacts, tenants: [{ name: 'acme', key: KEY }] });
  await writeFile(path.join(cwd, 'lockstep.yaml'), settings(url, budget));
  return {
    ...around,
    database,
    service,
    url,
    run: (...command) => lockstep([...command, '--config', 'lockstep.yaml', '--json'], around),
    async commits(operation) {
      const counted = await database.pool.query('select count(*) as n from service.commits where operation = $1', [
        operation,
      ]);
      return counted.rows[0].n;
    },
    async close() {
      service.signal('SIGTERM');
      await service.ended;
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
