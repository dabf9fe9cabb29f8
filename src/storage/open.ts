/** Opens the database that holds the ledger and the service: the embedded Postgres or one of the user's own. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { codeOf, LockstepError } from '../base/errors.ts';
import { type Repeated, repeat } from '../base/repeat.ts';
import type { InSpan } from '../base/trace-span.ts';
import { maskedUrl } from './address.ts';
import { type EmbeddedPostgres, startEmbedded } from './embedded/embedded.ts';
import { cannotOpen, poolerInTheWay } from './errors.ts';
import { makePool } from './pool.ts';

export interface DatabaseOptions {
  /** `embedded`, or `postgres://…`. */
  readonly url: string;
  /** Where the embedded Postgres keeps its data. */
  readonly dataDir: string;
  /** Of `pool`; default 10. */
  readonly maxConnections?: number;
  /** How Postgres names the connections; default: lockstep. */
  readonly applicationName?: string;
  readonly log?: Logger;
  /** Each query of the pool is done in a span. */
  readonly inSpan?: InSpan | undefined;
}

export interface Database {
  readonly pool: pg.Pool;
  /** For connections of their own: BullMQ's pool, a LISTEN client. Without our type parsers. */
  readonly connection: pg.PoolConfig;
  /** Which database this is, for messages; without the password. */
  readonly describe: string;
  /** Starts the embedded Postgres again whenever it has been killed, until closed: for processes that run for days. */
  keepRunning?(): void;
  /** Ends the pool, and the embedded Postgres if this was its last user. Idempotent. */
  close(): Promise<void>;
}

const CONNECT_MS = 30_000;
/** How long to wait for a server that says that it is starting up. */
const STARTING_UP_MS = 30_000;
const STARTING_UP = '57P03';
/** How often to look whether the embedded Postgres has ended. */
const REVIVE_MS = 1_000;

/**
 * Opens the database and ensures that it answers. Throws (exit code 2) EMBEDDED_…, DATABASE_URL_INVALID,
 * DATABASE_UNREACHABLE, DATABASE_LOGIN_REFUSED, DATABASE_MISSING, DATABASE_POOLER.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { server, embedded, describe } = await find(options);
  const connection: pg.PoolConfig = {
    application_name: options.applicationName ?? 'lockstep',
    connectionTimeoutMillis: CONNECT_MS,
    ...server,
  };
  const pool = makePool({ ...connection, max: options.maxConnections ?? 10 }, options.log, options.inSpan);
  let closing: Promise<void> | undefined;
  let watching: Repeated | undefined;
  const close = async (): Promise<void> => {
    await watching?.close();
    await pool.end();
    await embedded?.close();
  };
  const database: Database = {
    pool,
    connection,
    describe,
    keepRunning() {
      if (embedded) watching ??= keepRunning(embedded, describe, options.log);
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
  try {
    await untilAnswering(pool);
    if (!embedded && (await sharesSessions(pool, connection))) throw poolerInTheWay(describe);
    return database;
  } catch (error) {
    await database.close();
    if (error instanceof LockstepError) throw error;
    throw cannotOpen(error, describe, embedded && forgottenPassword(options.dataDir));
  }
}

/** Starts it again if it was killed, until closed. */
function keepRunning(embedded: EmbeddedPostgres, describe: string, log: Logger | undefined): Repeated {
  const look = async () => {
    if (await embedded.revive()) log?.warn(`${describe} had ended, and was started again`);
  };
  const failed = (error: unknown) => log?.error({ err: error }, `${describe} has ended, and does not start again`);
  return repeat(look, { pauseMs: () => REVIVE_MS, failed });
}

function forgottenPassword(dataDir: string): string {
  const file = path.join(dataDir, 'postgres', 'password');
  return `It refuses the password in ${file}: stop every process that uses ${dataDir}, remove that file and start again.`;
}

async function find({
  url,
  dataDir,
  log,
}: DatabaseOptions): Promise<{ server: pg.PoolConfig; embedded?: EmbeddedPostgres; describe: string }> {
  if (url !== 'embedded') {
    return { describe: `the Postgres ${maskedUrl(url)}`, server: { connectionString: url } };
  }
  const embedded = await startEmbedded({ dataDir, ...(log && { log }) });
  return { embedded, server: embedded.connection, describe: `the embedded Postgres of ${dataDir}` };
}

async function untilAnswering(pool: pg.Pool): Promise<void> {
  const deadline = Date.now() + STARTING_UP_MS;
  for (;;) {
    try {
      await pool.query('select 1');
      return;
    } catch (error) {
      if (codeOf(error) !== STARTING_UP || Date.now() > deadline) throw error;
      await sleep(250);
    }
  }
}

/**
 * Whether a pooler between us and Postgres gives the same session of Postgres to two connections: then a LISTEN, or a lock of a
 * session, of one of them is the other one's.
 */
async function sharesSessions(pool: pg.Pool, connection: pg.PoolConfig): Promise<boolean> {
  const own = 'select pg_backend_pid() as pid';
  const other = new pg.Client(connection);
  other.on('error', () => undefined); // the query fails as well
  const first = await pool.query(own); // the pool keeps this connection open
  try {
    await other.connect();
    const second = await other.query(own);
    return first.rows[0].pid === second.rows[0].pid;
  } finally {
    await other.end();
  }
}
