/**
 * The only access of a request to the database: every statement has the tenant's id as its first parameter.
 *
 * A statement that forgets `$1` is refused by Postgres (it takes fewer parameters than it is given), so a query without
 * a tenant fails instead of returning the records of all tenants.
 */
import type pg from 'pg';
import { perKey } from '../../base/per-key.ts';
import { inTransaction } from '../../storage/transaction.ts';
import { batched } from './batches.ts';

/** A bigint as pg returns it: a number from our own pools (src/storage/pool.ts), text from other pools. */
export type SqlId = number | string;

export interface TenantDb {
  readonly tenantId: number;
  /** Rows of a statement whose `$1` is the tenant and whose `$2 …` are `values`; prepared once per connection. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Like `query`, but planned for these values. Use it if the values decide which plan is fast. */
  planned<Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[]): Promise<Row[]>;
  /**
   * The rows of one item of a statement for many items: `$2` is a JSON array of items, and each row has the position of
   * its item in the column `at`, from 1. Concurrent items share a statement (batches.ts).
   */
  each<Row extends ItemRow>(sql: string, item: unknown): Promise<Row[]>;
  /** Runs `work` in one transaction. If it throws, rolls back and throws the same error. */
  transaction<T>(work: (db: TenantDb) => Promise<T>): Promise<T>;
}

export interface ItemRow extends pg.QueryResultRow {
  readonly at: SqlId;
}

export function tenantDb(pool: pg.Pool, tenantId: number): TenantDb {
  return {
    ...statements(pool, tenantId),
    transaction: (work) =>
      inTransaction(pool, (connection) => {
        const inside: TenantDb = { ...statements(connection, tenantId), transaction: (inner) => inner(inside) };
        return work(inside);
      }),
  };
}

function statements(connection: pg.Pool | pg.PoolClient, tenantId: number): Omit<TenantDb, 'transaction'> {
  async function query<Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    const result = await connection.query<Row>({ name: statementName(sql), text: sql, values: [tenantId, ...values] });
    return result.rows;
  }

  async function planned<Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[]): Promise<Row[]> {
    const result = await connection.query<Row>(sql, [tenantId, ...values]); // without a name: it is not prepared
    return result.rows;
  }

  // Bounded, as `statementName` below.
  const batchesOf = perKey((sql: string) =>
    batched(async (items: readonly unknown[]) => {
      const rows = await query<ItemRow>(sql, [JSON.stringify(items)]);
      const byItem = items.map((): ItemRow[] => []);
      for (const row of rows) byItem[Number(row.at) - 1]?.push(row);
      return byItem;
    }),
  );

  return {
    tenantId,
    query,
    planned,
    // as: the caller knows the columns of its statement, as for `query`.
    each: <Row extends ItemRow>(sql: string, item: unknown) => batchesOf(sql)(item) as Promise<Row[]>,
  };
}

let named = 0;
/** Bounded: only the statements of this room, none of which is made from a request. */
const statementName = perKey((_sql: string) => `service_${named++}`);
