/** A pool whose queries are spans. A span names the kind of statement and its tables, and has neither its text nor its values. */
import pg from 'pg';
import type { InSpan } from '../base/trace-span.ts';

type Query = (...args: readonly unknown[]) => unknown;

export function tracedPool(config: pg.PoolConfig, inSpan: InSpan): pg.Pool {
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
