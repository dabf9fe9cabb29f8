/** A pool of connections as every room expects it: bigint as a number, and no lost connection that ends the process. */
import type { Socket } from 'node:net';
import pg from 'pg';
import type { Logger } from 'pino';
import type { InSpan } from '../base/trace-span.ts';

const SESSION = {
  // Postgres' planner overestimates our statements, and compiling one of them costs a second.
  jit: 'off',
  // A host that is lost closes no connection. After half a minute without a sign of it, or a minute without a statement in a
  // transaction, Postgres ends its transactions, whose locks other hosts wait for.
  tcp_keepalives_idle: '10s',
  tcp_keepalives_interval: '5s',
  tcp_keepalives_count: '4',
  tcp_user_timeout: '30s',
  idle_in_transaction_session_timeout: '60s',
};
/** How soon a connection on which nothing arrives is tried: the database may be lost, too. */
const KEEP_ALIVE_MS = 10_000;

export interface PoolOptions extends pg.PoolConfig {
  /** Settings of Postgres for each connection. Not in `options`, which poolers refuse. */
  readonly session?: Readonly<Record<string, string>>;
}

/** Makes a pool; the caller ends it. Lost connections are logged, and the next query gets a new one. */
export function makePool({ session, ...connection }: PoolOptions, log?: Logger, inSpan?: InSpan): pg.Pool {
  const settings = Object.entries({ ...SESSION, ...session }).map(([name, value]) => `set ${name} = '${value}'`);
  const config = {
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    ...connection,
    onConnect: (db: pg.ClientBase) => db.query(settings.join('; ')),
    types: { getTypeParser },
  };
  const pool = inSpan ? tracedPool(config, inSpan) : new pg.Pool(config);
  const lost = (error: Error): void => {
    if (!pool.ending) log?.warn({ err: error }, 'lost a connection to the database');
  };
  pool.on('error', () => undefined); // the listener below has logged it
  // The pool listens to idle connections only; one lost between two statements of a transaction would end the process.
  pool.on('connect', (db) => db.on('error', lost));
  endLostConnections(pool, config, log);
  return pool;
}

const { INT8 } = pg.types.builtins;
/** The type of a list of INT8, which pg has no name for. */
const INT8_LIST = 1016;

/**
 * pg's parser for a type, except that an int8 becomes a number if a number can hold it: counts and ids are used as numbers.
 */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') => {
  const usual = pg.types.getTypeParser(oid, format as 'text'); // the overloads differ only in what the parser is given
  if (format === 'binary' || (oid !== INT8 && oid !== INT8_LIST)) return usual;
  return (text: string) => numbersIn(usual(text));
};

function numbersIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(numbersIn);
  const number = typeof value === 'string' ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) ? number : value;
}

type Query = (...args: readonly unknown[]) => unknown;

/** A pool whose queries are spans. A span names the kind of statement and its tables, and has neither its text nor its values. */
function tracedPool(config: pg.PoolConfig, inSpan: InSpan): pg.Pool {
  const traced =
    (query: Query): Query =>
    (...args) => {
      // A statement with a callback comes from the pool, whose own query is a span.
      const summary = typeof args.at(-1) === 'function' ? undefined : summaryOf(args[0]);
      if (summary === undefined) return query(...args);
      const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': summary };
      return inSpan(summary, attributes, async () => query(...args));
    };
  // Safe: `traced` passes on what it is given and returns what it gets.
  class TracedClient extends pg.Client {
    override query = traced(super.query.bind(this) as Query) as pg.Client['query'];
  }
  class TracedPool extends pg.Pool {
    override query = traced(super.query.bind(this) as Query) as pg.Pool['query'];
  }
  return new TracedPool({ ...config, Client: TracedClient });
}

const TABLE = /\bledger\.\w+/g;
const MOST_TABLES = 3;

/** The verb and the tables of a statement, such as `select ledger.runs`; undefined if it is no text. */
function summaryOf(statement: unknown): string | undefined {
  if (typeof statement !== 'string') return undefined;
  const verb = /\w+/.exec(statement)?.[0].toLowerCase() ?? 'statement';
  return [verb, ...[...new Set(statement.match(TABLE))].slice(0, MOST_TABLES)].join(' ');
}

const LOOK_MS = 10_000;
/** The server is asked about a connection that is in use for this long. */
const LONG_MS = 30_000;
const CONNECT_MS = 5_000;

/**
 * Ends connections whose server is gone, until the pool is ended. If a server is lost with its host, or a router forgets a
 * connection, nothing closes it, and the system waits a quarter of an hour for the answer to a statement.
 */
function endLostConnections(pool: pg.Pool, config: pg.PoolConfig, log?: Logger): void {
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
    if (ended > 0) log?.warn({ connections: ended }, 'closed connections that the database no longer has');
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
