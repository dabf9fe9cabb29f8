/**
 * The only way from a request to the database: every statement is run with the tenant's id as its first parameter.
 *
 * A statement that forgets `$1` is refused by Postgres (it takes fewer parameters than it is given), so asking without a
 * tenant fails loudly instead of answering with everyone's records.
 */
import type pg from 'pg';
import { inTransaction } from '../../storage/transaction.ts';
import { batched } from './batches.ts';

/** A bigint as pg gives it: a number from our own pools (database/pool.ts), text from another's. */
export type SqlId = number | string;

export interface TenantDb {
  readonly tenantId: number;
  /** Rows of a statement whose `$1` is the tenant and whose `$2 …` are `values`; prepared once per connection. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** As `query`, but planned for these values: where they decide which plan is quick. */
  planned<Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[]): Promise<Row[]>;
  /**
   * Rows of one item of a statement that takes many: `$2` is a JSON array of items, and each row names its item's place
   * in a column `at`, from 1. Items that are asked for at the same time share a statement (batches.ts).
   */
  each<Row extends ItemRow>(sql: string, item: unknown): Promise<Row[]>;
  /** Runs `work` in one transaction; rolls back and throws what it threw. */
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

  const batches = new Map<string, (item: unknown) => Promise<ItemRow[]>>(); // bounded, as `names` below
  function batchesOf(sql: string): (item: unknown) => Promise<ItemRow[]> {
    const known = batches.get(sql);
    if (known !== undefined) return known;
    const made = batched(async (items: readonly unknown[]) => {
      const rows = await query<ItemRow>(sql, [JSON.stringify(items)]);
      const byItem = items.map((): ItemRow[] => []);
      for (const row of rows) byItem[Number(row.at) - 1]?.push(row);
      return byItem;
    });
    batches.set(sql, made);
    return made;
  }

  return {
    tenantId,
    query,
    planned,
    // as: the caller says what its statement gives, as for `query`.
    each: <Row extends ItemRow>(sql: string, item: unknown) => batchesOf(sql)(item) as Promise<Row[]>,
  };
}

const names = new Map<string, string>(); // bounded: the statements of this room, none made from a request

function statementName(sql: string): string {
  const known = names.get(sql);
  if (known !== undefined) return known;
  const name = `service_${names.size}`;
  names.set(sql, name);
  return name;
}
