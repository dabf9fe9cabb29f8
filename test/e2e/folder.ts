/** A sync of type orders, and the folder that it watches. */
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { wordedRows } from '../support/worded-rows.ts';
import { openCommandHarness } from './commands.ts';

export interface FileRow {
  readonly verdict: string;
  readonly reason: string;
  readonly detail: string;
}

export const WATCH = ['run', 'files'];

/** `options`: YAML of options of the sync beside its folder. */
export async function openFolderHarness(account: string, options = '') {
  const syncs = { files: `job: orders, options: { folder: inbox, ${options} }` };
  const harness = await openCommandHarness({ account, syncs });
  const { reset } = harness;
  const folder = path.join(harness.dataDir, 'inbox');
  await mkdir(folder);
  /** The path of an entry, also of one whose name is not valid text. */
  const at = (name: string | Buffer): string | Buffer =>
    typeof name === 'string' ? path.join(folder, name) : Buffer.concat([Buffer.from(`${folder}/`), name]);
  return Object.assign(harness, {
    folder,
    at,
    /** Puts a file into the folder that has not changed for two minutes, and returns its path. */
    async drop(name: string | Buffer, content: string | Uint8Array): Promise<string | Buffer> {
      const file = at(name);
      await writeFile(file, content);
      await age(file);
      return file;
    },
    names: async (dir = '.'): Promise<readonly string[]> => (await readdir(path.join(folder, dir))).sort(),
    /** The rows of a watching run, by the names of their files. */
    async verdicts(run: string): Promise<ReadonlyMap<string, FileRow>> {
      const rows = await wordedRows(harness.database.pool, { id: run });
      return new Map(
        rows.map(({ label, verdict, reason, detail }) => [label ?? '', { verdict, reason: reason ?? '', detail }]),
      );
    },
    async reset(): Promise<void> {
      await reset();
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder);
    },
  });
}

/** Sets the file's times so that its last write was two minutes ago. */
export async function age(file: string | Buffer): Promise<void> {
  const before = new Date(Date.now() - 120_000);
  await utimes(file, before, before);
}
