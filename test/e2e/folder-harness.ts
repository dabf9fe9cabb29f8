/** A harness with a sync of type orders, and the folder that it watches. */

import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { wordedRows } from '../support/worded-rows.ts';
import { type CommandHarness, openCommandHarness } from './orders-harness.ts';

export interface FolderHarness extends CommandHarness {
  readonly folder: string;
  /** Puts a file into the folder that has not changed for two minutes, and returns its path. */
  drop(name: string | Buffer, content: string | Uint8Array): Promise<string | Buffer>;
  /** The path of an entry, also of one whose name is not valid text. */
  at(name: string | Buffer): string | Buffer;
  names(dir?: string): Promise<readonly string[]>;
  /** The rows of a watching run, by the names of their files. */
  verdicts(run: string): Promise<ReadonlyMap<string, FileRow>>;
}

export interface FileRow {
  readonly verdict: string;
  readonly reason: string;
  readonly detail: string;
}

export const WATCH = ['run', 'files'];
const SYNC = '  files: { job: orders, account: test, options: { folder: inbox } }\n';

export async function openFolderHarness(account: string): Promise<FolderHarness> {
  const harness = await openCommandHarness({ account });
  const folder = path.join(harness.dataDir, 'inbox');
  await mkdir(folder);
  await harness.file('lockstep.yaml', harness.settingsText + SYNC);
  const at: FolderHarness['at'] = (name) =>
    typeof name === 'string' ? path.join(folder, name) : Buffer.concat([Buffer.from(`${folder}/`), name]);
  return {
    ...harness,
    folder,
    at,
    async drop(name, content) {
      const file = at(name);
      await writeFile(file, content);
      await age(file);
      return file;
    },
    names: async (dir = '.') => (await readdir(path.join(folder, dir))).sort(),
    async verdicts(run) {
      const rows = await wordedRows(harness.database.pool, { id: run });
      return new Map(
        rows.map(({ label, verdict, reason, detail }) => [label ?? '', { verdict, reason: reason ?? '', detail }]),
      );
    },
    async reset() {
      await harness.reset();
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder);
    },
  };
}

/** Sets the file's times so that its last write was two minutes ago. */
export async function age(file: string | Buffer): Promise<void> {
  const before = new Date(Date.now() - 120_000);
  await utimes(file, before, before);
}
