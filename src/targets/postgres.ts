/**
 * A table of a Postgres with one row a task: its present state, for others to join on. Rows are never deleted; that of a
 * task that is gone says so. A state older than the one that is there changes nothing, whoever brings it and when.
 *
 * The address is not guarded as those of webhooks are: whoever writes the settings names a database of theirs, which is
 * private as a rule, and nobody else can change the name.
 */
import type pg from 'pg';
import { maskedUrl } from '../database/address.ts';
import { makePool } from '../database/pool.ts';
import { codeOf } from '../errors.ts';
import type { PostgresTarget } from '../settings/targets/postgres.ts';
import { secretUnread, type TargetNeeds } from './item-calls.ts';
import { postgresFailure, TABLE_MISSING } from './postgres-outcome.ts';
import { rowOf, type TaskRow, type TaskTable, taskTable } from './postgres-table.ts';
import type { Delivery, DeliveryOutcome, Target } from './target.ts';
import { unlessAborted } from './unless-aborted.ts';

interface Upserted {
  readonly written: number;
  readonly sequence: string | null;
}

/** Somebody else has created the table, or a part of it, at the same moment. */
const CREATED_MEANWHILE: ReadonlySet<string | undefined> = new Set(['23505', '42P07', '42710']);

export function openPostgres(settings: PostgresTarget, needs: Pick<TargetNeeds, 'readSecret'>): Target {
  const table = taskTable(settings.table);
  const pools = createPools(settings);

  return {
    async deliver(delivery, { signal }) {
      const url = await readUrl(settings, needs.readSecret);
      if (typeof url !== 'string') return url;
      const row = rowOf(delivery);
      try {
        // Broken off, a statement goes on where it is: its sequence keeps it from undoing a newer state.
        const { written, sequence } = await unlessAborted(signal, () => write(pools.at(url), table, row, settings));
        return written === 0 ? already(delivery, table, sequence) : delivered(delivery, table, row);
      } catch (error) {
        if (signal.aborted) return { status: 'later', reason: 'ABORTED', detail: 'Postgres: broken off by a shutdown' };
        return postgresFailure(error, table, settings.url.where);
      }
    },
    close: () => pools.close(),
  };
}

/** A URL that cannot be used may be fixed while the delivery waits. */
async function readUrl({ url: ref }: PostgresTarget, readSecret: TargetNeeds['readSecret']) {
  const url = await readSecret(ref).catch(secretUnread);
  if (typeof url !== 'string') return url;
  try {
    maskedUrl(url);
    return url;
  } catch (error) {
    const detail = `${ref.where} is no postgres://user:password@host:5432/database; characters such as #, / and @ in the password have to be percent-encoded`;
    return { ...secretUnread(error), reason: 'URL_INVALID', detail };
  }
}

async function write(
  pool: pg.Pool,
  table: TaskTable,
  row: TaskRow,
  { createTable }: PostgresTarget,
): Promise<Upserted> {
  try {
    return await upsert(pool, table, row);
  } catch (error) {
    // Not before: `create table if not exists` needs the right to create, though the table is there.
    if (!createTable || codeOf(error) !== TABLE_MISSING) throw error;
    await pool.query(table.create).catch((cause: unknown) => {
      if (!CREATED_MEANWHILE.has(codeOf(cause))) throw cause;
    });
    return upsert(pool, table, row);
  }
}

async function upsert(pool: pg.Pool, table: TaskTable, { values }: TaskRow): Promise<Upserted> {
  const { rows } = await pool.query<Upserted>(table.upsert, [...values]);
  const [row] = rows;
  if (row === undefined) throw new TypeError('a select without a from answers one row');
  return row;
}

function delivered({ sequence }: Delivery, { name }: TaskTable, { unreadable }: TaskRow): DeliveryOutcome {
  const dates = unreadable.map((text) => JSON.stringify(text.slice(0, 40))).join(' and ');
  const note = dates === '' ? '' : `; ${dates} cannot be read as a date and is null there`;
  return { status: 'delivered', detail: `${name}: state ${sequence}${note}` };
}

function already({ sequence }: Delivery, { name }: TaskTable, there: string | null): DeliveryOutcome {
  // Null: somebody else puts it there at this moment.
  const found = there === null ? 'a newer state' : `state ${there}`;
  return { status: 'already', detail: `${name} has ${found} of it, and this is ${sequence}` };
}

interface Pools {
  /** Opened at first use, and again where the address has changed. */
  at(url: string): pg.Pool;
  close(): Promise<void>;
}

function createPools({ timeoutMs, concurrency }: PostgresTarget): Pools {
  const closing: Promise<void>[] = [];
  let current: { readonly url: string; readonly pool: pg.Pool } | undefined;

  function retire(): void {
    if (current) closing.push(current.pool.end());
    current = undefined;
  }

  return {
    at(url) {
      if (current?.url !== url) {
        retire();
        const pool = makePool({
          connectionString: url,
          application_name: 'lockstep',
          max: concurrency,
          connectionTimeoutMillis: timeoutMs,
          // Not statement_timeout: poolers such as PgBouncer refuse connections that set it.
          query_timeout: timeoutMs,
          keepAlive: true,
        });
        current = { url, pool };
      }
      return current.pool;
    },
    async close() {
      retire();
      await Promise.all(closing);
    },
  };
}
