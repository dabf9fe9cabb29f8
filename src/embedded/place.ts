/**
 * The place of one embedded Postgres inside a data directory, and the user it runs as.
 *
 *   DATA_DIR/postgres/
 *     data/        Postgres' own data directory
 *     log          Postgres' own log
 *     users.fifo   every process that uses it holds the write end, its keeper the read end
 *     peers.fifo   every process that uses it holds the read end
 *     family.fifo  the keeper and every Postgres process hold the read end
 *     acks/        the keeper's answers to newcomers
 *
 * The fifos carry who is alive: the kernel closes a process's ends however it dies, so there is nothing stale to find,
 * no process id to be reused, and it holds between users and containers too.
 */
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from '../errors.ts';
import { makeDirectory } from '../make-directory.ts';
import { notUnprivileged, otherVersion } from './errors.ts';

/** A user and group to run a program as. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

export interface Place {
  /** As the user named it, for messages. */
  readonly dataDir: string;
  readonly dir: string;
  readonly data: string;
  readonly log: string;
  readonly users: string;
  readonly peers: string;
  readonly family: string;
  readonly acks: string;
  /** Names the directory, whatever path leads to it: its inode, which a running Postgres keeps from being given again. */
  readonly id: string;
  /** Set when this process is root, which Postgres refuses to run as. */
  readonly runAs?: RunAs;
}

const NOBODY: RunAs = { uid: 65534, gid: 65534 };

/** Makes the place if it is not there yet. Throws EMBEDDED_OTHER_VERSION, EMBEDDED_ROOT and the file system's errors. */
export async function preparePlace(dataDir: string, version: string): Promise<Place> {
  const dir = path.join(path.resolve(dataDir), 'postgres');
  await makeDirectory(dir, { mode: 0o700 });
  const runAs = process.geteuid?.() === 0 ? await ownerOrNobody(dir) : undefined;
  const { dev, ino } = await fs.stat(dir);
  const inside = (name: string): string => path.join(dir, name);
  const place: Place = {
    dataDir,
    dir,
    data: inside('data'),
    log: inside('log'),
    users: inside('users.fifo'),
    peers: inside('peers.fifo'),
    family: inside('family.fifo'),
    acks: inside('acks'),
    id: `${dev.toString(36)}-${ino.toString(36)}`,
    ...(runAs && { runAs }),
  };
  await checkVersion(place, version);
  await makeFifos(place);
  return place;
}

/** Root runs Postgres as the owner of the data directory, so that this owner can use it too, or as nobody. */
async function ownerOrNobody(dir: string): Promise<RunAs> {
  const own = await fs.stat(dir);
  if (own.uid !== 0) return own;
  const parent = await fs.stat(path.dirname(dir));
  const runAs = parent.uid === 0 ? NOBODY : { uid: parent.uid, gid: parent.gid };
  await fs.lchown(dir, runAs.uid, runAs.gid).catch((error) => {
    throw ['EPERM', 'EINVAL'].includes(codeOf(error) ?? '') ? notUnprivileged(error) : error;
  });
  return runAs;
}

async function checkVersion(place: Place, version: string): Promise<void> {
  const found = await fs.readFile(path.join(place.data, 'PG_VERSION'), 'utf8').catch((error) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (found !== undefined && found.trim() !== version) throw otherVersion(place.dataDir, found.trim(), version);
}

async function makeFifos(place: Place): Promise<void> {
  const fifos = [place.users, place.peers, place.family];
  const missing = await absent(fifos);
  let failure: unknown;
  if (missing.length > 0 || (await absent([place.acks])).length > 0) {
    const names = missing.map((file) => path.basename(file));
    const script = 'umask 077; mkdir -p acks; for name; do mkfifo "$name"; done';
    await runAs(place, 'sh', ['-c', script, 'sh', ...names], place.dir).catch((error) => {
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

async function absent(files: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    files.map((file) =>
      fs.stat(file).then(
        () => true,
        () => false,
      ),
    ),
  );
  return files.filter((_, index) => !found[index]);
}

/** The whole environment of what we start: a parent's environment holds secrets that are none of Postgres' business. */
export function plainEnvironment(): Record<string, string> {
  return { PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

/** Runs a program as the user of the place and gives its output; throws execFile's error. */
export async function runAs(
  place: Pick<Place, 'runAs'>,
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(program, [...args], { cwd, env: plainEnvironment(), ...place.runAs });
}
