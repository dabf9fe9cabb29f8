/** The directory of the Unix socket: short, since a socket's path has at most 107 bytes, and closed to everyone else. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { codeOf } from '../../base/errors.ts';
import type { Paths } from './paths.ts';

const SHORT = '/tmp';

/**
 * Makes the directory, or reuses the one that a killed Postgres left. Call it when this directory's Postgres is known to be gone.
 * Every user may write to its parent: a directory that another user has made under our name is not used.
 */
export async function makeSocketDir(paths: Paths): Promise<string> {
  const parent = await fs.access(SHORT, fs.constants.W_OK).then(
    () => SHORT,
    () => os.tmpdir(),
  );
  const usual = path.join(parent, `lockstep-${paths.id}`);
  if (await takeLeft(paths, usual)) return usual;
  const made = await fs.mkdir(usual, { mode: 0o700 }).then(
    () => usual,
    (error) => {
      if (codeOf(error) === 'EEXIST') return fs.mkdtemp(`${usual}-`);
      throw error;
    },
  );
  if (paths.runAs) await fs.chown(made, paths.runAs.uid, paths.runAs.gid);
  return made;
}

/** Takes a directory that is ours, and removes the lock file that would stop Postgres if its process number has a new owner. */
async function takeLeft(paths: Paths, dir: string): Promise<boolean> {
  const found = await fs.lstat(dir).catch(() => undefined);
  const uid = paths.runAs?.uid ?? process.geteuid?.();
  if (!found?.isDirectory() || found.uid !== uid || (found.mode & 0o077) !== 0) return false;
  for (const name of await fs.readdir(dir)) {
    if (name.startsWith('.s.PGSQL.')) await fs.rm(path.join(dir, name), { force: true });
  }
  return true;
}
