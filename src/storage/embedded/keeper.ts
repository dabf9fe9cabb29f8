/** Starts the keeper of a data directory (keeper.sh), which runs its Postgres; stops a Postgres whose keeper was killed. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf } from '../../base/errors.ts';
import { ensureCluster, readPostmaster, removeStalePostmaster } from './cluster.ts';
import { notUnprivileged, startFailed } from './errors.ts';
import { type Paths, plainEnvironment, reachable } from './paths.ts';
import { greet, hasFamily, type Presence } from './presence.ts';
import { makeSocketDir } from './socket-dir.ts';

const { O_RDONLY, O_WRONLY, O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = fs.constants;

/** Every connection names the port; otherwise PGPORT would decide. */
export const PORT = 5432;

const FAMILY_POLL_MS = 20;
const POLLS_PER_SIGNAL = 25;
const POLITE_MS = 30_000;
const MAX_LOG_BYTES = 8 * 1024 * 1024;
const START_MARK = '-- started ';
const LAST_LINES = 8;

/** For a busy service of modest size on a machine shared with others. Durability stays as Postgres ships it: on. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '200',
  shared_buffers: '64MB',
  // Bounds the write-ahead log on the disk, which grows to this size whatever the work; Postgres' own default is 1 GB.
  max_wal_size: '192MB',
  min_wal_size: '64MB',
  // Reads mostly come from the system's cache: handing them to I/O workers costs more than it saves.
  io_method: 'sync',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Statements and the values in them stay out of the log: they are customers' data.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  // Parallel queries need more shared memory than a container's 64 MB /dev/shm has.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
};

/**
 * Starts the keeper of a data directory that has none, and joins it. Call it while holding the lock.
 * Throws EMBEDDED_START_FAILED, EMBEDDED_ROOT, EMBEDDED_DISK_FULL.
 */
export async function startKeeper(paths: Paths, binaries: string): Promise<Presence> {
  await clearFamily(paths);
  await ensureCluster(paths, binaries);
  await removeStalePostmaster(paths);
  const socketDir = await makeSocketDir(paths);
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const postgres = path.join(binaries, 'bin', 'postgres');
  const args = ['-D', reachable(paths, paths.data), '-k', socketDir, '-p', String(PORT), ...settings];
  const users = await spawnKeeper(paths, [socketDir, postgres, ...args]);
  const presence = await greet(paths, users);
  if (!presence) throw startFailed(paths.dataDir, 'Postgres ended at once', logTail(paths));
  return presence;
}

/** The last lines of Postgres' own log since its last start. */
export function logTail(paths: Paths): string {
  const lines = fs.existsSync(paths.log) ? fs.readFileSync(paths.log, 'utf8').trimEnd().split('\n') : [];
  const start = lines.findLastIndex((line) => line.startsWith(START_MARK));
  return lines
    .slice(start + 1)
    .slice(-LAST_LINES)
    .join('\n');
}

/**
 * Spawns the keeper and returns the write end of users.fifo. The read ends are opened here and inherited, so a keeper can be
 * seen from its first moment: if this process dies, the next holder of the lock sees it, or there is none.
 */
async function spawnKeeper(paths: Paths, command: readonly string[]): Promise<number> {
  const script = fs.readFileSync(new URL('./keeper.sh', import.meta.url), 'utf8');
  const log = openLog(paths);
  const users = openBothEnds(paths.users);
  const family = openBothEnds(paths.family);
  fs.closeSync(family.writeEnd);
  try {
    const keeper = spawn('sh', ['-c', script, 'keeper', ...command], {
      ...paths.runAs,
      cwd: paths.data,
      detached: true, // a process group of its own: Ctrl-C in the terminal is for us
      env: plainEnvironment(),
      stdio: ['ignore', log, log, users.readEnd, family.readEnd],
    });
    await spawned(keeper);
    keeper.unref();
    return users.writeEnd;
  } catch (error) {
    fs.closeSync(users.writeEnd);
    if (['EPERM', 'EINVAL'].includes(codeOf(error) ?? '')) throw notUnprivileged(error);
    throw error;
  } finally {
    for (const fd of [log, users.readEnd, family.readEnd]) fs.closeSync(fd);
  }
}

function spawned(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
}

/** Opening one end of a fifo waits for the other, so both are held open for a moment. */
function openBothEnds(fifo: string): { readEnd: number; writeEnd: number } {
  const both = fs.openSync(fifo, O_RDWR);
  const readEnd = fs.openSync(fifo, O_RDONLY);
  const writeEnd = fs.openSync(fifo, O_WRONLY);
  fs.closeSync(both);
  return { readEnd, writeEnd };
}

function openLog(paths: Paths): number {
  const size = fs.statSync(paths.log, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_LOG_BYTES) fs.renameSync(paths.log, `${paths.log}.1`);
  // Root writes into another user's directory here, and must not follow a link of that user.
  const log = fs.openSync(paths.log, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  if (paths.runAs) fs.fchownSync(log, paths.runAs.uid, paths.runAs.gid);
  fs.writeSync(log, `${START_MARK}${new Date().toISOString()} by process ${process.pid}\n`);
  return log;
}

/** Waits for a Postgres that is being stopped, and stops one whose keeper was killed. */
async function clearFamily(paths: Paths): Promise<void> {
  const startedAt = Date.now();
  for (let polls = 0; hasFamily(paths); polls += 1) {
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > 2 * POLITE_MS) throw startFailed(paths.dataDir, 'the last Postgres does not stop', logTail(paths));
    if (polls % POLLS_PER_SIGNAL === 0) await stopPostmaster(paths, waitedMs > POLITE_MS ? 'SIGQUIT' : 'SIGINT');
    await sleep(FAMILY_POLL_MS);
  }
}

async function stopPostmaster(paths: Paths, signal: NodeJS.Signals): Promise<void> {
  const postmaster = await readPostmaster(paths);
  if (!postmaster) return;
  try {
    // The process id of a killed postmaster can be reused; only our postmaster has our socket on its command line.
    if ((await commandLine(postmaster.pid)).includes(paths.id)) process.kill(postmaster.pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

/** Empty for a process that is not there. */
async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') return fs.promises.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const ps = promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]);
  return ps.then(
    ({ stdout }) => stdout,
    () => '',
  );
}
