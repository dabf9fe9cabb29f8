/** A bed whose loads are real commands: a front server before its service, and files beside its settings. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { BehaviourOptions } from '../../src/service/behaviour.ts';
import { type CommandResult, command, databaseUrl } from '../cli/command.ts';
import { type FrontServer, startFrontServer } from '../support/front-server.ts';
import { type OrdersBed, openOrdersBed } from '../support/orders-bed.ts';
import { TEST_KEY } from '../support/sync-bed.ts';
import { type Finished, type Running, startLockstep } from './cli-process.ts';

export interface CommandBed extends OrdersBed {
  readonly front: FrontServer;
  /** Starts a command on this bed; its last line is JSON. */
  start(...args: readonly string[]): Running;
  run(...args: readonly string[]): Promise<Finished>;
  /** The same command in this process: quicker, and what it does to files can be watched. */
  here(...args: readonly string[]): Promise<CommandResult>;
  /** What `here` runs in. */
  readonly around: { readonly cwd: string; readonly env: Readonly<Record<string, string>> };
  /** Writes a file beside the settings and gives its path. */
  file(name: string, content: string | Uint8Array): Promise<string>;
}

export async function openCommandBed({
  account,
  behaviour = {},
  redisUrl,
}: {
  account: string;
  behaviour?: BehaviourOptions;
  redisUrl?: string;
}): Promise<CommandBed> {
  const front = await startFrontServer();
  const bed = await openOrdersBed({
    ...{ account, behaviour, serviceUrl: front.url },
    ...(redisUrl !== undefined && { redisUrl }),
  });
  front.passTo(bed.service.url);
  await writeFile(path.join(bed.dataDir, 'lockstep.yaml'), bed.settingsText);
  const env = { DATABASE_URL: databaseUrl(bed.database.connection), TEST_KEY };
  const around = { cwd: bed.dataDir, env };
  const told = ['--config', 'lockstep.yaml', '--json'];
  const start: CommandBed['start'] = (...args) => startLockstep([...args, ...told], around);
  return {
    ...bed,
    front,
    start,
    run: (...args) => start(...args).ended,
    here: (...args) => command([...args, ...told], around),
    around,
    async file(name, content) {
      const file = path.join(bed.dataDir, name);
      await writeFile(file, content);
      return file;
    },
    async close() {
      await bed.close();
      await front.close();
    },
  };
}
