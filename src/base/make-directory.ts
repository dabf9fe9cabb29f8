/**
 * Makes a directory and its missing parents. It does not use `mkdir` with `recursive`: if a parent exists and refuses a new
 * directory with ENOENT, as /proc does, Node tries forever.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from './errors.ts';

/** `mode` is given to every directory made here. Throws the file system's error, such as EACCES, ENOTDIR or ENOENT. */
export async function makeDirectory(dir: string, { mode }: { mode?: number } = {}): Promise<void> {
  const make = () => fs.mkdir(dir, { mode });
  try {
    await make();
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return mustBeDirectory(dir, error);
    if (codeOf(error) !== 'ENOENT' || path.dirname(dir) === dir) throw error;
    const above = await fs.stat(path.dirname(dir)).catch(() => undefined);
    if (above) return makeAgain(make, dir);
    await makeDirectory(path.dirname(dir), { mode });
    await makeDirectory(dir, { mode }); // another process may have made it meanwhile
  }
}

/** The parent exists now: another process made it in between, or it refuses every new entry. */
async function makeAgain(make: () => Promise<unknown>, dir: string): Promise<void> {
  try {
    await make();
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    await mustBeDirectory(dir, error);
  }
}

async function mustBeDirectory(dir: string, error: unknown): Promise<void> {
  if (!(await fs.stat(dir)).isDirectory()) throw error;
}
