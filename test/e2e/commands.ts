/** Commands on the settings in a folder, lockstep.yaml; the last line of their output is JSON. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { command, databaseUrl } from '../cli/command.ts';
import type { Needs } from '../support/harness/needs.ts';
import { openOrdersHarness } from '../support/harness/orders.ts';
import { type Running, type Surroundings, startLockstep } from './cli-process.ts';

export function commandsIn(around: Surroundings) {
  const told = ['--config', 'lockstep.yaml', '--json'];
  const start = (...args: readonly string[]): Running => startLockstep([...args, ...told], around);
  return {
    around,
    start,
    run: (...args: readonly string[]) => start(...args).ended,
    /** The same command in this process: it is quicker, and the test can watch its file operations. */
    here: (...args: readonly string[]) => command([...args, ...told], around),
    /** Runs the command that a text names after these words, as a person who copies it. */
    paste(text: string, after: string) {
      const said = text.replaceAll(/\s+/g, ' ');
      const words = said.slice(said.indexOf(after)).match(/`lockstep ([^`]+)`/)?.[1];
      if (!said.includes(after) || words === undefined) throw new Error(`no command after "${after}" in: ${said}`);
      return command(words.split(' '), around);
    },
    /** Writes a file beside the settings and returns its path. */
    async file(name: string, content: string | Uint8Array): Promise<string> {
      const file = path.join(around.cwd, name);
      await writeFile(file, content);
      return file;
    },
  };
}

export type CommandHarness = Awaited<ReturnType<typeof openCommandHarness>>;

/** Loads and syncs as commands, with a front server before the service. */
export async function openCommandHarness(needs?: Needs) {
  const harness = await openOrdersHarness({ ...needs, hasFront: true });
  const { dataDir, database, env } = harness;
  const around = { cwd: dataDir, env: { ...env, DATABASE_URL: databaseUrl(database.connection) } };
  return Object.assign(harness, commandsIn(around));
}
