/**
 * The paths of one embedded Postgres inside a data directory, and the user it runs as.
 *
 *   DATA_DIR/postgres/
 *     data/        Postgres' own data directory
 *     log          Postgres' own log
 *     users.fifo   every process that uses it holds the write end, its keeper the read end
 *     peers.fifo   every process that uses it holds the read end
 *     family.fifo  the keeper and every Postgres process hold the read end
 *     acks/        the keeper's answers to newcomers
 *
 * The fifos show who is alive: the kernel closes a process's ends however it dies. So nothing stale remains, no process id
 * can be mistaken for another, and this works between users and containers too.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { codeOf, unlessMissing } from '../../base/errors.ts';
import { makeDirectory } from '../../base/make-directory.ts';
import { notUnprivileged, otherVersion } from './errors.ts';
import { ownerFor, type RunAs } from './owner.ts';

export interface Paths {
  /** As the user named it, for messages. */
  readonly dataDir: string;
  readonly dir: string;
  readonly data: string;
  readonly log: string;
  readonly users: string;
  readonly peers: string;
  readonly family: string;
  readonly starter: string;
  readonly acks: string;
  readonly password: string;
  /**
   * Identifies the directory, whatever path leads to it, by its inode: while Postgres runs, no other directory gets that
   * inode.
   */
  readonly id: string;
  /** Set when this process is root, which Postgres refuses to run as. */
  readonly runAs?: RunAs;
}

/** Makes the directory if it does not exist. Throws EMBEDDED_OTHER_VERSION, EMBEDDED_ROOT and file system errors. */
export async function preparePaths(dataDir: string, version: string): Promise<Paths> {
  const dir = path.join(path.resolve(dataDir), 'postgres');
  await makeDirectory(dir, { mode: 0o700 });
  const runAs = process.geteuid?.() === 0 ? await ownerFor(dir) : undefined;
  const { dev, ino } = await fs.stat(dir);
  const inside = (name: string): string => path.join(dir, name);
  const paths: Paths = {
    dataDir,
    dir,
    data: inside('data'),
    log: inside('log'),
    users: inside('users.fifo'),
    peers: inside('peers.fifo'),
    family: inside('family.fifo'),
    starter: inside('starter.fifo'),
    acks: inside('acks'),
    password: inside('password'),
    id: `${dev.toString(36)}-${ino.toString(36)}`,
    runAs,
  };
  await checkVersion(paths, version);
  await makeFifos(paths);
  return paths;
}

async function checkVersion(paths: Paths, version: string): Promise<void> {
  const found = await fs.readFile(path.join(paths.data, 'PG_VERSION'), 'utf8').catch(unlessMissing);
  if (found !== undefined && found.trim() !== version) throw otherVersion(paths.dataDir, found.trim(), version);
}

async function makeFifos(paths: Paths): Promise<void> {
  const fifos = [paths.users, paths.peers, paths.family, paths.starter];
  const missing = fifos.filter((file) => !existsSync(file));
  let failure: unknown;
  if (missing.length > 0 || !existsSync(paths.acks)) {
    const names = missing.map((file) => path.basename(file));
    const script = 'umask 077; mkdir -p acks; for name; do mkfifo "$name"; done';
    const owner = paths.runAs && { runAs: await fs.stat(paths.dir) };
    await runAs(owner ?? {}, 'sh', ['-c', script, 'sh', ...names], paths.dir).catch((error) => {
      if (codeOf(error) === 'EPERM' || codeOf(error) === 'EINVAL') throw notUnprivileged(error);
      failure = error; // none if they are there now: another process has made them meanwhile
    });
  }
  for (const fifo of fifos) {
    const found = await fs.lstat(fifo).catch((error) => {
      throw failure ?? error;
    });
    if (!found.isFIFO()) throw new Error(`${fifo} is in the way`);
  }
}

/**
 * A path to the working directory `dir` that works for Postgres. An unprivileged user may not get past its parents, such
 * as root's home: then it goes through the kernel's link to the working directory, which needs no parents.
 */
export function reachable(paths: Paths, dir: string): string {
  return paths.runAs && process.platform === 'linux' ? '/proc/self/cwd' : dir;
}

/**
 * The whole environment of the programs that we start: the environment of this process holds secrets that Postgres does not
 * need.
 */
export function plainEnvironment(): Record<string, string> {
  return { PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

/** Runs a program as the server's user, with `input` on its stdin, and returns its output; throws execFile's error. */
export async function runAs(
  { runAs: user }: { readonly runAs?: RunAs },
  program: string,
  args: readonly string[],
  cwd: string,
  input = '',
): Promise<{ stdout: string; stderr: string }> {
  const as = user && { uid: user.uid, gid: user.gid };
  const running = promisify(execFile)(program, [...args], { cwd, env: plainEnvironment(), ...as });
  running.child.stdin?.on('error', () => undefined).end(input); // a program that ends early reports that itself
  return running;
}
