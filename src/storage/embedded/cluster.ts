/** Postgres' own data directory: created once, completely or not at all, and cleaned of what a killed Postgres left. */
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { unlessMissing } from '../../base/errors.ts';
import { isSecured, secure } from './access.ts';
import { asNamedUser } from './named-user.ts';
import { giveTo } from './owner.ts';
import { type Paths, reachable } from './paths.ts';

/** The superuser that initdb makes, who cannot log in. */
const SUPERUSER = 'postgres';

const HALF = '.half-';

/**
 * Creates the data directory if there is none, and closes a directory of an earlier version to everyone but our role. Call
 * it under the lock while no server runs. Throws EMBEDDED_START_FAILED, EMBEDDED_ROOT.
 */
export async function ensureCluster(paths: Paths, binaries: string): Promise<void> {
  if (paths.runAs) await giveTo(paths.dir, paths.runAs);
  if (existsSync(path.join(paths.data, 'PG_VERSION'))) {
    if (paths.runAs) await giveTo(paths.data, paths.runAs); // a starter that was killed may have given it to the named user
    if (!(await isSecured(paths))) {
      await removeStalePostmaster(paths);
      await asNamedUser(paths, paths.data, (run) => secure(paths, binaries, paths.data, run));
    }
    return;
  }
  await removeHalfMade(paths);
  const half = await fs.mkdtemp(`${paths.data}${HALF}`); // a name of its own: a killed starter's initdb may still be running
  const initdb = path.join(binaries, 'bin', 'initdb');
  const kind =
    '-A reject -E UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8 --no-instructions'.split(' ');
  await asNamedUser(paths, half, async (run) => {
    await run(initdb, ['-U', SUPERUSER, ...kind, '-D', reachable(paths, half)]);
    await secure(paths, binaries, half, run);
  });
  await fs.rename(half, paths.data);
  await sync(paths.dir);
}

/** Ensures that a power failure does not undo the directory's new name, and with it everything that is committed later. */
async function sync(dir: string): Promise<void> {
  const handle = await fs.open(dir);
  await handle.sync();
  await handle.close();
}

/** What Postgres' own lock file says; undefined while there is none. Lines: pid, directory, start, port, socket, …, state. */
export async function readPostmaster(
  paths: Paths,
): Promise<{ pid: number; socketDir: string; isReady: boolean } | undefined> {
  const text = await fs.readFile(postmasterFile(paths), 'utf8').catch(unlessMissing);
  const [pid, , , , socketDir, , , state] = text?.split('\n') ?? [];
  if (!pid) return undefined;
  return { pid: Number(pid), socketDir: socketDir ?? '', isReady: state?.trim() === 'ready' };
}

/**
 * Removes the lock file of a Postgres that is known to be gone. Postgres does so itself unless another process has been
 * given its number, which happens every time in a container that is started again.
 */
export async function removeStalePostmaster(paths: Paths): Promise<void> {
  await fs.rm(postmasterFile(paths), { force: true });
}

function postmasterFile(paths: Paths): string {
  return path.join(paths.data, 'postmaster.pid');
}

async function removeHalfMade(paths: Paths): Promise<void> {
  const names = (await fs.readdir(paths.dir)).filter((name) => name.startsWith(`data${HALF}`));
  for (const name of names) {
    // It fails while a killed starter's initdb is still writing; then the next start removes it.
    await fs.rm(path.join(paths.dir, name), { recursive: true, force: true }).catch(() => undefined);
  }
}
