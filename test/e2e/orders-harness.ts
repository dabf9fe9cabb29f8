/** A harness whose loads are real commands: a front server before its service, and files beside its settings. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { BehaviourOptions } from '../../src/service/testbed/behaviour.ts';
import { type CommandResult, command, databaseUrl } from '../cli/command.ts';
import { type FrontServer, startFrontServer } from '../support/front-server.ts';
import { type OrdersHarness, openOrdersHarness } from '../support/orders-harness.ts';
import { TEST_KEY } from '../support/sync-harness.ts';
import { type Finished, type Running, startLockstep } from './cli-process.ts';

export interface CommandHarness extends OrdersHarness {
  readonly front: FrontServer;
  /** Starts a command on this harness; its last line is JSON. */
  start(...args: readonly string[]): Running;
  run(...args: readonly string[]): Promise<Finished>;
  /** The same command in this process: it is quicker, and the test can watch its file operations. */
  here(...args: readonly string[]): Promise<CommandResult>;
  /** The current directory of `here`. */
  readonly around: { readonly cwd: string; readonly env: Readonly<Record<string, string>> };
  /** Writes a file beside the settings and returns its path. */
  file(name: string, content: string | Uint8Array): Promise<string>;
}

export async function openCommandHarness({
  account,
  behaviour = {},
  redisUrl,
}: {
  account: string;
  behaviour?: BehaviourOptions;
  redisUrl?: string;
}): Promise<CommandHarness> {
  const front = await startFrontServer();
  const harness = await openOrdersHarness({
    ...{ account, behaviour, serviceUrl: front.url },
    ...(redisUrl !== undefined && { redisUrl }),
  });
  front.passTo(harness.service.url);
  await writeFile(path.join(harness.dataDir, 'lockstep.yaml'), harness.settingsText);
  const env = { DATABASE_URL: databaseUrl(harness.database.connection), TEST_KEY };
  const around = { cwd: harness.dataDir, env };
  const told = ['--config', 'lockstep.yaml', '--json'];
  const start: CommandHarness['start'] = (...args) => startLockstep([...args, ...told], around);
  return {
    ...harness,
    front,
    start,
    run: (...args) => start(...args).ended,
    here: (...args) => command([...args, ...told], around),
    around,
    async file(name, content) {
      const file = path.join(harness.dataDir, name);
      await writeFile(file, content);
      return file;
    },
    async close() {
      await harness.close();
      await front.close();
    },
  };
}
