import { once } from 'node:events';
import { createServer } from 'node:net';
import os from 'node:os';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { type RoleOptions, startRoles } from '../../src/cli/workspace/roles.ts';
import { suspendAccount, suspensionOf } from '../../src/engine/ledger/scopes/suspensions.ts';
import { freshDatabase } from '../support/database.ts';
import { testWorkspace } from '../support/harness/test-workspace.ts';
import { startHttpServer } from '../support/http-server.ts';

const how: RoleOptions = { port: 0, listen: '127.0.0.1', log: pino({ level: 'silent' }), say: () => undefined };

test('a console that no one chose is left out if its port is in use', async () => {
  const [taken, database] = [createServer(), await freshDatabase()];
  taken.listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = Object(taken.address()) as { port: number }; // safe: it listens on a port
  const text = `{ accounts: { acme: { url: "https://sales.example", apiKey: { env: KEY } } }, console: { listen: "127.0.0.1:${port}" } }`;
  const workspace = await testWorkspace({ text, dataDir: os.tmpdir(), env: {}, database });
  onTestFinished(async () => {
    await workspace.close();
    await database.close();
    taken.close();
  });
  const roles = new Set(['console'] as const);
  expect(await startRoles(workspace, roles, { ...how, isChosen: false })).toEqual({ consoleUrl: undefined });
  await expect(startRoles(workspace, roles, how)).rejects.toMatchObject({ code: 'CONSOLE_PORT_IN_USE' });
});

test('a worker resumes an account whose refused key is accepted again, without a run', async () => {
  const [service, database] = [await startHttpServer({ status: 200, body: { content: [] } }), await freshDatabase()];
  const text = `{ accounts: { acme: { url: "${service.url}", apiKey: { env: KEY } } } }`;
  const workspace = await testWorkspace({ text, dataDir: os.tmpdir(), env: { KEY: 'k' }, database });
  onTestFinished(async () => {
    await workspace.close();
    await database.close();
    await service.close();
  });
  await suspendAccount(database.pool, 'acme', 'unknown key');
  await database.pool.query('update ledger.suspensions set probe_at = now()');
  await startRoles(workspace, new Set(['worker']), how);
  await expect.poll(() => suspensionOf(database.pool, 'acme')).toBeUndefined();
});
