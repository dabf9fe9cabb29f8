/** How many rows each statement of a run goes through, as Postgres explains it (auto_explain). */
import type pg from 'pg';
import { makePool } from '../../src/storage/pool.ts';
import type { FreshDatabase } from './database.ts';

export interface Work {
  readonly statement: string;
  /** The node of the plan that goes through most rows, such as "Nested Loop" or "Seq Scan on inputs". */
  readonly node: string;
  /** Rows that it returned or dropped, over all its loops. */
  readonly rows: number;
}

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly Node[];
}

/** With these settings Postgres explains every statement of a connection, in notices. */
export const EXPLAINED = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_format': 'json',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_level': 'notice',
} as const;

/** Explains and collects what the statements do on connections that are made from now on by pools of the database. */
export async function watchWork({
  pool,
  connection,
}: Pick<FreshDatabase, 'pool' | 'connection'>): Promise<{ take(): readonly Work[] }> {
  await explain({ pool, connection });
  return collect(pool);
}

async function explain({ pool, connection }: Pick<FreshDatabase, 'pool' | 'connection'>): Promise<void> {
  for (const [name, value] of Object.entries(EXPLAINED))
    await pool.query(`alter database ${connection.database} set ${name} = '${value}'`);
}

function collect(pool: pg.Pool): { take(): readonly Work[] } {
  let seen: Work[] = [];
  pool.on('connect', (db) =>
    db.on('notice', ({ message = '' }) => {
      const at = message.indexOf('plan:\n');
      if (at === -1) return;
      const explained = JSON.parse(message.slice(at + 6)) as { 'Query Text': string; Plan: Node }; // safe: the format of auto_explain
      seen.push({ statement: explained['Query Text'].replace(/\s+/g, ' '), ...busiest(explained.Plan) });
    }),
  );
  return {
    take() {
      const taken = seen;
      seen = [];
      return taken;
    },
  };
}

function busiest(node: Node): Omit<Work, 'statement'> {
  const through =
    (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  const relation = node['Relation Name'] === undefined ? '' : ` on ${node['Relation Name']}`;
  const own = { node: node['Node Type'] + relation, rows: through * (node['Actual Loops'] ?? 1) };
  return [own, ...(node.Plans ?? []).map(busiest)].reduce((most, one) => (one.rows > most.rows ? one : most));
}

/** The most rows that one node of a plan goes through, of all statements that `work` sends. */
export async function mostRows(database: FreshDatabase, work: (pool: pg.Pool) => Promise<void>): Promise<number> {
  await explain(database);
  const pool = makePool(database.connection); // a connection made before would explain nothing
  try {
    const collected = collect(pool);
    await work(pool);
    const seen = collected.take();
    if (seen.length === 0) throw new Error('no statement was explained');
    return Math.max(...seen.map(({ rows }) => rows));
  } finally {
    await pool.end();
  }
}
