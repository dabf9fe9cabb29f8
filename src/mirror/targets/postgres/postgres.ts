/**
 * A table of a Postgres, for other programs to join on: one row per task with its present state, or one row per version of a
 * task. Rows are never deleted; the row of a task that is gone says so. A state older than the stored one changes nothing,
 * whichever process sends it; a stored version is never changed.
 *
 * The address is not checked like the addresses of webhooks: an operator writes it into the settings to name their own
 * database, which is usually in a private network, and no one else can change the name.
 */
import type pg from 'pg';
import { codeOf } from '../../../base/errors.ts';
import type { Delivery, DeliveryOutcome, Target } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import { maskedUrl } from '../../../storage/address.ts';
import { makePool } from '../../../storage/pool.ts';
import { openedAt } from '../calls/opened-at.ts';
import { secretUnread } from '../calls/secret-unread.ts';
import { unlessAborted } from '../calls/unless-aborted.ts';
import { failedCheck } from '../findings.ts';
import type { TargetNeeds } from '../items/item-calls.ts';
import { checkTable, missingIn } from './postgres-check.ts';
import { postgresFailure, TABLE_MISSING } from './postgres-outcome.ts';
import { rowOf, type TaskRow, type TaskTable, taskTable } from './postgres-table.ts';

interface Upserted {
  readonly written: number;
  readonly sequence: string | null;
}

/** Another process has created the table, or a part of it, at the same moment. */
const CREATED_MEANWHILE: ReadonlySet<string | undefined> = new Set(['23505', '42P07', '42710']);

export function openPostgres(settings: SettingsOf<'postgres'>, needs: Pick<TargetNeeds, 'readSecret'>): Target {
  const table = taskTable(settings.table, settings);
  const pools = createPools(settings);

  return {
    async deliver(delivery, { signal }) {
      const url = await readUrl(settings, needs.readSecret);
      if (typeof url !== 'string') return url;
      const row = rowOf(table, delivery);
      try {
        // An aborted statement continues on the server: its sequence prevents it from undoing a newer state.
        const { written, sequence } = await unlessAborted(signal, () => write(pools.at(url), table, row, settings));
        return written === 0 ? unwritten(delivery, table, sequence) : delivered(delivery, table, row);
      } catch (error) {
        if (signal.aborted)
          return { status: 'later', reason: 'ABORTED', detail: 'Postgres: interrupted by a shutdown' };
        return postgresFailure(error, table, {
          url: settings.url.where,
          missing: await missingIn(pools.at(url), table, error),
        });
      }
    },
    async check({ signal }) {
      const url = await readUrl(settings, needs.readSecret);
      if (typeof url !== 'string') return [failedCheck('address', url, '')];
      try {
        return await unlessAborted(signal, () =>
          checkTable(pools.at(url), table, { createTable: settings.createTable, url: settings.url.where }),
        );
      } catch (error) {
        return [failedCheck('database', postgresFailure(error, table, { url: settings.url.where, missing: [] }), '')];
      }
    },
    close: () => pools.close(),
  };
}

/** A URL that cannot be used may be fixed while the delivery waits. */
async function readUrl({ url: ref }: SettingsOf<'postgres'>, readSecret: TargetNeeds['readSecret']) {
  const url = await readSecret(ref).catch(secretUnread);
  if (typeof url !== 'string') return url;
  try {
    maskedUrl(url);
    return url;
  } catch (error) {
    const detail = `${ref.where} is not of the form postgres://user:password@host:5432/database; characters such as #, / and @ in the password have to be percent-encoded`;
    return { ...secretUnread(error), reason: 'URL_INVALID', detail };
  }
}

async function write(
  pool: pg.Pool,
  table: TaskTable,
  row: TaskRow,
  { createTable }: SettingsOf<'postgres'>,
): Promise<Upserted> {
  try {
    return await upsert(pool, table, row);
  } catch (error) {
    // Not earlier: `create table if not exists` needs the permission to create even if the table exists.
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
  if (row.written > 0 || row.sequence !== null) return row;
  const keyLength = table.key.split(', ').length;
  // A statement does not see the row that another process, or a trigger, has written meanwhile.
  const stored = await pool.query<Pick<Upserted, 'sequence'>>(table.findStored, values.slice(0, keyLength));
  return { written: 0, sequence: stored.rows[0]?.sequence ?? null };
}

function delivered({ sequence }: Delivery, { name }: TaskTable, { unreadable }: TaskRow): DeliveryOutcome {
  const dates = unreadable.map((text) => JSON.stringify(text.slice(0, 40))).join(' and ');
  const note = dates === '' ? '' : `; ${dates} is not a valid date and is stored as null`;
  return { status: 'delivered', detail: `${name}: state ${sequence}${note}` };
}

function unwritten({ sequence }: Delivery, { name }: TaskTable, stored: string | null): DeliveryOutcome {
  if (stored !== null) {
    return { status: 'already', detail: `${name} already has state ${stored}, and this is state ${sequence}` };
  }
  const detail = `Postgres: ${name} did not keep the row: look for a trigger, a rule or a policy of the table that discards it`;
  return { status: 'refused', reason: 'REJECTED', detail };
}

function createPools({ timeoutMs, concurrency }: SettingsOf<'postgres'>) {
  const how = {
    application_name: 'lockstep',
    max: concurrency,
    connectionTimeoutMillis: timeoutMs,
    // Not statement_timeout: poolers such as PgBouncer refuse connections that set it.
    query_timeout: timeoutMs,
    keepAlive: true,
  };
  return openedAt(
    (connectionString) => makePool({ connectionString, ...how }),
    (pool) => pool.end(),
  );
}
