/**
 * Ends connections whose server is gone. If a server is lost with its host, or a router forgets a connection, nothing closes
 * it, and the system waits a quarter of an hour for the answer to a statement.
 */
import type { Socket } from 'node:net';
import pg from 'pg';
import type { Logger } from 'pino';

const LOOK_MS = 10_000;
/** The server is asked about a connection that is in use for this long. */
const LONG_MS = 30_000;
const CONNECT_MS = 5_000;

/** Looks at the pool until it is ended. */
export function endLostConnections(pool: pg.Pool, config: pg.PoolConfig, log?: Logger): void {
  const busySince = new Map<pg.PoolClient, number>();
  pool.on('acquire', (db) => busySince.set(db, performance.now()));
  pool.on('release', (_, db) => busySince.delete(db));
  pool.on('remove', (db) => busySince.delete(db));
  const looking = setInterval(async () => {
    if (pool.ending) return clearInterval(looking);
    const longAgo = performance.now() - LONG_MS;
    // One that only listens has no statement.
    const long = [...busySince].flatMap(([db, since]) => (since < longAgo && !inside(db).readyForQuery ? [db] : []));
    const ended = long.length === 0 ? 0 : await endLost(long, config).catch(() => 0); // the server is still away
    if (ended > 0)
      log?.warn({ connections: ended }, 'ended connections to the database that it does not know any more');
  }, LOOK_MS).unref();
}

/** Ends those of the connections that the server does not know. Returns how many. @throws what connecting throws */
export async function endLost(connections: readonly pg.PoolClient[], config: pg.PoolConfig): Promise<number> {
  const asking = new pg.Client({ ...config, connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS });
  asking.on('error', () => undefined); // the query fails as well
  try {
    await asking.connect();
    const { rows } = await asking.query<{ pid: number; own: number }>(
      'select pid, pg_backend_pid() as own from pg_stat_activity',
    );
    // A pooler gives connections numbers of its own: then nothing is known of them.
    if (rows[0]?.own !== inside(asking).processID) return 0;
    const known = new Set(rows.map(({ pid }) => pid));
    const lost = connections.map(inside).filter(({ processID }) => !known.has(processID));
    for (const { connection } of lost) connection.stream.destroy();
    return lost.length;
  } finally {
    // Not `end` alone, which waits for the server.
    await Promise.race([asking.end(), new Promise((resolve) => setTimeout(resolve, CONNECT_MS).unref())]);
  }
}

/** What pg has without a type. `processID`: of its process in Postgres. `stream`: pg ends it only by asking the server. */
interface Inside {
  readonly processID: number;
  readonly readyForQuery: boolean;
  readonly connection: { readonly stream: Socket };
}

const inside = (db: pg.ClientBase) => db as unknown as Inside;
