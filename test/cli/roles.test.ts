import { once } from 'node:events';
import { createServer } from 'node:net';
import os from 'node:os';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { type RoleOptions, startRoles } from '../../src/cli/roles.ts';
import { freshDatabase } from '../support/database.ts';
import { testWorkspace } from '../support/harness/test-workspace.ts';

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
  const how: RoleOptions = { port: 0, listen: '127.0.0.1', log: pino({ level: 'silent' }), say: () => undefined };
  const roles = new Set(['console'] as const);
  expect(await startRoles(workspace, roles, { ...how, isChosen: false })).toEqual({ consoleUrl: undefined });
  await expect(startRoles(workspace, roles, how)).rejects.toMatchObject({ code: 'CONSOLE_PORT_IN_USE' });
});

test('a process is ready only after all of its roles have started', async () => {
  const database = await freshDatabase();
  const text = '{ accounts: { acme: { url: "https://sales.example", apiKey: { env: KEY } } } }';
  const workspace = await testWorkspace({ text, dataDir: os.tmpdir(), env: {}, database });
  onTestFinished(async () => {
    await workspace.close();
    await database.close();
  });
  let healthUrl: string | undefined;
  const readiness = async () => (await fetch(`${healthUrl}/readyz`)).status;
  const seen: number[] = [];
  const slow: typeof workspace = {
    ...workspace,
    keepSchedules: async () => {
      seen.push(await readiness());
    },
  };
  await startRoles(slow, new Set(['scheduler'] as const), {
    port: 0,
    listen: '127.0.0.1',
    health: { host: '127.0.0.1', port: 0 },
    log: pino({ level: 'silent' }),
    say: (line) => {
      healthUrl ??= /^health: (.+)\/healthz/.exec(line)?.[1];
    },
  });
  seen.push(await readiness());
  expect(seen).toEqual([503, 200]);
});
