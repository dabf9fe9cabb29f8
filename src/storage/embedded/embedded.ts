/**
 * The embedded Postgres of a data directory: a real one, reached over a Unix socket only, shared by every process that uses
 * the directory. The first process starts it and the last one stops it; however a process ends, it leaves nothing behind.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
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
  /** Starts Postgres again if it has ended; false if it runs. It has the same connection then. */
  revive(): Promise<boolean>;
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
/** Postgres' states while it is stopping, or not ready yet. */
const STOPPING = /^57P0[123]$/;
const SLOW_MS = 15_000;
const SLOW = 'the embedded Postgres is slow to start: it may be recovering from a crash; waiting for it';

/**
 * Starts the Postgres of `dataDir`, or joins the one that runs.
 * Throws a LockstepError EMBEDDED_… (exit code 2): see errors.ts.
 */
export async function startEmbedded({ dataDir, log }: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const enterAgain = () =>
    enterDirectory(dataDir, log).catch((error) => {
      throw error instanceof LockstepError ? error : notWritable(dataDir, error);
    });
  let { paths, connection, presence } = await enterAgain();
  log?.debug({ dataDir, host: connection.host }, 'using the embedded Postgres');
  let closing: Promise<void> | undefined;
  return {
    connection,
    async revive() {
      if (closing || isKept(paths)) return false;
      presence.leave();
      ({ paths, presence } = await enterAgain());
      if (closing) presence.leave();
      return true;
    },
    close: () => (closing ??= leave(paths, presence, log)),
  };
}

type Connection = EmbeddedPostgres['connection'];

async function enterDirectory(dataDir: string, log: Logger | undefined) {
  const binaries = await findPackage();
  const paths = await preparePaths(dataDir, binaries.major);
  return { paths, ...(await enter(paths, () => installBinaries(binaries, paths), log)) };
}

async function enter(
  paths: Paths,
  install: () => Promise<string>,
  log: Logger | undefined,
): Promise<{ connection: Connection; presence: Presence }> {
  const deadline = Date.now() + START_MS;
  let lastSign = Date.now();
  const warning = setTimeout(() => log?.warn({ dataDir: paths.dataDir }, SLOW), SLOW_MS);
  try {
    while (Date.now() < deadline) {
      const joined = await join(paths);
      const presence = joined ?? (await startUnlessStarting(paths, install));
      const connection = presence && (await connectionOrLeave(paths, presence, deadline));
      if (presence && connection) return { connection, presence };
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

/** How to connect, once Postgres takes connections. Undefined if it has ended instead; then this process does not use it. */
async function connectionOrLeave(paths: Paths, presence: Presence, deadline: number): Promise<Connection | undefined> {
  let connection: Connection | undefined;
  try {
    connection = await connectionOnceReady(paths, deadline);
    return connection;
  } finally {
    if (!connection) presence.leave();
  }
}

async function connectionOnceReady(paths: Paths, deadline: number): Promise<Connection | undefined> {
  while (Date.now() < deadline && isKept(paths)) {
    const postmaster = await readPostmaster(paths);
    if (postmaster?.isReady) {
      const host = postmaster.socketDir;
      const isHere = fs.existsSync(path.join(host, `.s.PGSQL.${PORT}`));
      if (!isHere && isKept(paths)) throw elsewhere(paths.dataDir, host);
      const password = await readPassword(paths);
      const connection = { host, port: PORT, user: ROLE, password, database: DATABASE, ssl: false } as const;
      if (isHere && (await isAnswering(connection, deadline))) return connection;
    }
    await sleep(POLL_MS);
  }
  return undefined;
}

/**
 * Whether a server answers a login. One that was killed, or is being stopped, may still accept the connection: then it resets
 * or refuses it. An answer that refuses this process for another reason is for the caller to report.
 */
async function isAnswering(connection: Connection, deadline: number): Promise<boolean> {
  const db = new pg.Client({ ...connection, connectionTimeoutMillis: Math.max(1, deadline - Date.now()) });
  db.on('error', () => undefined); // lost after it was opened: the next one fails as well
  try {
    await db.connect();
    return true;
  } catch (error) {
    return error instanceof pg.DatabaseError && !STOPPING.test(error.code ?? '');
  } finally {
    await db.end();
  }
}

async function leave(paths: Paths, presence: Presence, log: Logger | undefined): Promise<void> {
  const isLast = presence.leave();
  const deadline = Date.now() + STOP_MS;
  while (isLast && hasFamily(paths) && Date.now() < deadline) await sleep(POLL_MS);
  if (isLast && Date.now() >= deadline) log?.warn({ dataDir: paths.dataDir }, 'the embedded Postgres is slow to stop');
}
