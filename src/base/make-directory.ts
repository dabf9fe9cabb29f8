/**
 * Makes a directory and its missing parents. It does not use `mkdir` with `recursive`: if a parent exists and refuses a new
 * directory with ENOENT, as /proc does, Node tries forever.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { codeOf, messageOf, wrongUse } from './errors.ts';

/**
 * Makes a directory that a person has chosen; false if it exists.
 * @throws LockstepError DIRECTORY_NOT_MADE (exit code 2) `what`: such as `the data directory`
 */
export async function makeChosenDirectory(what: string, dir: string, how: { mode?: number } = {}): Promise<boolean> {
  try {
    return await makeDirectory(dir, how);
  } catch (error) {
    const message = `Cannot make ${what} ${dir}: ${messageOf(error)}. Choose another one, or change the permissions of its parent.`;
    throw wrongUse(message, 'DIRECTORY_NOT_MADE', error);
  }
}

/**
 * False if it exists. `mode` is given to every directory made here. Throws the file system's error, such as EACCES, ENOTDIR
 * or ENOENT.
 */
export async function makeDirectory(dir: string, { mode }: { mode?: number } = {}): Promise<boolean> {
  const make = () => fs.mkdir(dir, { mode });
  try {
    await make();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return mustBeDirectory(dir, error);
    if (codeOf(error) !== 'ENOENT' || path.dirname(dir) === dir) throw error;
    const above = await fs.stat(path.dirname(dir)).catch(() => undefined);
    if (above) return makeAgain(make, dir);
    await makeDirectory(path.dirname(dir), { mode });
    return makeDirectory(dir, { mode }); // another process may have made it meanwhile
  }
}

/** The parent exists now: another process made it in between, or it refuses every new entry. */
async function makeAgain(make: () => Promise<unknown>, dir: string): Promise<boolean> {
  try {
    await make();
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return mustBeDirectory(dir, error);
  }
}

async function mustBeDirectory(dir: string, error: unknown): Promise<false> {
  if (!(await fs.stat(dir)).isDirectory()) throw error;
  return false;
}
