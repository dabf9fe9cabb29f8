/** Postgres' own data directory: made once, whole or not at all, and cleared of what a killed Postgres left. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { codeOf, messageOf } from '../errors.ts';
import { startFailed } from './errors.ts';
import { type Place, runAs } from './place.ts';

/** The superuser that initdb makes, and the database that is there from the start. */
export const SUPERUSER = 'postgres';

const HALF = '.half-';

/** Makes the data directory if there is none. To be called under the place's lock. Throws EMBEDDED_START_FAILED. */
export async function ensureCluster(place: Place, binaries: string): Promise<void> {
  if (await exists(path.join(place.data, 'PG_VERSION'))) return;
  await removeHalfMade(place);
  const half = await fs.mkdtemp(`${place.data}${HALF}`); // a name of its own: a killed starter's initdb may still be at work
  if (place.runAs) await fs.lchown(half, place.runAs.uid, place.runAs.gid);
  const initdb = path.join(binaries, 'bin', 'initdb');
  const kind = '-A trust -E UTF8 --locale=C --no-instructions'.split(' ');
  const args = ['-U', SUPERUSER, ...kind, '-D', reachable(place, half)];
  const isNameless = !hasName();
  const [program, before] = isNameless ? ['unshare', [...AS_A_NAMED_USER, initdb]] : [initdb, []];
  await runAs(place, program, [...before, ...args], half).catch((error) => {
    const reason = messageOf(error).trim();
    const nameless = `, since user id ${process.geteuid?.()} has no name: add a line for it to /etc/passwd`;
    throw startFailed(place.dataDir, `initdb failed${isNameless ? nameless : ''}: ${reason}`, '');
  });
  await fs.rename(half, place.data);
  await sync(place.dir);
}

/** Makes sure that a power failure does not take the directory's new name, and with it all that is committed later. */
async function sync(dir: string): Promise<void> {
  const handle = await fs.open(dir);
  await handle.sync();
  await handle.close();
}

/**
 * A path to the working directory `dir` that works for Postgres. An unprivileged user may not get past its parents, such
 * as root's home: then it goes through the kernel's link to the working directory, which needs no parents.
 */
export function reachable(place: Place, dir: string): string {
  return place.runAs && process.platform === 'linux' ? '/proc/self/cwd' : dir;
}

/** What Postgres' own lock file says; undefined while there is none. Lines: pid, directory, start, port, socket, …, state. */
export async function readPostmaster(
  place: Place,
): Promise<{ pid: number; socketDir: string; isReady: boolean } | undefined> {
  const text = await fs.readFile(postmasterFile(place), 'utf8').catch((error) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  });
  const [pid, , , , socketDir, , , state] = text.split('\n');
  if (!pid) return undefined;
  return { pid: Number(pid), socketDir: socketDir ?? '', isReady: state?.trim() === 'ready' };
}

/**
 * Removes the lock file of a Postgres that is known to be gone. Postgres does so itself unless another process has been
 * given its number, which happens every time in a container that is started again.
 */
export async function removeStalePostmaster(place: Place): Promise<void> {
  await fs.rm(postmasterFile(place), { force: true });
}

function postmasterFile(place: Place): string {
  return path.join(place.data, 'postmaster.pid');
}

async function removeHalfMade(place: Place): Promise<void> {
  const names = (await fs.readdir(place.dir)).filter((name) => name.startsWith(`data${HALF}`));
  for (const name of names) {
    // It fails while a killed starter's initdb is still writing; then the next start removes it.
    await fs.rm(path.join(place.dir, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** initdb insists on a user with a name; a container's arbitrary user id has none, but may have a namespace of its own. */
const AS_A_NAMED_USER = ['--user', '--map-user=65534', '--map-group=65534'];

function hasName(): boolean {
  if (process.geteuid?.() === 0) return true; // another user runs it then
  try {
    os.userInfo();
    return true;
  } catch {
    return false;
  }
}

async function exists(file: string): Promise<boolean> {
  return fs.stat(file).then(
    () => true,
    () => false,
  );
}
