/**
 * The embedded Postgres of a data directory: a real one, reached over a Unix socket only, shared by every process that uses
 * the directory. The first process starts it and the last one stops it; however a process ends, it leaves nothing behind.
 */
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { LockstepError } from '../../base/errors.ts';
import { DATABASE, ROLE, readPassword } from './access.ts';
import { findPackage, installBinaries } from './binaries.ts';
import { readPostmaster } from './cluster.ts';
import { elsewhere, lockTaken, notWritable, startFailed } from './errors.ts';
import { logTail, PORT, startKeeper } from './keeper.ts';
import { lockName, tryLock } from './lock.ts';
import { type Paths, preparePaths } from './paths.ts';
import { hasFamily, isKept, isStarting, join, type Presence } from './presence.ts';

export interface EmbeddedPostgres {
  /** For `pg`; everything is given, so that no PG… variable of the environment can redirect it. */
  readonly connection: {
    /** The socket's directory. */
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly password: string;
    readonly database: string;
    readonly ssl: false;
  };
  /** Ends the use; the last user waits until Postgres has stopped. Idempotent. */
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Everything is kept below it; created if missing. */
  readonly dataDir: string;
  readonly log?: Logger;
}

const POLL_MS = 10;
/** Recovery after a crash reads back at most what `max_wal_size` (keeper.ts) leaves on the disk. */
const START_MS = 120_000;
/** A starter does almost nothing between taking the lock and announcing itself. */
const SHOWS_ITSELF_MS = 3_000;
const STOP_MS = 30_000;
const SLOW_MS = 15_000;
const SLOW = 'the embedded Postgres is slow to start: it may be recovering from a crash; waiting for it';

/**
 * Starts the Postgres of `dataDir`, or joins the one that runs.
 * Throws a LockstepError EMBEDDED_… (exit code 2): see errors.ts.
 */
export async function startEmbedded({ dataDir, log }: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { paths, host, password, presence } = await enterDirectory(dataDir, log).catch((error) => {
    throw error instanceof LockstepError ? error : notWritable(dataDir, error);
  });
  log?.debug({ dataDir, host }, 'using the embedded Postgres');
  let closing: Promise<void> | undefined;
  return {
    connection: { host, port: PORT, user: ROLE, password, database: DATABASE, ssl: false },
    close: () => (closing ??= leave(paths, presence, log)),
  };
}

interface Entered {
  readonly paths: Paths;
  readonly host: string;
  readonly password: string;
  readonly presence: Presence;
}

async function enterDirectory(dataDir: string, log: Logger | undefined): Promise<Entered> {
  const binaries = await findPackage();
  const paths = await preparePaths(dataDir, binaries.major);
  const { host, presence } = await enter(paths, () => installBinaries(binaries, paths), log);
  try {
    return { paths, host, presence, password: await readPassword(paths) };
  } catch (error) {
    presence.leave();
    throw error;
  }
}

async function enter(
  paths: Paths,
  install: () => Promise<string>,
  log: Logger | undefined,
): Promise<{ host: string; presence: Presence }> {
  const deadline = Date.now() + START_MS;
  let lastSign = Date.now();
  const warning = setTimeout(() => log?.warn({ dataDir: paths.dataDir }, SLOW), SLOW_MS);
  try {
    while (Date.now() < deadline) {
      const joined = await join(paths);
      const presence = joined ?? (await startUnlessStarting(paths, install));
      const host = presence && (await socketDirOrLeave(paths, presence, deadline));
      if (presence && host !== undefined) return { host, presence };
      if (presence && !joined) throw startFailed(paths.dataDir, 'Postgres ended while starting', logTail(paths));
      if (presence || isStarting(paths) || isKept(paths)) lastSign = Date.now();
      if (Date.now() - lastSign > SHOWS_ITSELF_MS) throw lockTaken(paths.dataDir, lockName(paths));
      await sleep(POLL_MS);
    }
  } finally {
    clearTimeout(warning);
  }
  throw startFailed(paths.dataDir, `it is not ready after ${START_MS / 1000} seconds`, logTail(paths));
}

/** Undefined if another process is starting it, or has started it meanwhile. */
async function startUnlessStarting(paths: Paths, install: () => Promise<string>): Promise<Presence | undefined> {
  const lock = await tryLock(paths);
  try {
    return lock && !isKept(paths) ? await startKeeper(paths, await install()) : undefined;
  } finally {
    lock?.release();
  }
}

/**
 * The socket's directory once Postgres takes connections. Undefined if it has ended instead; then this process does not use
 * it.
 */
async function socketDirOrLeave(paths: Paths, presence: Presence, deadline: number): Promise<string | undefined> {
  let host: string | undefined;
  try {
    host = await socketDirOnceReady(paths, deadline);
    return host;
  } finally {
    if (host === undefined) presence.leave();
  }
}

async function socketDirOnceReady(paths: Paths, deadline: number): Promise<string | undefined> {
  while (Date.now() < deadline && isKept(paths)) {
    const postmaster = await readPostmaster(paths);
    if (postmaster?.isReady) {
      const socket = path.join(postmaster.socketDir, `.s.PGSQL.${PORT}`);
      const isHere = fs.existsSync(socket);
      if (!isHere && isKept(paths)) throw elsewhere(paths.dataDir, postmaster.socketDir);
      // Without an answer it has just been killed, and its lock file is out of date.
      if (isHere && (await answers(socket))) return postmaster.socketDir;
    }
    await sleep(POLL_MS);
  }
  return undefined;
}

function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = net.connect(socket);
    const done = (isAnswering: boolean): void => {
      connection.destroy();
      resolve(isAnswering);
    };
    connection.once('connect', () => done(true));
    connection.once('error', () => done(false));
  });
}

async function leave(paths: Paths, presence: Presence, log: Logger | undefined): Promise<void> {
  const isLast = presence.leave();
  const deadline = Date.now() + STOP_MS;
  while (isLast && hasFamily(paths) && Date.now() < deadline) await sleep(POLL_MS);
  if (isLast && Date.now() >= deadline) log?.warn({ dataDir: paths.dataDir }, 'the embedded Postgres is slow to stop');
}
