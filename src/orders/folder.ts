/**
 * A folder in which files of orders appear: which of them are complete, and where they go when they have been loaded.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, LockstepError, messageOf } from '../errors.ts';

/** A file as one look saw it. */
export interface SeenFile {
  readonly name: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** The last byte ends a line: whoever writes it may be done. */
  readonly endsLine: boolean;
}

/** Where a file goes once its load has ended. */
export type Outcome = 'done' | 'failed';

/** A file that ends with a line is complete when it has been the same for so long … */
const QUIET_MS = 3_000;
/** … and one that ends in the midst of a line, or is packed, when nobody can still be writing it. */
const LONG_QUIET_MS = 30_000;
const OLD_MS = 60_000;
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

/** Since when a file seen for the first time is as it is: its own time is believed where no clock is off by so much. */
export function sameSince({ modifiedMs }: SeenFile, nowMs: number): number {
  return nowMs - modifiedMs > OLD_MS ? modifiedMs : nowMs;
}

/** Whether a file that has not changed for `sameForMs` has been written to its end. */
export function isComplete({ endsLine }: SeenFile, sameForMs: number): boolean {
  return sameForMs >= (endsLine ? QUIET_MS : LONG_QUIET_MS);
}

export function isSame(file: SeenFile, other: Pick<SeenFile, 'sizeBytes' | 'modifiedMs'>): boolean {
  return file.sizeBytes === other.sizeBytes && file.modifiedMs === other.modifiedMs;
}

/** Where a file is to be put away: in `done` or `failed` within its folder, under a name that nothing there has. */
export async function placeFor(folder: string, name: string, outcome: Outcome): Promise<string> {
  const dir = path.join(folder, outcome);
  return guarded(folder, async () => {
    await mkdir(dir, { recursive: true });
    const taken = await stat(path.join(dir, name)).catch(() => undefined);
    return path.join(dir, taken === undefined ? name : `${randomBytes(3).toString('hex')}-${name}`);
  });
}

/** Moves a file; one that is gone is somebody's business. @throws FOLDER_UNWRITABLE */
export async function putAway(folder: string, name: string, place: string): Promise<void> {
  await guarded(folder, () =>
    rename(path.join(folder, name), place).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
    }),
  );
}

async function guarded<T>(folder: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const message = `Files cannot be moved within ${folder}: ${messageOf(error)}. Give the worker's user the right to write there.`;
    throw new LockstepError('FOLDER_UNWRITABLE', message, { cause: error });
  }
}

function isLoaded(name: string): boolean {
  return !name.startsWith('.') && !name.startsWith('~$') && LOADED.test(name); // the one of Excel's that it keeps while a file is open
}

/** Undefined where the file has gone since it was listed. */
async function seen(folder: string, name: string): Promise<SeenFile | undefined> {
  const file = path.join(folder, name);
  try {
    const { size, mtimeMs } = await stat(file);
    const endsLine = size > 0 && !/\.gz$/i.test(name) && (await lastByteEndsLine(file, size));
    return { name, sizeBytes: size, modifiedMs: mtimeMs, endsLine };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** In UTF-16 the last byte of a line's end may be a zero. */
async function lastByteEndsLine(file: string, sizeBytes: number): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, Math.max(0, sizeBytes - 2));
    const end = buffer.subarray(0, bytesRead);
    const last = end.at(-1) === 0 ? end.at(0) : end.at(-1);
    return last === 0x0a || last === 0x0d;
  } finally {
    await handle.close();
  }
}
