/**
 * A folder that is held open, and whose entries are reached through the open handle. A user with write access to the parent
 * folder could replace the folder with a link while it is in use; that does not affect a process that holds it open.
 */
import { constants, existsSync, lstatSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, LockstepError, messageOf } from './errors.ts';

export interface Folder {
  /** For messages. */
  readonly path: string;
  /** The path to an entry, for the functions of node:fs. */
  at(entry: string): string;
  close(): Promise<void>;
}

/** Windows has neither `O_DIRECTORY` nor `O_NOFOLLOW`. */
const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;
/** Linux lists the open files of a process here: a path through it cannot be redirected. */
const OPEN_FILES = '/proc/self/fd';

/** Follows links: for a folder that the operator names. */
export async function openFolder(dir: string): Promise<Folder> {
  return held(await open(dir, O_RDONLY | O_DIRECTORY), dir, dir);
}

/** Refuses a link at `dir` itself; `within`: the folder that has the entry `dir`. @throws LockstepError FOLDER_UNSAFE */
export async function openRealFolder(dir: string, within?: Folder): Promise<Folder> {
  const shown = within ? path.join(within.path, dir) : dir;
  const location = within ? within.at(dir) : dir;
  try {
    return await held(await open(location, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), shown, location);
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error;
    const message = `${shown} is a symbolic link or a file, not a folder (${reasonOf(error)}). Put a real folder in its place.`;
    throw new LockstepError('FOLDER_UNSAFE', message, { cause: error });
  }
}

/** What went wrong, without a path through an open handle: the message around it names the folder. */
export function reasonOf(error: unknown): string {
  return messageOf(error).replace(/, \w+ '\/proc\/self\/fd\/.*$/s, '');
}

/** Makes the folder, for this user only, if it is missing. @throws LockstepError FOLDER_UNSAFE */
export async function makeRealFolder(dir: string, within: Folder): Promise<Folder> {
  await mkdir(within.at(dir), { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  return openRealFolder(dir, within);
}

async function held(handle: FileHandle, shown: string, location: string): Promise<Folder> {
  const close = () => handle.close();
  const through = `${OPEN_FILES}/${handle.fd}`;
  if (existsSync(through)) return { path: shown, at: (entry) => `${through}/${entry}`, close };
  const { dev, ino } = await handle.stat();
  return {
    path: shown,
    at(entry) {
      const now = lstatSync(location);
      if (now.dev === dev && now.ino === ino) return path.join(location, entry);
      throw new LockstepError('FOLDER_UNSAFE', `${shown} was replaced while it was in use. Check who may write there.`);
    },
    close,
  };
}
