/** A pool of connections as every room expects it: bigint as a number, and no lost connection that ends the process. */
import pg from 'pg';
import type { Logger } from 'pino';
import type { InSpan } from '../base/trace-span.ts';
import { endLostConnections } from './lost-connections.ts';
import { tracedPool } from './traced-pool.ts';

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
