/**
 * A folder in which files of orders appear: which of them are complete, and where they go when they have been loaded.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, LockstepError, messageOf } from '../errors.ts';

/** A file as one look saw it. */
export interface SeenFile {
  readonly name: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** Where a file goes once its load has ended. */
export type Outcome = 'done' | 'failed';

/** Whoever writes a file pauses for less than this. */
export const QUIET_MS = 2_000;
const LOADED = /\.(csv|txt|tsv)(\.gz)?$/i;

/** The files to load, the oldest first; names that begin with a dot are somebody's business. @throws FOLDER_UNREADABLE */
export async function filesIn(folder: string): Promise<readonly SeenFile[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile() && isLoaded(entry.name)).map(({ name }) => name);
    const files = await Promise.all(names.map((name) => seen(folder, name)));
    return files
      .flatMap((file) => file ?? [])
      .sort((a, b) => a.modifiedMs - b.modifiedMs || a.name.localeCompare(b.name));
  } catch (error) {
    const message = `The folder ${folder} cannot be read: ${messageOf(error)}. Make it, or name another in the sync's options.folder.`;
    throw new LockstepError('FOLDER_UNREADABLE', message, { cause: error });
  }
}

/** A file is complete when two looks at least `QUIET_MS` apart saw the same of it. */
export function isComplete(
  file: SeenFile,
  before: SeenFile | undefined,
  lookedBeforeMs: number,
  nowMs: number,
): boolean {
  if (before === undefined || nowMs - lookedBeforeMs < QUIET_MS) return false;
  return before.sizeBytes === file.sizeBytes && before.modifiedMs === file.modifiedMs;
}

/** Moves a file into `done` or `failed` within its folder, under a name of its own; gives the new path. */
export async function putAway(folder: string, name: string, outcome: Outcome): Promise<string> {
  const dir = path.join(folder, outcome);
  await mkdir(dir, { recursive: true });
  const taken = await stat(path.join(dir, name)).catch(() => undefined);
  const target = path.join(dir, taken === undefined ? name : `${randomBytes(3).toString('hex')}-${name}`);
  await rename(path.join(folder, name), target);
  return target;
}

function isLoaded(name: string): boolean {
  return !name.startsWith('.') && LOADED.test(name);
}

/** Undefined where the file has gone since it was listed. */
async function seen(folder: string, name: string): Promise<SeenFile | undefined> {
  try {
    const { size, mtimeMs } = await stat(path.join(folder, name));
    return { name, sizeBytes: size, modifiedMs: mtimeMs };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
